"""Coroutines of frameworks that wait for nothing, run without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any


def result_without_waiting(work: Coroutine[object, None, Any]) -> Any:
    """The result of a coroutine that has nothing to wait for; None where it has."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    except RuntimeError:  # there is no event loop
        return None
    finally:
        work.close()
    return None
