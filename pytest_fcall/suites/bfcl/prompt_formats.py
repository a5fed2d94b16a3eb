"""The prompt formats that the leaderboard compares: how calls are asked for and how functions are written."""

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
    """One way, by default that of all other categories."""

    calls: CallFormat = "python"
    tagged: bool = False
    """Whether calls are asked for between `<TOOLCALL>` tags."""
    functions: Notation = "json"
    layout: Literal["plaintext", "markdown"] = "plaintext"
    style: Literal["classic", "experimental"] = "classic"

    @property
    def config(self) -> str:
        """The leaderboard's name for it, which stands in the ids of cases."""
        return (
            f"ret_fmt={self.calls}&tool_call_tag={self.tagged}&func_doc_fmt={self.functions}"
            f"&prompt_fmt={self.layout}&style={self.style}"
        )

    @property
    def category(self) -> str:
        """The category of its cases: what differs, in short."""
        unusual = [each for each in (self.layout, self.style) if each not in ("plaintext", "classic")]
        tagged = "_tagged" if self.tagged else ""
        return "/".join([FORMAT_CATEGORY, f"{self.calls}{tagged}", self.functions, *unusual])

    @property
    def decoder(self) -> str:
        """The name of the official decoder of what is asked for."""
        calls = "" if self.calls == "python" else f"_{self.calls}"
        return f"bfcl{calls}{'_tagged' if self.tagged else ''}"


DEFAULT_FORMAT: Final = PromptFormat()
_CALLS: Final[tuple[CallFormat, ...]] = ("python", "json", "verbose_xml", "concise_xml")
_FUNCTIONS: Final[tuple[Notation, ...]] = ("python", "xml", "json")

FORMATS: Final = (
    *(
        PromptFormat(calls, tagged, functions)
        for calls, tagged, functions in product(_CALLS, (True, False), _FUNCTIONS)
    ),
    PromptFormat(layout="markdown"),
    PromptFormat(style="experimental"),
)
"""In the order in which each question is asked."""

_BY_CONFIG: Mapping[str, PromptFormat] = MappingProxyType({each.config: each for each in FORMATS})
FORMAT_BY_DECODER: Mapping[str, PromptFormat] = MappingProxyType(
    {each.decoder: each for each in starmap(PromptFormat, product(_CALLS, (True, False)))}
)
"""What each official decoder reads."""


def format_of(id_: str) -> PromptFormat:
    """How a case is asked, by its id: `format_sensitivity_0:CONFIG:simple_python_58`."""
    _, _, rest = id_.partition(":")
    return _BY_CONFIG.get(rest.partition(":")[0], DEFAULT_FORMAT)
