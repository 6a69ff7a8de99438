"""The command line: python -m core <command>."""

import sys

try:
    from core.commands.command_line import main

    status = main()
except KeyboardInterrupt:
    # While it was still reading its own files.
    print("\nStopped before anything was done; the same command starts over.", file=sys.stderr)
    status = 130
sys.exit(status)
