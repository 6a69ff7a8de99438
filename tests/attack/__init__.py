"""Attacks on everything at once: kills, damage, hostile inputs and many sessions, one command with a size and a seed."""
