"""The proxy between an app and its models: answers are replayed from recordings, or forwarded and recorded."""
