"""What docs/suites/apibench.md says of the constraints of APIBench is what is read from its files.

They are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fcall.core import Case
from pytest_fcall.suites.apibench.apis import entry_call
from pytest_fcall.suites.apibench.documented_figures import read_figures
from pytest_fcall.suites.apibench.files import HUBS, hub_files
from pytest_fcall.suites.apibench.judge import ApiJudge
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from tests.conformance.corpus import CORPUS

NATIVE = CORPUS / "native" / "apibench"
PAGE = (Path(__file__).parents[2] / "docs/suites/apibench.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([A-Z][\w ]+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of APIBench")


@pytest.mark.parametrize("hub", HUBS)
def test_so_many_documents_have_figures_that_can_be_read(hub: str) -> None:
    told = {name: tuple(map(int, counts)) for name, *counts in ROW.findall(PAGE)}
    figures = []
    for api in hub_files(hub, NATIVE).apis:
        call = entry_call(api.call)
        values = (*call.positional, *call.named.values()) if call else ()
        figures.append(read_figures(api.document, [value for value in values if isinstance(value, str)]))
    counts = (
        len(figures),
        sum(bool(each.accuracies) for each in figures),
        sum(bool(each.parameters) for each in figures),
    )
    assert told[HUBS[hub].program] == counts


def test_no_published_question_names_a_bound_and_two_compare() -> None:
    cases = [case for case in ApiBenchSuite().cases("", NATIVE) if isinstance(case, Case)]
    judges = [case.judge for case in cases]
    constraints = [judge.constraints for judge in judges if isinstance(judge, ApiJudge)]
    assert len(constraints) == len(cases) == 1775
    assert not any(each.known or each.unread for each in constraints)
    assert [case.id for case in cases if case.tags] == ["torchhub_30", "torchhub_52"]
    assert sum(each.compares for each in constraints) == 2
