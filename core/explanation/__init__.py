"""Everything about one example."""
