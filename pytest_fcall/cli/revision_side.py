"""The old side of a bisection at a git revision: its files in a folder apart, and its cases as read by a process there.

Modules of the project may be imported already in this process, as they are today.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from pytest_fcall.bisection.version import LaterTurn, Version
from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json
from pytest_fcall.session.bisection.accepted_version import NoAcceptedVersion
from pytest_fcall.tracking.revision import write_revision

if TYPE_CHECKING:
    from pytest_fcall.plugin.item import CaseItem
    from pytest_fcall.plugin.suspects import OldQuestion
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.models import NamedModel

_SECONDS: Final = 600
_LAST_LINES: Final = 5
_BESIDE: Final = (
    ("expectation", "what is expected", "expectation judges all answers"),
    ("conversation", "stubs, the environment or the simulated user", "ones answer the calls"),
)
"""The parts of a case that do not belong to its question, in words."""


@dataclass(slots=True)
class RevisionSide:
    """The questions of a revision. They are read once for each model."""

    revision: str
    folder: Path
    """The files of the revision, from the root of the project."""
    files: Sequence[str]
    """The case files, from there."""
    _read: dict[str, Mapping[tuple[str, str], Mapping[str, Any]]] = field(default_factory=dict)
    _why_unread: dict[str, str] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def at(cls, revision: str, root: Path, files: Sequence[Path]) -> Iterator[RevisionSide]:
        """Write the files of a revision into a private folder, which is removed at the end. Raises ValueError."""
        with TemporaryDirectory(prefix="fcall-bisect-", ignore_cleanup_errors=True) as name:
            folder = Path(name).resolve() / "tree"
            folder.mkdir()
            write_revision(revision, root, folder)
            inside = dict.fromkeys(file.relative_to(root).as_posix() for file in files if file.is_relative_to(root))
            yield cls(revision, folder, [each for each in inside if (folder / each).exists()])

    def of(self, item: CaseItem, case: Case, today: Version, model: AskModel, named: NamedModel) -> OldQuestion:
        """The question of the same case of the same file at the revision. Raises NoAcceptedVersion."""
        from pytest_fcall.plugin.suspects import OldQuestion

        if model.id not in self._read:
            self._read[model.id] = self._cases(named)
        if why := self._why_unread.get(model.id):
            raise NoAcceptedVersion(why)
        file, _, _ = item.location
        found = self._read[model.id].get((file, case.id))
        if found is None and file not in self.files:
            raise NoAcceptedVersion(f"{file} is new since {self.revision}")
        if found is None:
            raise NoAcceptedVersion(
                f"{file} has no case {case.id} at {self.revision}; an older name of it is not known"
            )
        if "fault" in found:
            raise NoAcceptedVersion(f"{file}::{case.id} cannot be read at {self.revision}: {found['fault']}")
        now = part_digests(case)
        notes = [
            f"{text} changed since {self.revision}, too: today's {count}"
            for name, text, count in _BESIDE
            if found[name] != now[name]
        ]
        return OldQuestion(_version(found, case, today, model.id), tuple(notes))

    def _cases(self, named: NamedModel) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """All cases of the files there, by file and id; none, and why, where they cannot be read."""
        if not self.files:
            self._why_unread[named.model.id] = f"the case files do not exist at {self.revision}"
            return {}
        result = self.folder.with_name("cases.json")
        options = f"?{urlencode(named.model.options)}" if named.model.options else ""
        # Options may hold a key, which others could see among the arguments of a process.
        added = f"{os.environ.get('PYTEST_ADDOPTS', '')} {shlex.quote(f'--fc-model={named.model.id}{options}')}"
        status, output = self._run("pytest_fcall.cli.revision_cases", str(result), *self.files, addopts=added)
        if status:
            last = " / ".join(output.strip().splitlines()[-_LAST_LINES:])
            self._why_unread[named.model.id] = f"the cases at {self.revision} cannot be collected: {last}"
            return {}
        rows = json.loads(result.read_text("utf-8"))
        result.unlink()
        return {(row["file"], row["case"]): row for row in rows}

    def _run(self, module: str, *arguments: str, addopts: str) -> tuple[int, str]:
        """Run a module among the files of the revision. Returns the exit status and the output."""
        try:
            done = subprocess.run(  # noqa: S603  no shell, and the program is this one
                [sys.executable, "-P", "-m", module, *arguments],
                cwd=self.folder,
                env={**os.environ, "PYTEST_ADDOPTS": addopts},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 1, f"it took longer than {_SECONDS} seconds"
        return done.returncode, done.stdout + done.stderr


def part_digests(case: Case) -> dict[str, Json]:
    """Digests of the parts of a case that do not belong to its question."""
    from hashlib import sha256

    from pytest_fcall.tracking.question_digests import expectation_digest

    held = repr((case.conversation, case.decoder, case.mode)).encode("utf-8", "backslashreplace")
    return {"expectation": expectation_digest(case.undated or case), "conversation": sha256(held).hexdigest()}


def case_row(file: str, case: Case, request: Request) -> dict[str, Json]:
    """A case as one process tells it to another."""
    undated = [*case.undated.turns[0].messages] if case.undated else None
    return {
        "file": file,
        "case": case.id,
        "messages": [*request.messages],
        "tools": [_tool_row(tool) for tool in request.tools],
        "settings": request.settings,
        "turns": [
            {
                "messages": [*turn.messages],
                "tools": None if turn.tools is None else [_tool_row(tool) for tool in turn.tools],
            }
            for turn in case.turns[1:]
        ],
        "undated": undated,
        **part_digests(case),
    }


def _tool_row(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "declared": tool.declared,
        "returns": tool.returns,
    }


def _version(row: Mapping[str, Any], case: Case, today: Version, model: str) -> Version:
    messages = tuple(row["messages"])
    if case.undated and row["undated"] is not None:
        now = [*case.undated.turns[0].messages]
        if canonical(row["undated"]) == canonical(now):  # only the clock differs
            messages = today.request.messages
    request = Request(messages, _tools(row["tools"]), row["settings"])
    turns = [
        LaterTurn(tuple(turn["messages"]), None if turn["tools"] is None else _tools(turn["tools"]))
        for turn in row["turns"]
    ]
    return Version(model, request, tuple(turns[: len(today.turns)]))


def _tools(rows: Sequence[Mapping[str, Any]]) -> tuple[Tool, ...]:
    return tuple(Tool(**row) for row in rows)
