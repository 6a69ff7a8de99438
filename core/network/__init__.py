"""A classifier in memory, and the text as it reads it."""
