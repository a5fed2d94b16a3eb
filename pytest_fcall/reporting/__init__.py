"""What people see: pure functions from plain data to lines of safe text."""

from pytest_fcall.reporting.failure import failure_text
from pytest_fcall.reporting.fault import fault_text
from pytest_fcall.reporting.header import header_lines
from pytest_fcall.reporting.safe import safe, safe_line

__all__ = ["failure_text", "fault_text", "header_lines", "safe", "safe_line"]
