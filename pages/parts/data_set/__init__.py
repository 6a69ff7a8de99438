"""Parts of the page Data set."""
