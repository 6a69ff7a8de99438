"""Parts of the page Recursive masking."""
