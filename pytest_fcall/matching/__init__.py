"""Calls against an expectation: pure functions, the same answer for the same question."""

from pytest_fcall.matching.judge import judge

__all__ = ["judge"]
