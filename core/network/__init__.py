"""Floor 1: models, the masking oracle, measures that need a model's inside, data files and the store."""
