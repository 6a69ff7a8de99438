"""Floor 0: mathematics over arrays and over any masking oracle; knows no model and no file."""
