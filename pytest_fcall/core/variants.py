"""Variants of a case, which put its question differently, and the relations that make them. No verdict must change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.core.request import Tool
    from pytest_fcall.core.values import Json

_T = TypeVar("_T")

REPETITION: Final = "repetition"
"""The relation that changes nothing. Its verdicts show how often one flips by chance."""
WORDED: Final = frozenset({"paraphrase", "language"})
"""The relations whose texts a model writes; they are kept beside the case file."""
MOST_VARIANTS: Final = 100
"""The most variants that a relation makes of a case."""

ParameterKind: TypeAlias = Literal["count", "tools", "flag", "text"]
"""The form of a parameter of a relation in a case file: `tools` is `file`, `catalogue` or a path."""


@dataclass(frozen=True, slots=True)
class WantedRelation:
    """A relation that a case is to be varied by."""

    name: str
    count: int = 1
    """The number of variants."""
    samples: int = 1
    """The number of requests for each of them."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """The relation's own parameters."""
    tools: tuple[Tool, ...] | None = None
    """The tools that `from` names; None where it names none."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """The reason why a relation makes no variant of a case: a clause without a full stop, such as `it has one tool`."""

    reason: str


class Dice:
    """A source of choices that follow from a text, so that every process and every version of Python makes the same."""

    def __init__(self, *seed: object) -> None:
        self._seed = "\n".join(map(str, seed)).encode("utf-8", "surrogatepass")
        self._thrown = 0

    def below(self, limit: int) -> int:
        """A number from 0 to one less than `limit`."""
        self._thrown += 1
        return int.from_bytes(sha256(b"%d\n%b" % (self._thrown, self._seed)).digest()[:8], "big") % limit

    def one(self, values: Sequence[_T]) -> _T:
        """One of the values."""
        return values[self.below(len(values))]

    def order(self, values: Sequence[_T]) -> list[_T]:
        """The values in another order, or in the same by chance."""
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


Vary: TypeAlias = "Callable[[Case, Dice, WantedRelation], Case | Unfit]"
"""Makes a variant of a case, with its expectation: a pure function, which makes the same of the same case and dice."""


@dataclass(frozen=True, slots=True)
class RelationSpec:
    """A relation as case files and the command line name it."""

    meaning: str
    """The change that it makes, as a clause: `typing errors in words that no expected value needs`."""
    parameters: Mapping[str, ParameterKind] = field(default_factory=dict)
    """Its parameters, beside `count` and `samples`."""
    needed: tuple[str, ...] = ()
    """Those of them that must be given, so that `all` leaves the relation out."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with the function that makes its variants."""

    spec: RelationSpec
    vary: Vary
    changes_tools: bool = False
    """Whether it changes the tools. Then it does not fit an app with its own, or a prompt that describes them."""


RELATIONS: Mapping[str, RelationSpec] = MappingProxyType(
    {
        REPETITION: RelationSpec("the same question once more: how often the verdict flips by chance"),
        "tool_order": RelationSpec("tools in another order"),
        "distractors": RelationSpec(
            "more tools, which have nothing to do with the question",
            {"from": "tools", "tools": "count", "near": "flag"},
        ),
        "tool_names": RelationSpec("tools under other names, here and in everything that is expected"),
        "parameter_names": RelationSpec("parameters under other names, here and in everything that is expected"),
        "descriptions": RelationSpec("descriptions of tools and parameters in other words"),
        "no_descriptions": RelationSpec("no descriptions of tools and parameters"),
        "optional_parameters": RelationSpec("another optional parameter for each tool, which no question needs"),
        "system_position": RelationSpec("the system prompt at the head of the user's first message"),
        "white_space": RelationSpec("more spaces and line breaks between words"),
        "letter_case": RelationSpec("small or capital letters in words that no expected value needs"),
        "punctuation": RelationSpec("other marks at the end of the prompt"),
        "typos": RelationSpec("typing errors in words that no expected value needs"),
        "dates": RelationSpec("dates written in another way"),
        "numbers": RelationSpec("numbers written in another way"),
        "turns_before": RelationSpec("small talk before the question"),
        "paraphrase": RelationSpec("the prompt in other words, which a model chooses", {"by": "text"}, ("by",)),
        "language": RelationSpec(
            "the prompt in another language, as a model translates it", {"to": "text", "by": "text"}, ("to", "by")
        ),
    }
)
"""The relations that are built in, in the order in which they are reported."""
