"""What `fcall score` does: rows in, verdicts out, in order and in constant memory."""
