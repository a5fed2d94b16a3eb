"""Programs that models write in place of calls, carried out by an interpreter of our own."""

from pytest_fcall.conversation.program.parsing import Malformed
from pytest_fcall.conversation.program.running import Asked, carry_out, steps

__all__ = ["Asked", "Malformed", "carry_out", "steps"]
