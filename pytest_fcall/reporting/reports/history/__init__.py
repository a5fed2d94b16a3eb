"""The history of kept runs as a page of HTML in one file: figures of models from run to run, and what changed."""
