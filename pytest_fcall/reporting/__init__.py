"""What people see: pure functions from plain data to lines of safe text."""

from pytest_fcall.reporting.confusion import confusion_lines
from pytest_fcall.reporting.equality import equality_lines
from pytest_fcall.reporting.failure import failure_text
from pytest_fcall.reporting.fault import fault_text
from pytest_fcall.reporting.full import full_failure_text
from pytest_fcall.reporting.header import header_lines
from pytest_fcall.reporting.safe import safe, safe_line
from pytest_fcall.reporting.summary import file_lines, last_line, summary_lines
from pytest_fcall.reporting.transcript import latest, transcript_lines, turn_at_fault

__all__ = [
    "confusion_lines",
    "equality_lines",
    "failure_text",
    "fault_text",
    "file_lines",
    "full_failure_text",
    "header_lines",
    "last_line",
    "latest",
    "safe",
    "safe_line",
    "summary_lines",
    "transcript_lines",
    "turn_at_fault",
]
