"""What the leaderboard asks: its categories, where their files lie, and the names for several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.suites.bfcl.prompt_formats import FORMAT_CATEGORY

Truth: TypeAlias = Literal["calls", "source", "answer", "turns", "mention", "elsewhere", "none"]
"""What a ground truth is: calls with alternatives, calls as Python source, alone or turn by turn, what a server
answered, what a message must mention, that of a case in another category, or nothing."""

_RETIRED = "unused_datasets"
_CALLS_ONLY = "calls are carried out where that takes no network; all others are compared"
_FIRST_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "simple_python": "simple",
        "simple_java": "java",
        "simple_javascript": "javascript",
        **{name: f"{name}_function" for name in ("multiple", "parallel", "parallel_multiple")},
        "irrelevance": "relevance",
        "exec_simple": "executable_simple",
        **{f"exec_{name}": f"executable_{name}_function" for name in ("multiple", "parallel", "parallel_multiple")},
        **{name: name for name in ("rest", "sql", "chatable")},
    }
)
"""What the first version called its categories."""


@dataclass(frozen=True, slots=True)
class Category:
    """One category; `note` says what is judged otherwise than in its own time, or not at all."""

    name: str
    truth: Truth = "calls"
    retired: bool = False
    note: str = ""
    shared: str = ""
    """The name of a file that it shares with other categories, and which its ids begin with there."""

    def id_of(self, written: str) -> str:
        """The id of a case, by what is written in the file."""
        return written.replace(self.shared, self.name, 1) if self.shared else written

    @property
    def questions(self) -> str:
        """The file of questions, from the folder of data."""
        return f"{_RETIRED}/question/{self._file}" if self.retired else self._file

    @property
    def answers(self) -> str | None:
        """The file of ground truths; None where there are none."""
        if self.truth in ("elsewhere", "none"):
            return None
        return f"{_RETIRED}/possible_answer/{self._file}" if self.retired else f"possible_answer/{self._file}"

    @property
    def first_version(self) -> str | None:
        """The file of questions in the leaderboard's first version; None where that did not ask them."""
        name = _FIRST_NAMES.get(self.name)
        return f"gorilla_openfunctions_v1_test_{name}.json" if name else None

    @property
    def _file(self) -> str:
        return f"BFCL_v4_{self.shared or self.name}.json"


_NON_LIVE = (
    Category("simple_python"),
    Category("simple_java"),
    Category("simple_javascript"),
    Category("multiple"),
    Category("parallel"),
    Category("parallel_multiple"),
    Category("irrelevance", "none"),
)
_LIVE = (
    Category("live_simple"),
    Category("live_multiple"),
    Category("live_parallel"),
    Category("live_parallel_multiple"),
    Category("live_irrelevance", "none"),
    Category("live_relevance", "none"),
)
_MULTI_TURN = (
    Category("multi_turn_base", "turns"),
    Category("multi_turn_miss_func", "turns"),
    Category("multi_turn_miss_param", "turns"),
    Category("multi_turn_long_context", "turns"),
)
_WEB_SEARCH = tuple(
    Category(
        name, "mention", shared="web_search", note="for apps that search themselves: others hear what these have found"
    )
    for name in ("web_search_base", "web_search_no_snippet")
)
_MEMORY = tuple(
    Category(name, "mention", shared="memory", note="needs the classes of bfcl-eval")
    for name in ("memory_kv", "memory_vector", "memory_rec_sum")
)
_FORMATS = (Category(FORMAT_CATEGORY, "elsewhere", note="in the prompt mode only: each question in 26 formats"),)
_RETIRED_ONES = (
    Category("exec_simple", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_multiple", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_parallel", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_parallel_multiple", "source", retired=True, note=_CALLS_ONLY),
    Category("rest", "answer", retired=True, note="only whether a call is made: right is what servers answered once"),
    Category("sql", retired=True, note="its calls are compared; the leaderboard never scored it"),
    Category("chatable", "none", retired=True, note="skipped: nothing says what is right"),
)

_EVERY = (*_NON_LIVE, *_LIVE, *_MULTI_TURN, *_WEB_SEARCH, *_MEMORY, *_FORMATS, *_RETIRED_ONES)
CATEGORIES: Final[Mapping[str, Category]] = MappingProxyType({category.name: category for category in _EVERY})


def _names(*groups: tuple[Category, ...]) -> tuple[str, ...]:
    return tuple(category.name for group in groups for category in group)


GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "single_turn": _names(_NON_LIVE, _LIVE),
        "non_live": _names(_NON_LIVE),
        "live": _names(_LIVE),
        "python": tuple(name for name in _names(_NON_LIVE, _LIVE) if "java" not in name),
        "non_python": ("simple_java", "simple_javascript"),
        "multi_turn": _names(_MULTI_TURN),
        "web_search": _names(_WEB_SEARCH),
        "memory": _names(_MEMORY),
        "agentic": _names(_WEB_SEARCH, _MEMORY),
        "retired": _names(_RETIRED_ONES),
        "v1": _names(_NON_LIVE, _RETIRED_ONES),
        "v2": _names(_NON_LIVE, _LIVE),
        "v3": _names(_NON_LIVE, _LIVE, _MULTI_TURN),
        "v4": _names(_NON_LIVE, _LIVE, _MULTI_TURN, _WEB_SEARCH, _MEMORY),
    }
)
"""Those of the leaderboard, and what its versions asked; `python` is all that is not Java or JavaScript."""

ALL: Final = "single_turn"
"""What is meant where no part is named."""


def categories_of(part: str) -> list[Category]:
    """The categories that a name stands for. Raises ValueError, in words, for one that is not known."""
    names = GROUPS.get(part or ALL, (part,))
    if names[0] not in CATEGORIES:
        from difflib import get_close_matches

        near = get_close_matches(part, [*GROUPS, *CATEGORIES], n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        known = f"there is {', '.join(CATEGORIES)}; and for several of them {', '.join(GROUPS)}"
        raise ValueError(f"the suite bfcl has no part {part!r:.60}: {meant}{known}")
    return [CATEGORIES[name] for name in names]
