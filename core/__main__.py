"""The command line: python -m core <command>."""

import sys

from core.composition.command_line import main

sys.exit(main())
