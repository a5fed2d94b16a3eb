"""Modules that runs inside tests need, and would load anew each time: each run forgets what it imported."""

from __future__ import annotations

import multiprocessing.resource_tracker  # noqa: F401

import deepdiff  # noqa: F401
import genai_prices  # noqa: F401
import numpy as np  # noqa: F401

import pytest_fcall.backends.costs.prices
import pytest_fcall.backends.proxy.case_lookup
import pytest_fcall.backends.proxy.proxy
import pytest_fcall.backends.recordings.differences
import pytest_fcall.conversation.dialogue
import pytest_fcall.conversation.environments
import pytest_fcall.decoding.bfcl
import pytest_fcall.matching.bfcl.verdict
import pytest_fcall.plugin.hooks
import pytest_fcall.plugin.prefetch
import pytest_fcall.plugin.progress
import pytest_fcall.plugin.summary
import pytest_fcall.session.judge.assert_calls
import pytest_fcall.suites.bfcl.suite  # noqa: F401
