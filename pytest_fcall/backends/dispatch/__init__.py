"""Dispatch: many requests at once, in a thread of its own, within limits, with retries."""

from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.group_writer import Arrival
from pytest_fcall.backends.dispatch.job import Figures, Job, Limits

__all__ = ["Arrival", "Dispatcher", "Figures", "Job", "Limits"]
