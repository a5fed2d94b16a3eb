"""Modules that runs inside tests need, and would load anew each time: each run forgets what it imported."""

from __future__ import annotations

import multiprocessing.resource_tracker  # noqa: F401

import deepdiff  # noqa: F401
import genai_prices  # noqa: F401
import numpy as np  # noqa: F401

import pytest_fcall.backends.explain
import pytest_fcall.backends.prices
import pytest_fcall.backends.proxy.proxy
import pytest_fcall.backends.proxy.runs
import pytest_fcall.conversation.dialogue
import pytest_fcall.conversation.environments
import pytest_fcall.conversation.user
import pytest_fcall.decoding.bfcl
import pytest_fcall.matching.bfcl.verdict
import pytest_fcall.plugin.ahead
import pytest_fcall.plugin.asserting
import pytest_fcall.plugin.gathering
import pytest_fcall.plugin.judge_ahead
import pytest_fcall.plugin.live
import pytest_fcall.plugin.running
import pytest_fcall.suites.bfcl.suite  # noqa: F401
