"""Verdicts of measures on one example: whether an order is better than chance, and why measures part."""
