"""The forms in which models are asked, plain and streamed: a module each, with `read` and `write`."""
