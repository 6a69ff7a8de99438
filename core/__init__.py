"""Faithscope's library: everything that the pages show is computed here. Its rooms stand in core/README.md."""
