"""Attacks: small edits of a text that change what a model predicts, one attack a file, and their register."""
