"""`fc_walls`: what becomes of called functions where the machine cannot hold them as it should."""

from __future__ import annotations

import pytest

from tests.integration.exam import Exam
from tests.unit.conversation.execution.test_attempts import HAS_LANDLOCK

pytestmark = pytest.mark.skipif(not HAS_LANDLOCK, reason="a machine that has no walls cannot be made to have less")


@pytest.fixture
def pears(exam: Exam) -> Exam:
    """A case whose function copies a file with all that belongs to it, and the project's own way to lose walls."""
    exam.shop.file(
        "pears.py",
        """
        import shutil
        from pathlib import Path


        def price(fruit: str) -> str:
            '''What a fruit costs.'''
            Path("one").write_text("2")
            shutil.copy2("one", "other")
            return f"{fruit}: {Path('other').read_text()}"
        """,
    )
    call = '[{"name": "price", "arguments": {"fruit": "pear"}}]'
    exam.shop.file(
        "cases/exam.fc.yaml",
        f"""
        tools: [python: pears]
        cases:
          - id: asks
            environment: python
            prompt: '{call}'
            expect: [price: {{fruit: pear}}]
            result: "pear: 2"
        """,
    )
    return exam


def machine_without(exam: Exam, *calls: str) -> None:
    names = ", ".join(map(repr, calls))
    exam.shop.file("conftest.py", f"from tests.refused_calls import refuse\n\nrefuse({names})\n")


def test_a_machine_with_all_walls_says_nothing_of_them(pears: Exam) -> None:
    result = pears.apart()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*called functions*")


def test_a_machine_that_cannot_hold_files_calls_nothing_and_says_what_would(pears: Exam) -> None:
    machine_without(pears, "landlock_create_ruleset")
    result = pears.apart()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*asks: the functions: this machine cannot hold called functions: its kernel does not hold files *; "
            "`fc_walls = weaker` calls them all the same"
        ]
    )


def test_weaker_walls_are_used_where_they_are_accepted_and_told(pears: Exam) -> None:
    machine_without(pears, "landlock_create_ruleset")
    result = pears.apart("-o", "fc_walls=weaker")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["called functions are held less well than they should be: its kernel does not hold files *"]
    )


def test_a_machine_without_namespaces_holds_as_well(pears: Exam) -> None:
    machine_without(pears, "unshare")
    result = pears.apart()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*called functions*")


def test_accepting_weaker_walls_weakens_none_that_stand(pears: Exam) -> None:
    result = pears.apart("-o", "fc_walls=weaker")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*called functions*")


def test_another_word_is_refused(pears: Exam) -> None:
    result = pears.run("-o", "fc_walls=none")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*fc_walls: 'none' is none of strict, weaker"])
