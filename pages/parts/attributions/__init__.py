"""Parts of the page Attributions."""
