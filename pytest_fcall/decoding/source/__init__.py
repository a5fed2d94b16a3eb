"""Values that stand as source text of Java or JavaScript, read without running anything."""

from pytest_fcall.decoding.source.typed import typed

__all__ = ["typed"]
