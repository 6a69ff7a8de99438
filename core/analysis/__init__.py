"""Error analysis: ready-made queries over examples, and notes on them that people exchange."""
