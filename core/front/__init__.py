"""The front door: what notebooks and scripts ask; `core` itself exports it."""
