"""Importance measures over any masking oracle, one a file; each registers itself."""
