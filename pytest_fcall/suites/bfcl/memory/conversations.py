"""The conversations that fill a memory before a question, and the needs of each kind of memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, Location, Turn
from pytest_fcall.core.conversation import ConversationSettings, EarlierCases, EnvironmentNeeds
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, native_tool, read_package_rows
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS, parse_turns
from pytest_fcall.suites.bfcl.prompt import Prompt, memory_instructions, with_system_text
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow, string_field

_EVERY_KIND: Final[Mapping[str, str]] = MappingProxyType({"filelock": "filelock", "overrides": "overrides"})
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "kv": {**_EVERY_KIND, "rank_bm25": "rank-bm25"},
        "vector": {**_EVERY_KIND, "faiss": "faiss-cpu", "sentence_transformers": "sentence-transformers"},
        "rec_sum": _EVERY_KIND,
    }
)
"""The modules that a kind of memory imports, with their packages."""
_ENCODER: Final = "all-MiniLM-L6-v2"
_TORCH_MEMORY: Final = 16 << 30
"""The address space that torch reserves; it uses little of it."""
_SLOT: Final = "{memory_content}"
"""The placeholder of the memory's content in the leaderboard's instructions."""
_ENVIRONMENT: Final = "pytest_fcall.suites.bfcl.memory.world:make"
_FOLDER: Final = "memory_prereq_conversation"


class MemoryConversations:
    """The tools, instructions and earlier conversations of one kind of memory, by scenario.

    Raises ValueError if the prompts or documents of the package cannot be read.
    """

    def __init__(self, category: str, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._kind = category.removeprefix("memory_")
        self._folder = folder
        self._prompt = prompt
        self._roles, instructions = memory_instructions(folder)
        # rec_sum is one text, which is summarized again and again; the others have a core and an archive.
        self._instruction = instructions["UNIFIED" if self._kind == "rec_sum" else "CORE_ARCHIVAL"]
        self.documents: Sequence[Document] = ClassDocuments(folder).by_turn([f"MemoryAPI_{self._kind}"], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(native_tool, self.documents))
        self._known: dict[str, EarlierCases] = {}

    def with_instructions(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """Return the messages with the instructions on the model's role and memory before them."""
        return with_system_text(self._instruction.replace("{scenario_setting}", self._role(scenario)), messages)

    def conversation(self, scenario: str) -> ConversationSettings:
        """Return the settings of all conversations of a scenario."""
        setup = {"kind": self._kind, "scenario": scenario}
        return ConversationSettings(
            _ENVIRONMENT, setup, max_steps=MOST_STEPS, unreadable="answers", reuse_results="in_order", needs=self._needs
        )

    def earlier(self, scenario: str) -> EarlierCases:
        """Return the conversations of a scenario. Raises BrokenRow for an unknown scenario or a broken conversation."""
        self._role(scenario)
        if scenario not in self._known:
            self._known[scenario] = EarlierCases(tuple(self._cases(scenario)), _SLOT)
        return self._known[scenario]

    @cached_property
    def _needs(self) -> EnvironmentNeeds:
        return memory_needs(self._kind)

    def _role(self, scenario: str) -> str:
        if scenario not in self._roles:
            raise BrokenRow(f"no scenario {scenario!r:.80}; available: {', '.join(self._roles)}")
        return self._roles[scenario]

    def _cases(self, scenario: str) -> Iterator[Case]:
        path = self._folder / _FOLDER / f"memory_{scenario}.json"
        for number, row in enumerate(read_package_rows(path), 1):
            try:
                yield self._case(row, scenario, Location(str(path), number))
            except BrokenRow as error:
                raise BrokenRow(f"invalid conversation before the question ({path}:{number}): {error}") from None

    def _case(self, row: Mapping[str, Json], scenario: str, location: Location) -> Case:
        first, *later = parse_turns(row.get("question"))
        messages = self.with_instructions(first, scenario)
        if self._prompt is not None:
            messages = self._prompt.messages_with_functions(messages, self.documents)
        return Case(
            id=string_field(row, "id").replace("memory", self._category, 1),
            location=location,
            turns=(Turn(messages), *(Turn(tuple(each)) for each in later)),
            tools=self.tools,
            category=f"{self._category}_prereq",
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            conversation=self.conversation(scenario),
            mode="conversation",
            tools_in_messages=self._prompt is not None,
            decoder=None if self._prompt is None else "bfcl",
        )


def memory_needs(kind: str) -> EnvironmentNeeds:
    """Return the needs of a kind of memory. The kind `vector` needs a model that has been downloaded."""
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
        f"memory_{kind} needs a class of the package bfcl-eval, but {' and '.join(missing)} cannot be imported: "
        f"{' && '.join(commands)}"
    )


def _missing_encoder(hub: Path) -> str:
    if (hub / f"models--sentence-transformers--{_ENCODER}").is_dir():
        return ""
    fetch = f"from sentence_transformers import SentenceTransformer as Model; Model({_ENCODER!r})"
    return f'memory_vector needs the model {_ENCODER}, which is not in {hub}; download it: python -c "{fetch}"'


def _hub_folder(variables: Mapping[str, str]) -> Path:
    """The folder of downloaded models."""
    if hub := variables.get("HF_HUB_CACHE"):
        return Path(hub).expanduser().absolute()
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(variables.get("HF_HOME") or f"{cache}/huggingface").expanduser().absolute() / "hub"
