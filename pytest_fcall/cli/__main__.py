"""`python -m pytest_fcall.cli` runs `fcall`."""

import sys

from pytest_fcall.cli import main

sys.exit(main())
