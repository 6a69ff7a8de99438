"""python -m core.tools …: what developers and owners of a machine need beside the commands, one file each."""
