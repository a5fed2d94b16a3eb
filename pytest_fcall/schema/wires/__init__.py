"""Tools on their way out: what each wire takes for names and schemas, and how names come back."""

from pytest_fcall.schema.wires.outgoing import CHAT, RESPONSES, Outgoing, Wire, outgoing

__all__ = ["CHAT", "RESPONSES", "Outgoing", "Wire", "outgoing"]
