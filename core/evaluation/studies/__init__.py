"""Studies: one question asked of every example of a sample, one a file, and what the answers come to."""
