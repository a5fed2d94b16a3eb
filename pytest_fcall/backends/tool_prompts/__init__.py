"""Tools described in the prompt, for models without an interface for tools."""

from pytest_fcall.backends.tool_prompts.prompt import DEFAULT_STYLE, STYLES, with_tools_in_prompt

__all__ = ["DEFAULT_STYLE", "STYLES", "with_tools_in_prompt"]
