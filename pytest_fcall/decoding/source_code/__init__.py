"""Arguments that are source text of Java or JavaScript, read without running anything."""

from pytest_fcall.decoding.source_code.arguments import typed_arguments

__all__ = ["typed_arguments"]
