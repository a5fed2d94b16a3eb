"""The prompt formats that the leaderboard compares: the notations of calls and of functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product, starmap
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.decoding.bfcl.decoders import CallFormat

Notation: TypeAlias = Literal["python", "xml", "json"]

FORMAT_CATEGORY: Final = "format_sensitivity"


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """One prompt format. The default is the format of all other categories."""

    call_notation: CallFormat = "python"
    tagged: bool = False
    """Whether the prompt asks for calls between `<TOOLCALL>` tags."""
    function_notation: Notation = "json"
    layout: Literal["plaintext", "markdown"] = "plaintext"
    style: Literal["classic", "experimental"] = "classic"

    @property
    def config(self) -> str:
        """The leaderboard's name for the format, which is part of the ids of cases."""
        return (
            f"ret_fmt={self.call_notation}&tool_call_tag={self.tagged}&func_doc_fmt={self.function_notation}"
            f"&prompt_fmt={self.layout}&style={self.style}"
        )

    @property
    def category(self) -> str:
        """The category of the cases in this format."""
        unusual = [each for each in (self.layout, self.style) if each not in ("plaintext", "classic")]
        tagged = "_tagged" if self.tagged else ""
        return "/".join([FORMAT_CATEGORY, f"{self.call_notation}{tagged}", self.function_notation, *unusual])

    @property
    def decoder(self) -> str:
        """The name of the official decoder for the format."""
        notation = "" if self.call_notation == "python" else f"_{self.call_notation}"
        return f"bfcl{notation}{'_tagged' if self.tagged else ''}"


DEFAULT_FORMAT: Final = PromptFormat()
_CALL_NOTATIONS: Final[tuple[CallFormat, ...]] = ("python", "json", "verbose_xml", "concise_xml")
_FUNCTION_NOTATIONS: Final[tuple[Notation, ...]] = ("python", "xml", "json")

FORMATS: Final = (
    *starmap(PromptFormat, product(_CALL_NOTATIONS, (True, False), _FUNCTION_NOTATIONS)),
    PromptFormat(layout="markdown"),
    PromptFormat(style="experimental"),
)
"""All formats, in the order in which each question is asked."""

_BY_CONFIG: Mapping[str, PromptFormat] = MappingProxyType({each.config: each for each in FORMATS})
FORMAT_BY_DECODER: Mapping[str, PromptFormat] = MappingProxyType(
    {each.decoder: each for each in starmap(PromptFormat, product(_CALL_NOTATIONS, (True, False)))}
)
"""The format that each official decoder reads."""


def format_of(id_: str) -> PromptFormat:
    """Return the format that the id of a case names, as `format_sensitivity_0:CONFIG:simple_python_58` does."""
    _, _, rest = id_.partition(":")
    return _BY_CONFIG.get(rest.partition(":")[0], DEFAULT_FORMAT)
