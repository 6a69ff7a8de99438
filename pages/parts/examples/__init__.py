"""Parts of the page Examples."""
