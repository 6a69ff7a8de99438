"""Parts of the page Model check."""
