"""Tools told in the prompt, for models that have no native way to be told."""

from pytest_fcall.backends.prompting.prompt import prompted
from pytest_fcall.backends.prompting.styles import DEFAULT_STYLE, STYLES

__all__ = ["DEFAULT_STYLE", "STYLES", "prompted"]
