"""The rooms whose mistakes must not go unseen, and the tests that look at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.operators import Mutant, mutants_of


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of the package, and the folder of its own tests."""

    package: str
    tests: str
    others: tuple[str, ...] = ()
    """Tests elsewhere that run through the room, too."""

    def mutants(self, project: Path) -> Iterator[Mutant]:
        """Make every mutant of every module."""
        for path in sorted((project / self.package).rglob("*.py")):
            module = ".".join(path.relative_to(project).with_suffix("").parts)
            yield from mutants_of(module, path.read_text("utf-8"))


ROOMS = {
    "matching": Room(
        "pytest_fcall/matching",
        "tests/unit/matching",
        (
            *("tests/unit/session", "tests/unit/conversation", "tests/integration/test_option_fc_judge.py"),
            *("tests/integration/test_faulty_results.py", "tests/integration/test_faults_in_environments.py"),
            "tests/unit/test_operators_page.py",
        ),
    ),
    "tracking": Room(
        "pytest_fcall/tracking",
        "tests/unit/tracking",
        ("tests/unit/session", "tests/integration/test_baseline.py", "tests/integration/test_option_fc_baseline.py"),
    ),
    "dispatch": Room(
        "pytest_fcall/backends/dispatch",
        "tests/unit/backends/dispatch",
        ("tests/integration/test_option_fc_concurrency.py", "tests/integration/test_option_fc_rpm.py"),
    ),
}
