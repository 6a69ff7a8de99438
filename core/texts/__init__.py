"""The words of results: one template an outcome, and the one renderer for pages, saved pages, terminals and files."""
