"""Asking many things at once: in a thread of its own, within limits, and again where that may help."""

from pytest_fcall.backends.dispatch.arrivals import Arrival
from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import Figures, Job
from pytest_fcall.backends.dispatch.limits import Limits

__all__ = ["Arrival", "Dispatcher", "Figures", "Job", "Limits"]
