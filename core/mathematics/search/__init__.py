"""Searches over orders of masking: beams, the lattice of all sets, and the limits they find."""
