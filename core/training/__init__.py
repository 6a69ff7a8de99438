"""Making a model that can be masked."""
