"""From a name to a loaded model, and what works with it."""
