"""Searches over orders of masking: beams, insertions, the lattice of all sets, and the limits they find."""
