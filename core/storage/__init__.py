"""What is kept on disk: results by content, what a person added, files of the hub."""
