"""ROAR: texts masked by what a measure ranks first, models trained again on them, and what these lose."""
