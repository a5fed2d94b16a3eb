from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Json, Model
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.tracking import acceptance
from pytest_fcall.tracking.acceptance import (
    Acceptance,
    DamagedBaseline,
    RunMeasurement,
    accept,
    read_stanzas,
    remove_cases,
)
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.bookkeeping import measurement_path, read_measurement
from pytest_fcall.tracking.history import History
from pytest_fcall.tracking.measurement import Measurement
from pytest_fcall.tracking.renaming import move_case
from pytest_fcall.tracking.run_file import RunFile, run_id, runs_folder, write_run
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest, stanza_to_json
from tests.unit.tracking.stanzas import STANZAS

FIRST = Acceptance("2026-11-01", {"date": "2026-11-01", "commit": "0a1b"})
LATER = Acceptance("2026-11-21", {"date": "2026-11-21", "commit": "2c3d"})
RIGHT = Stanza("oslo", True, calls=(Call("get_weather", {"city": "Oslo"}, "call_1"),), digests={"prompt": "0a"})
WRONG = Stanza("rome", False, (("wrong_value", "calls[0].args.city"),), calls=())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "__fcall__" / "local-m" / "a.fc.yaml.accepted"


def test_other_cases_stay_as_they_are(path: Path) -> None:
    assert accept(path, [RIGHT], FIRST) == ["oslo"]
    assert accept(path, [WRONG], LATER) == ["rome"]

    kept = read_stanzas(path)
    assert [stanza.provenance["commit"] for stanza in kept.values()] == ["0a1b", "2c3d"]


def test_what_is_accepted_again_leaves_the_file_byte_for_byte(path: Path) -> None:
    accept(path, [RIGHT, WRONG], FIRST)
    files = (path, measurement_path(path))
    before = [(each.read_bytes(), each.stat().st_mtime_ns) for each in files]

    assert accept(path, [WRONG, RIGHT._replace(provenance={"engine": {"model": "m-2"}})], LATER) == []
    assert [(each.read_bytes(), each.stat().st_mtime_ns) for each in files] == before


def test_of_the_same_answer_that_was_right_more_often_there_is_nothing_to_review(path: Path) -> None:
    accept(path, [RIGHT._replace(samples=(4, 5)), WRONG], FIRST)
    before = path.read_bytes()

    assert accept(path, [RIGHT._replace(samples=(5, 5))], LATER) == []
    assert path.read_bytes() == before
    assert read_stanzas(path)["oslo"].rate == (5, 5)


@given(st.lists(STANZAS, unique_by=lambda stanza: stanza.case))
def test_accepting_twice_is_accepting_once(tmp_path_factory: pytest.TempPathFactory, stanzas: list[Stanza]) -> None:
    path = tmp_path_factory.mktemp("any") / "any.accepted"
    accept(path, stanzas, FIRST)
    before = path.read_bytes() if stanzas else b""

    assert accept(path, stanzas, LATER) == []
    assert (path.read_bytes() if stanzas else b"") == before


def test_stanzas_that_were_written_are_not_held_while_others_are(path: Path) -> None:
    def many(day: int) -> Iterator[Stanza]:
        for number in range(1000):
            call = Call("get_weather", {"city": f"City {number}", "days": day})
            yield RIGHT._replace(case=f"case_{number}", calls=(call,), digests={"prompt": f"{number:064}"})

    held: list[int] = []

    def write(_: Path, stanzas: Iterable[Stanza]) -> None:
        held.extend(tracemalloc.get_traced_memory()[0] for _ in stanzas)

    accept(path, many(1), FIRST)
    tracemalloc.start()
    try:
        with patch.object(acceptance, "write_baseline", write):
            accept(path, many(2), LATER)
    finally:
        tracemalloc.stop()
    assert len(held) == 1000
    assert held[-1] < held[0] / 2


def test_requests_of_an_app_are_the_same_in_whatever_order_their_parts_are_named(path: Path) -> None:
    first = StanzaRequest("m", (), {"tool:get_weather": "0a", "prompt": "1b"})
    second = StanzaRequest("m", (), {"system": "2c"})
    accept(path, [RIGHT._replace(wire=(first, second))], FIRST)

    assert accept(path, [RIGHT._replace(wire=(first, second))], LATER) == []


def test_of_a_question_that_changed_and_its_same_answer_there_is_nothing_to_review(path: Path) -> None:
    accept(path, [RIGHT], FIRST)
    before = path.read_bytes()

    assert accept(path, [RIGHT._replace(digests={"prompt": "0a", "system": "2b"})], LATER) == []
    assert path.read_bytes() == before
    kept = read_stanzas(path)["oslo"]
    assert (kept.digests, kept.provenance["date"]) == ({"prompt": "0a", "system": "2b"}, "2026-11-21")


@pytest.mark.parametrize("now", [1.0, True])
def test_arguments_that_only_python_finds_equal_are_accepted_anew(path: Path, now: Json) -> None:
    accept(path, [RIGHT._replace(calls=(Call("get_weather", {"days": 1}),))], FIRST)

    assert accept(path, [RIGHT._replace(calls=(Call("get_weather", {"days": now}),))], LATER) == ["oslo"]


def test_a_failure_is_known_since_it_was_first_accepted(path: Path) -> None:
    accept(path, [WRONG], FIRST, because="no such city")
    accept(path, [WRONG._replace(calls=None)], LATER)

    assert (read_stanzas(path)["rome"].since, read_stanzas(path)["rome"].because) == ("2026-11-01", "no such city")


def test_another_failure_is_known_since_now(path: Path) -> None:
    accept(path, [WRONG], FIRST, because="no such city")
    accept(path, [WRONG._replace(reasons=(("no_call", "calls"),))], LATER)

    assert (read_stanzas(path)["rome"].since, read_stanzas(path)["rome"].because) == ("2026-11-21", None)


def test_a_failure_without_a_reason_is_known_since_it_was_accepted(path: Path) -> None:
    accept(path, [RIGHT], FIRST)
    accept(path, [RIGHT._replace(valid=False)], LATER)

    assert read_stanzas(path)["oslo"].since == "2026-11-21"


def test_what_was_mended_is_no_longer_known_since_a_day(path: Path) -> None:
    accept(path, [WRONG], FIRST, because="no such city")
    accept(path, [Stanza("rome", True, calls=())], LATER)

    assert read_stanzas(path)["rome"].since is None


def test_cases_that_are_gone_are_forgotten(path: Path) -> None:
    accept(path, [RIGHT, WRONG], FIRST)

    written = path.read_bytes() + b"\n"
    path.write_bytes(written)
    assert remove_cases(path, lambda case: case == "nobody") == []
    assert path.read_bytes() == written
    assert remove_cases(path, lambda case: case == "rome") == ["rome"]
    assert list(read_stanzas(path)) == ["oslo"]
    remove_cases(path, lambda _: True)
    assert not path.exists()


def two_answers(path: Path, *others: Stanza) -> None:
    """A file to which two branches have added the same case, merged by git."""
    texts = []
    for stanza in (RIGHT, RIGHT._replace(calls=())):
        accept(path, [stanza, *others], FIRST)
        texts.append(path.read_text("utf-8").splitlines(keepends=True))
        path.unlink()
    path.write_text("".join([*texts[0], *texts[1][1:]]), "utf-8")


def test_nothing_is_written_to_a_file_with_two_answers_to_a_case(path: Path) -> None:
    two_answers(path)
    before = path.read_bytes()

    with pytest.raises(DamagedBaseline, match="two different answers are accepted to oslo"):
        accept(path, [WRONG], LATER)
    assert path.read_bytes() == before


def test_each_kind_of_damage_is_named_once_for_all_its_cases(path: Path) -> None:
    accept(path, [RIGHT, WRONG], FIRST)
    path.write_text(path.read_text("utf-8").replace(" 1 ", " 2 ").replace("no calls", "reply unreadable"), "utf-8")

    with pytest.raises(DamagedBaseline) as raised:
        read_stanzas(path)
    assert str(raised.value).splitlines() == ["the lines of oslo, rome were not accepted together"]


def test_each_fault_of_a_file_is_told_on_a_line_of_its_own(path: Path) -> None:
    two_answers(path, WRONG)
    path.write_text(path.read_text("utf-8").replace("rome no calls", "rome reply unreadable"), "utf-8")

    with pytest.raises(DamagedBaseline) as raised:
        read_stanzas(path)
    assert str(raised.value).splitlines() == [
        "two different answers are accepted to oslo",
        "the lines of rome were not accepted together",
    ]
    assert [fault.code for fault in raised.value.faults] == ["merge-conflict", "damaged-baseline"]


def test_an_acceptance_knows_its_day(tmp_path: Path) -> None:
    now = Acceptance.now(tmp_path, "0.1")

    assert now.provenance["date"] == now.day
    assert now.provenance["plugin"] == "0.1"


class TestMeasurement:
    """The measurement beside a baseline, when verdicts are accepted."""

    def run_of(self, *stanzas: Stanza, number: int = 1, model: str = "local:m", commit: str = "") -> RunFile:
        results = tuple(
            Result(
                f"a.fc.yaml::{stanza.case}",
                stanza.case,
                model,
                "passed" if stanza.valid else "failed",
                file="a.fc.yaml",
                stanza=json.dumps(stanza_to_json(stanza)),
                asked=stanza.rate.asked,
            )
            for stanza in stanzas
        )
        provenance = {"commit": commit}
        return RunFile(run_id(float(number)), "", results_to_json(Results(results)), provenance=provenance)

    @pytest.fixture
    def baseline(self, tmp_path: Path) -> Path:
        path = baseline_path(tmp_path / "a.fc.yaml", Model.by_id("local:m"))
        accept(path, [RIGHT], FIRST)
        return path

    def add(self, root: Path, baseline: Path, run: RunFile, *accepted: str) -> Mapping[str, Measurement]:
        RunMeasurement(root, run, History(root)).add_to(baseline, accepted)
        return read_measurement(measurement_path(baseline))

    def test_all_cases_of_the_run_are_measured_and_those_of_other_runs_stay(
        self, tmp_path: Path, baseline: Path
    ) -> None:
        first = self.add(tmp_path, baseline, self.run_of(RIGHT, WRONG), "oslo")
        then = self.add(tmp_path, baseline, self.run_of(RIGHT._replace(samples=(2, 3)), number=2), "oslo")

        assert {case: each.rate for case, each in first.items()} == {"oslo": (1, 1), "rome": (0, 1)}
        assert {case: each.rate for case, each in then.items()} == {"oslo": (3, 4), "rome": (0, 1)}

    @pytest.mark.parametrize(
        ("model", "rate"), [("local:m", (1, 2)), ("python:shop:ask", (1, 1)), ("http:shop", (1, 1))]
    )
    def test_answers_of_an_app_count_only_where_its_code_was_the_same(
        self, tmp_path: Path, model: str, rate: tuple[int, int]
    ) -> None:
        baseline = baseline_path(tmp_path / "a.fc.yaml", Model.by_id(model))
        accept(baseline, [RIGHT], FIRST)
        first = self.run_of(RIGHT._replace(valid=False), model=model, commit="0a1b")
        write_run(runs_folder(tmp_path) / f"{first.id}.json", first)

        then = self.add(tmp_path, baseline, self.run_of(RIGHT, number=2, model=model, commit="2c3d"), "oslo")

        assert then["oslo"].rate == rate

    def test_the_same_run_leaves_the_file_byte_for_byte(self, tmp_path: Path, baseline: Path) -> None:
        run = self.run_of(RIGHT, WRONG)
        self.add(tmp_path, baseline, run, "oslo")
        target = measurement_path(baseline)
        before = target.read_bytes(), target.stat().st_mtime_ns

        self.add(tmp_path, baseline, run, "oslo")
        self.add(tmp_path, baseline, run)

        assert (target.read_bytes(), target.stat().st_mtime_ns) == before

    def test_without_a_baseline_nothing_is_measured(self, tmp_path: Path, baseline: Path) -> None:
        baseline.unlink()
        assert self.add(tmp_path, baseline, self.run_of(WRONG)) == {}

    def test_cases_that_are_gone_or_renamed_take_their_line_along(self, tmp_path: Path, baseline: Path) -> None:
        self.add(tmp_path, baseline, self.run_of(RIGHT, WRONG), "oslo")
        move_case(baseline, "oslo", baseline, "bergen")
        remove_cases(baseline, lambda case: case == "rome")
        (only,) = read_measurement(measurement_path(baseline)).values()
        assert (only.case, only.rate) == ("bergen", (1, 1))
