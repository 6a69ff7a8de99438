"""The command line: python -m core <command>."""

import sys

from core.commands.command_line import main

sys.exit(main())
