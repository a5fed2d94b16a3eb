"""100,000 cases in one process, against as many functions that do nothing: `python -m benchmarks scale`.

Each phase runs once with 10,000 and once with 100,000 cases, as somebody has it who has just installed pytest-fcall;
then traces are imported, and stored answers judged. All of it takes most of an hour.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.answers import print_answers
from benchmarks.environments import Environment, bare, of_checkout
from benchmarks.measure import Run, run
from benchmarks.projects import APP, write_case_files, write_cases, write_parametrised
from benchmarks.scenarios import ASK
from benchmarks.traces import LOGS, write_log

FEW: Final = 10_000
MANY: Final = 100_000
_IN_A_FILE: Final = 100
_ENDED: Final = (0, 1)
_FCALL: Final = ("-c", "import sys; from pytest_fcall.cli import main; sys.exit(main())")
_SOMETIMES_WRONG: Final = APP.replace("number % 9,", "number % 9 if number % 1000 else 99,")
"""An app that is wrong in one case of a thousand."""
_STORED: Final = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import NewReply, ReplyStore, store_path
from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import RawCall, Reply, request_digest

root, now = Path(), datetime.now(UTC).isoformat()
store = ReplyStore(store_path(root))
replies = []
for number, case in enumerate(read_case_file(root / "many.fc.yaml", root=root).entries):
    arguments = f'{{"city": "City {number}", "days": {number % 9}, "unit": "celsius"}}'
    reply = Reply(tool_calls=(RawCall(f"tool_{number % 3}", arguments, "c1"),), finish="tool_calls")
    request = plan_request(case)
    digest = request_digest("openai:exam", request)
    replies.append(NewReply("openai:exam", "many.fc.yaml", Recording(case.id, digest, request, reply, now)))
store.put_all(replies)
store.close()
"""
"""Records a reply to each case, as a model would have given it."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with so many cases, in which one phase comes after the other."""

    folder: Path
    environment: Environment
    floor: Environment
    count: int

    def functions(self) -> Iterator[tuple[str, Run]]:
        """The floor of collecting, and of all other phases."""
        write_parametrised(self.folder, self.count)
        yield "functions: collected", run(self.floor.pytest("--collect-only", "test_many.py"), self.folder)
        yield "functions: run", run(self.floor.pytest("test_many.py"), self.folder)

    def one_file(self) -> Iterator[tuple[str, Run]]:
        """All cases in one file, from the first run on."""
        write_cases(self.folder, self.count)
        yield "collected", self._pytest("--collect-only")
        yield "first run", self._pytest()
        yield "answers accepted", self._pytest("--fc-accept")
        yield "compared with them", self._pytest()
        yield "reports in HTML and JSON", self._pytest("--fc-report=html:report.html", "--fc-report=json:report.json")
        (self.folder / "app.py").write_text(_SOMETIMES_WRONG)
        yield "1 of 1,000 fails", self._pytest("-p", "cacheprovider", "--tb=no")
        yield "`--lf`", self._pytest("-p", "cacheprovider", "--tb=no", "--lf")

    def replayed(self) -> Iterator[tuple[str, Run]]:
        """The same cases under a model whose replies are recorded."""
        write_cases(self.folder, self.count)
        run(self.environment.python("-c", _STORED), self.folder)
        yield "replayed", run(self.environment.pytest("--fc-model=openai:exam", "many.fc.yaml"), self.folder)

    def many_files(self) -> Iterator[tuple[str, Run]]:
        """The cases in files of a hundred."""
        write_case_files(self.folder, self.count, _IN_A_FILE)
        yield "files of 100: collected", self._pytest("--collect-only", cases=".")
        yield "files of 100: answers accepted", self._pytest("--fc-accept", cases=".")
        changed = self.folder / "cases_7.fc.yaml"
        changed.write_text(changed.read_text().replace("What is", "How is"))
        yield "files of 100: one changed file", self._pytest(cases=changed.name)

    def _pytest(self, *options: str, cases: str = "many.fc.yaml") -> Run:
        return run(self.environment.pytest(ASK, *options, cases), self.folder, _ENDED)


PARTS: Final[tuple[Callable[[Project], Iterator[tuple[str, Run]]], ...]] = (
    Project.functions,
    Project.one_file,
    Project.replayed,
    Project.many_files,
)


def scale(folder: Path, _: int) -> None:
    """Print the phases, then imports, then stored answers."""
    os.environ.pop("CI", None)  # nobody accepts answers there
    checkout = of_checkout()
    checkout.pip("install", "--quiet", "jinja2")  # the extra `report`
    _print_phases(folder, checkout)
    _print_imports(folder, checkout)
    print_answers(folder, 1_000_000)


def _print_phases(folder: Path, checkout: Environment) -> None:
    floor = bare(checkout)
    floors: dict[str, Run] = {}
    print(f"### {MANY:,} cases in one process\n")
    print(f"| phase | CPU s | ÷ functions | ÷ {FEW:,} cases | peak MB | ÷ functions |")
    print("|---|---|---|---|---|---|", flush=True)
    for part in PARTS:
        sizes = [Project(folder / f"{part.__name__}_{count}", checkout, floor, count) for count in (FEW, MANY)]
        for each in sizes:
            each.folder.mkdir()
        for (name, few), (_, many) in zip(*map(part, sizes), strict=True):
            kind = "collected" if "collected" in name else "run"
            if part is Project.functions:
                floors[kind] = many
            cpu, memory = many.cpu / floors[kind].cpu, many.rss / floors[kind].rss
            figures = f"{many.cpu:.1f} | {cpu:.2f} | {many.cpu / few.cpu:.1f} | {many.rss:.0f} | {memory:.2f}"
            print(f"| {name} | {figures} |", flush=True)


def _print_imports(folder: Path, environment: Environment) -> None:
    print(f"\n### {MANY:,} traces imported\n\n| log | CPU s | peak MB |\n|---|---|---|", flush=True)
    for title, line in LOGS.items():
        write_log(folder / "log.jsonl", line, MANY)
        name = title.partition(" ")[0]
        taken = run(environment.python(*_FCALL, "import", "log.jsonl", "--out", f"out-{name}"), folder)
        print(f"| {title} | {taken.cpu:.1f} | {taken.rss:.0f} |", flush=True)
