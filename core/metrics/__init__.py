"""Faithfulness metrics, one a file, and their register."""
