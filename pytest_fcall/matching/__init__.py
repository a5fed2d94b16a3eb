"""Judging replies by expectations: functions without side effects, with the same verdict for the same arguments."""
