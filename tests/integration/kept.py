"""Modules that runs inside tests need, and would load anew each time: each run forgets what it imported."""

from __future__ import annotations

import multiprocessing.resource_tracker  # noqa: F401

import deepdiff  # noqa: F401
import genai_prices  # noqa: F401
import numpy as np  # noqa: F401

import pytest_fcall.backends.apps.python
import pytest_fcall.backends.costs.prices
import pytest_fcall.backends.dispatch.dispatcher
import pytest_fcall.backends.dispatch.job
import pytest_fcall.backends.dispatch.queues
import pytest_fcall.backends.dispatch.rate_limits
import pytest_fcall.backends.dispatch.sender
import pytest_fcall.backends.proxy.case_lookup
import pytest_fcall.backends.proxy.listener
import pytest_fcall.backends.proxy.proxy
import pytest_fcall.backends.recordings.differences
import pytest_fcall.cases.case_file
import pytest_fcall.cases.preamble
import pytest_fcall.cases.yaml.composer
import pytest_fcall.conversation.dialogue
import pytest_fcall.conversation.environments
import pytest_fcall.core.duration
import pytest_fcall.core.gc_pause
import pytest_fcall.decoding.bfcl
import pytest_fcall.matching.app_exchanges
import pytest_fcall.matching.assignment
import pytest_fcall.matching.bfcl.verdict
import pytest_fcall.matching.call_pairing
import pytest_fcall.matching.call_reasons
import pytest_fcall.matching.judge_prompt
import pytest_fcall.matching.operators.choices
import pytest_fcall.matching.operators.numeric
import pytest_fcall.matching.operators.operand
import pytest_fcall.matching.operators.table
import pytest_fcall.matching.operators.texts
import pytest_fcall.matching.references
import pytest_fcall.matching.results
import pytest_fcall.matching.strings
import pytest_fcall.matching.transcript
import pytest_fcall.matching.turn_follower
import pytest_fcall.matching.wording
import pytest_fcall.plugin.header
import pytest_fcall.plugin.hooks
import pytest_fcall.plugin.prefetch
import pytest_fcall.plugin.progress
import pytest_fcall.plugin.summary
import pytest_fcall.plugin.xdist
import pytest_fcall.reporting.header
import pytest_fcall.session.ask.conversation
import pytest_fcall.session.judge.assert_calls
import pytest_fcall.session.judge.baseline_wire
import pytest_fcall.session.judge.exchange_order
import pytest_fcall.session.judge.llm_judge
import pytest_fcall.session.result.failure
import pytest_fcall.session.result.model_change
import pytest_fcall.suites.bfcl.suite
import pytest_fcall.tracking.acceptance
import pytest_fcall.tracking.case_rates
import pytest_fcall.tracking.comparison
import pytest_fcall.tracking.constrained_arguments
import pytest_fcall.tracking.differences
import pytest_fcall.tracking.history
import pytest_fcall.tracking.significance  # noqa: F401
