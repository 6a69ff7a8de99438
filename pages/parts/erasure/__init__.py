"""Parts of the page Hard and soft erasure."""
