"""The categories of the leaderboard, their files, the groups of categories, and the prompt formats that it compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product, starmap
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.bfcl.decoders import CallFormat

Notation: TypeAlias = Literal["python", "xml", "json"]

FORMAT_CATEGORY: Final = "format_sensitivity"
Truth: TypeAlias = Literal[
    "calls",  # calls with alternatives for each argument
    "source",  # calls as Python source
    "answer",  # what a server answered
    "turns",  # calls as Python source, for each turn
    "mention",  # texts, one of which the last message must mention
    "in_other_category",  # the ground truth of a case of another category
    "none",
]
"""The kind of a category's ground truth."""
DISGUISED: Final = "disguised_"
"""Prefix of the names of categories whose questions are published ones in disguise."""

_RETIRED = "unused_datasets"
RIGHT_REQUESTS: Final = f"{_RETIRED}/executable_eval_sanity_check/api_status_check_ground_truth_rest.json"
"""The file of the requests that servers once answered with the ground truths of `rest`."""
_CALLS_ONLY = "calls are executed if they need no network; all others are compared"
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
"""The names of categories in the first version of the leaderboard."""


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


@dataclass(frozen=True, slots=True)
class Category:
    """One category."""

    name: str
    truth: Truth = "calls"
    retired: bool = False
    note: str = ""
    """A deviation from the original judging, for the list of parts."""
    shared_file_name: str = ""
    """The name in a file that several categories share; the ids in the file begin with it."""
    disguises: str = ""
    """The category whose questions this one asks in disguise."""

    def id_of(self, written: str) -> str:
        """Return the id of a case, given the id in the file."""
        return written.replace(self.shared_file_name, self.name, 1) if self.shared_file_name else written

    @property
    def questions_file(self) -> str:
        """The file of questions, relative to the folder of data."""
        return f"{_RETIRED}/question/{self._file}" if self.retired else self._file

    @property
    def answers_file(self) -> str | None:
        """The file of ground truths; None if the category has none of its own."""
        if self.truth in ("in_other_category", "none"):
            return None
        return f"{_RETIRED}/possible_answer/{self._file}" if self.retired else f"possible_answer/{self._file}"

    @property
    def first_version_file(self) -> str | None:
        """The file of questions in the leaderboard's first version; None if that lacks the category."""
        return f"gorilla_openfunctions_v1_test_{self.first_name}.json" if self.first_name else None

    @property
    def first_name(self) -> str:
        """The name in the leaderboard's first version; empty if that lacks the category."""
        return _FIRST_NAMES.get(self.name, "")

    @property
    def _file(self) -> str:
        return f"BFCL_v4_{self.shared_file_name or self.name}.json"


def judged_row(category: Category, data: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a row with the category whose rules are meant. Chatting is not calling; `rest` expects any request."""
    rules = {"chatable": "irrelevance", "rest": "relevance"}.get(category.name)
    return data if rules is None else {**data, "category": rules}


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
        name,
        "mention",
        shared_file_name="web_search",
        note="for apps that search themselves; other models get the results that these apps recorded",
    )
    for name in ("web_search_base", "web_search_no_snippet")
)
_MEMORY = tuple(
    Category(name, "mention", shared_file_name="memory", note="needs the classes of bfcl-eval")
    for name in ("memory_kv", "memory_vector", "memory_rec_sum")
)
_FORMATS = (Category(FORMAT_CATEGORY, "in_other_category", note="prompt mode only: each question in 26 formats"),)
_RETIRED_ONES = (
    Category("exec_simple", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_multiple", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_parallel", "source", retired=True, note=_CALLS_ONLY),
    Category("exec_parallel_multiple", "source", retired=True, note=_CALLS_ONLY),
    Category("rest", "answer", retired=True, note="judged by recorded responses; no server is asked"),
    Category("sql", retired=True, note="its calls are compared; the leaderboard never scored it"),
    Category("chatable", "none", retired=True, note="no call is right; the leaderboard never scored it"),
)

_DISGUISED = tuple(
    Category(
        f"{DISGUISED}{each.name}",
        each.truth,
        shared_file_name=each.name,
        disguises=each.name,
    )
    for each in (*_NON_LIVE, *_LIVE)
    if "java" not in each.name
)

_EVERY = (*_NON_LIVE, *_LIVE, *_MULTI_TURN, *_WEB_SEARCH, *_MEMORY, *_FORMATS, *_RETIRED_ONES, *_DISGUISED)
CATEGORIES: Final[Mapping[str, Category]] = MappingProxyType({category.name: category for category in _EVERY})


def _names(*groups: tuple[Category, ...]) -> tuple[str, ...]:
    return tuple(category.name for group in groups for category in group)


_EXECUTED = tuple(name for name in _names(_RETIRED_ONES) if name.startswith("exec_") or name == "rest")

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
        "disguised": _names(_DISGUISED),
        "v1": _names(_NON_LIVE, _RETIRED_ONES),
        "v2": (*_names(_NON_LIVE, _LIVE), *_EXECUTED),
        "v3": _names(_NON_LIVE, _LIVE, _MULTI_TURN),
        "v4": _names(_NON_LIVE, _LIVE, _MULTI_TURN, _WEB_SEARCH, _MEMORY),
    }
)
"""The groups of the leaderboard, and the categories of its versions; `python` is all but Java and JavaScript."""

ALL: Final = "single_turn"
"""The group that a run takes if no part is named."""


def categories_of(part: str) -> list[Category]:
    """Return the categories of a part: of a group, or the one of this name. Raises ValueError for an unknown part."""
    names = GROUPS.get(part or ALL, (part,))
    if names[0] not in CATEGORIES:
        from pytest_fcall.core.message_text import did_you_mean

        hint = did_you_mean(part, [*GROUPS, *CATEGORIES])
        named = [name for name in CATEGORIES if not name.startswith(DISGUISED)]
        known = f"available: {', '.join(named)}, {DISGUISED}…; groups: {', '.join(GROUPS)}"
        raise ValueError(f"no part {part!r:.60} in suite bfcl; {hint or known}")
    return [CATEGORIES[name] for name in names]
