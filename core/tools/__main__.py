"""The command line of the tools: python -m core.tools <tool>."""

import sys

from core.commands.command_line import main

sys.exit(main(room="core.tools"))
