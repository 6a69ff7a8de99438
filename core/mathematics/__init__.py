"""Arrays in, arrays out; no model, no file, no word on a screen."""
