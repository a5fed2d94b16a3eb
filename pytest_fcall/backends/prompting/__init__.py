"""Tools told in the prompt, for models that have no native way to be told."""

from pytest_fcall.backends.prompting.prompt import DEFAULT_STYLE, STYLES, prompted
from pytest_fcall.backends.prompting.style import Style

__all__ = ["DEFAULT_STYLE", "STYLES", "Style", "prompted"]
