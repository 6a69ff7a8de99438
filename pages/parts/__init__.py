"""What pages are made of; no formula and no model call."""
