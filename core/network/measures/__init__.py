"""Importance measures that need gradients or attention, one a file; each registers itself."""
