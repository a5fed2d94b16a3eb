"""`python -m pytest_fcall.cli` is `fcall`."""

import sys

from pytest_fcall.cli import main

sys.exit(main())
