"""What pages share: the sidebar, the words, wording; no page of its own."""
