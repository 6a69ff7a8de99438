"""Importance measures, one a file, and their register."""
