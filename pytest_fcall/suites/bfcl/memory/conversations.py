"""The conversations that fill a memory before a question, and what each kind of memory needs installed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, EarlierCases, EnvironmentNeeds, Turn, World
from pytest_fcall.core.fault import Location
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, native_tool, read_package_rows
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS, parse_turns
from pytest_fcall.suites.bfcl.prompt import Prompt, memory_instructions, with_system_text
from pytest_fcall.suites.bfcl.row_fields import text_field
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE
from pytest_fcall.suites.json_files import BrokenRow

_EVERY_KIND: Final[Mapping[str, str]] = MappingProxyType({"filelock": "filelock", "overrides": "overrides"})
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "kv": {**_EVERY_KIND, "rank_bm25": "rank-bm25"},
        "vector": {**_EVERY_KIND, "faiss": "faiss-cpu", "sentence_transformers": "sentence-transformers"},
        "rec_sum": _EVERY_KIND,
    }
)
"""Modules, and the packages that they are in, by kind of memory."""
_ENCODER: Final = "all-MiniLM-L6-v2"
_TORCH_MEMORY: Final = 16 << 30
"""What torch takes of address space, most of which it never uses."""


def memory_needs(kind: str) -> EnvironmentNeeds:
    """What a memory of this kind needs; vectors are made by a model, which was fetched before."""
    missing = _missing_packages(kind)
    if kind != "vector":
        return EnvironmentNeeds(missing)
    hub = _hub_folder(os.environ)
    return EnvironmentNeeds(
        missing or _missing_encoder(hub),
        memory=_TORCH_MEMORY,
        folders=(str(hub),),
        variables={"HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    )


def _missing_packages(kind: str) -> str:
    needed = _NEEDED[kind]
    missing = [name for name in (BFCL_PACKAGE, *needed) if find_spec(name) is None]
    if not missing:
        return ""
    packages = " ".join(needed[name] for name in missing if name in needed)
    commands = ["pip install --no-deps bfcl-eval"] * (BFCL_PACKAGE in missing) + [f"pip install {packages}"] * bool(
        packages
    )
    return (
        f"memory_{kind} is a class of the package bfcl-eval, and {' and '.join(missing)} cannot be imported: "
        f"{' && '.join(commands)}"
    )


def _missing_encoder(hub: Path) -> str:
    if (hub / f"models--sentence-transformers--{_ENCODER}").is_dir():
        return ""
    fetch = f"from sentence_transformers import SentenceTransformer as Model; Model({_ENCODER!r})"
    return f'memory_vector takes the model {_ENCODER}, which is not in {hub}; fetch it: python -c "{fetch}"'


def _hub_folder(variables: Mapping[str, str]) -> Path:
    """Where models are kept that were fetched."""
    if hub := variables.get("HF_HUB_CACHE"):
        return Path(hub).expanduser().absolute()
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(variables.get("HF_HOME") or f"{cache}/huggingface").expanduser().absolute() / "hub"


SLOT: Final = "{memory_content}"
"""Stands in the leaderboard's words for what is in the memory."""
_WORLD: Final = "pytest_fcall.suites.bfcl.memory.world:make"
_FOLDER: Final = "memory_prereq_conversation"


class MemoryConversations:
    """Those of one kind of memory, by scenario. Raises ValueError, in words, where the words or files are missing."""

    def __init__(self, category: str, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._kind = category.removeprefix("memory_")
        self._folder = folder
        self._prompt = prompt
        self._roles, instructions = memory_instructions(folder)
        # One memory is a text, which is summed up again and again; the others have a core and an archive.
        self._instruction = instructions["UNIFIED" if self._kind == "rec_sum" else "CORE_ARCHIVAL"]
        self.documents: Sequence[Document] = ClassDocuments(folder).of([f"MemoryAPI_{self._kind}"], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(native_tool, self.documents))
        self._known: dict[str, EarlierCases] = {}

    def instructed(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """The messages with what a model is told of its role and its memory before them."""
        return with_system_text(self._instruction.replace("{scenario_setting}", self._role(scenario)), messages)

    def world(self, scenario: str) -> World:
        """What stands behind the tools in each conversation of a scenario."""
        setup = {"kind": self._kind, "scenario": scenario}
        return World(_WORLD, setup, max_steps=MOST_STEPS, unreadable="answers", kept="in_order", needs=self._needs)

    def earlier(self, scenario: str) -> EarlierCases:
        """The conversations of a scenario. BrokenRow where there is no such scenario, or one cannot be read."""
        self._role(scenario)
        if scenario not in self._known:
            self._known[scenario] = EarlierCases(tuple(self._cases(scenario)), SLOT)
        return self._known[scenario]

    @cached_property
    def _needs(self) -> EnvironmentNeeds:
        return memory_needs(self._kind)

    def _role(self, scenario: str) -> str:
        if scenario not in self._roles:
            raise BrokenRow(f"there is no scenario {scenario!r:.80}: there is {', '.join(self._roles)}")
        return self._roles[scenario]

    def _cases(self, scenario: str) -> Iterator[Case]:
        path = self._folder / _FOLDER / f"memory_{scenario}.json"
        for number, row in enumerate(read_package_rows(path), 1):
            try:
                yield self._case(row, scenario, Location(str(path), number))
            except BrokenRow as error:
                raise BrokenRow(f"what is said before it ({path}:{number}) cannot be read: {error}") from None

    def _case(self, row: Mapping[str, Json], scenario: str, place: Location) -> Case:
        first, *later = parse_turns(row.get("question"))
        messages = self.instructed(first, scenario)
        if self._prompt is not None:
            messages = self._prompt.told(messages, self.documents)
        return Case(
            id=text_field(row, "id").replace("memory", self._category, 1),
            location=place,
            turns=(Turn(messages), *(Turn(tuple(each)) for each in later)),
            tools=self.tools,
            category=f"{self._category}_prereq",
            world=self.world(scenario),
            mode="conversation",
            tools_in_messages=self._prompt is not None,
            decoder=None if self._prompt is None else "bfcl",
        )
