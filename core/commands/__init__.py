"""python -m core …, one file a command: parse, call, print."""
