"""Tools described in the prompt, for models that take no tools."""

from pytest_fcall.backends.tool_prompts.call_formats import Style
from pytest_fcall.backends.tool_prompts.prompt import DEFAULT_STYLE, STYLES, prompted

__all__ = ["DEFAULT_STYLE", "STYLES", "Style", "prompted"]
