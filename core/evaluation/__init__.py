"""The same over many examples: samples, the engine, its studies and what they come to."""
