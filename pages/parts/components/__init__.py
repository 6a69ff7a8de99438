"""What is drawn in the browser; text only as data."""
