"""How far an attribution moves by what should not matter: another seed, more samples or steps, another reading."""
