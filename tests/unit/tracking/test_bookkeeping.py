from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.bookkeeping import (
    AcceptedAnswer,
    Bookkeeping,
    measurement_path,
    parse_bookkeeping,
    read_bookkeeping,
    read_measurement,
    write_bookkeeping,
    write_measurement,
)
from pytest_fcall.tracking.measurement import Key, Measurement

MEASURED = Measurement("oslo", Key("q1", "p1", "e1"), Rate(1, 1), until="0")
COUNTS = st.lists(st.integers(0, 10**11), min_size=4, max_size=4).filter(any)
"""Of first answers those that were right and those that were wrong, and of further ones."""
RATES = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)).map(lambda counts: Rate(counts[0], sum(counts)))
LINES = st.builds(
    lambda case, key, counts, ways, until, variants: Measurement(
        case,
        key,
        Rate(counts[0] + counts[2], sum(counts)),
        ways,
        until,
        Rate(counts[2], counts[2] + counts[3]),
        variants,
    ),
    case=st.text(min_size=1, max_size=8),
    key=st.builds(Key, *[st.text(max_size=8)] * 3),
    counts=COUNTS,
    ways=st.frozensets(st.text(max_size=8), max_size=3),
    until=st.text(max_size=8),
    variants=st.dictionaries(st.text(max_size=8), RATES, max_size=2),
)


class TestMeasurements:
    """How often cases were right."""

    @given(st.lists(LINES, min_size=1, max_size=5, unique_by=lambda each: each.case), st.randoms())
    def test_equal_measurements_give_equal_bytes_and_come_back(
        self, tmp_path_factory: pytest.TempPathFactory, measured: list[Measurement], random: object
    ) -> None:
        folder = tmp_path_factory.mktemp("any")
        write_measurement(folder / "a", measured)
        write_measurement(folder / "b", reversed(measured))
        assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
        assert (folder / "a").read_bytes().count(b"\n") == len(measured)
        assert read_measurement(folder / "a") == {each.case: each for each in measured}

    def test_it_lies_beside_the_baseline(self) -> None:
        assert measurement_path(Path("__fcall__/m/a.fc.yaml.accepted")) == Path("__fcall__/m/a.fc.yaml.measured.jsonl")

    def test_what_was_measured_by_no_run_of_which_anything_is_kept_is_older_than_all_runs(self, tmp_path: Path) -> None:
        write_measurement(tmp_path / "a", [Measurement("oslo", Key("q1", "p1", "e1"), Rate(1, 1))])
        assert read_measurement(tmp_path / "a")["oslo"].until < "0"

    def test_without_measurements_there_is_no_file(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "a.measured.jsonl"
        assert read_measurement(path) == {}
        write_measurement(path, [])
        assert not path.exists()
        write_measurement(path, [MEASURED])
        write_measurement(path, [])
        assert not path.exists()

    def test_lines_that_cannot_be_read_are_passed_over(self, tmp_path: Path) -> None:
        path = tmp_path / "a.measured.jsonl"
        write_measurement(path, [MEASURED])
        (line,) = path.read_text("utf-8").splitlines()
        fields = json.loads(line)
        damaged: list[dict[str, object]] = [
            {"right": -1},
            {"right": 2},
            {"asked": 0, "right": 0},
            {"asked": "1"},
            {"asked": 1.5},
            {"right": True},
            {"right": 10**400, "asked": 10**400},
            {"case": None},
            {"question": 7},
            {"ways": ["a", 1]},
            {"ways": "ab"},
            {"until": None},
            {"again": 1},
            {"again": [1]},
            {"again": ["1", "1"]},
            {"again": [0, 2]},
            {"again": [2, 1]},
            {"again": [-1, 0]},
            {"prompt": 7},
            {"expectation": None},
            {"variants": 1},
            {"variants": {"typos": 1}},
            {"variants": {"typos": [1]}},
            {"variants": {"typos": [-1, 1]}},
            {"variants": {"typos": [2, 1]}},
            {"variants": {"typos": [0, 0]}},
            {"variants": {"typos": ["1", "1"]}},
            {"variants": {"typos": [True, True]}},
            {"variants": {"typos": [1, 10**13]}},
        ]
        lines = [json.dumps({**fields, "case": f"c{number}", **each}) for number, each in enumerate(damaged)]
        content = "\n".join(
            [*lines, "", "[1]", "7", "null", '{"case": "x"', "[" * 100_000, line, "9" * 5_000, "\ufffd"]
        )
        assert parse_bookkeeping(content.encode() + b"\xff\xfe\n").measured == {"oslo": MEASURED}

    def test_of_both_sides_of_a_conflict_the_later_counts(self) -> None:
        def line(**fields: object) -> str:
            own = {"case": "oslo", "right": 1, "asked": 2, "question": "q", "prompt": "p", "expectation": "e"}
            return json.dumps({**own, **fields})

        sides = [line(until="2", asked=5), line(until="1", asked=9)]
        for ours, theirs in (sides, sides[::-1]):
            text = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n{line(case='rome', until='1')}\n"
            found = parse_bookkeeping(text.encode()).measured
            assert {case: measured.rate for case, measured in found.items()} == {"oslo": (1, 5), "rome": (1, 2)}


class TestAcceptedAnswers:
    """What is kept of accepted answers."""

    def test_what_cases_have_alike_is_written_once(self, tmp_path: Path) -> None:
        path = tmp_path / "a.measured.jsonl"
        tools = {f"tool:t{number}": "0a1b" for number in range(10)}
        kept = {case: answer("d1", digests={**tools, "prompt": case}, provenance={"date": "today"}) for case in "abc"}
        write_bookkeeping(path, Bookkeeping({}, {case: {"d1": each} for case, each in kept.items()}))

        assert path.read_text("utf-8").count("tool:t7") == path.read_text("utf-8").count("today") == 1
        assert {case: each["d1"] for case, each in read_bookkeeping(path).accepted.items()} == kept

    def test_measurements_and_answers_are_written_without_each_other(self, tmp_path: Path) -> None:
        path = tmp_path / "a.measured.jsonl"
        write_bookkeeping(path, Bookkeeping({}, {"rome": {"d1": answer("d1")}}))
        write_measurement(path, [MEASURED])

        assert read_bookkeeping(path) == Bookkeeping({"oslo": MEASURED}, {"rome": {"d1": answer("d1")}})

    def test_without_what_is_common_nothing_else_is_lost(self, tmp_path: Path) -> None:
        path = tmp_path / "a.measured.jsonl"
        kept = answer("d1", digests={"system": "0a", "prompt": "1b"}, since="today")
        write_bookkeeping(path, Bookkeeping({}, {"oslo": {"d1": kept}}))
        _, line = path.read_bytes().splitlines()

        found = parse_bookkeeping(line).answer("oslo", "d1").unreviewed
        assert (found["digests"], found["since"]) == ({"prompt": "1b"}, "today")

    @pytest.mark.parametrize(
        "accepted",
        [1, {}, {"answer": 1}, {"answer": "d1", "before": "d0"}, {"answer": "d1", "digests": 1},
         {"answer": "d1", "since": 7}, {"answer": "d1", "samples": [2, 1]}, {"answer": "d1", "wire": {}}],
    )  # fmt: skip
    def test_an_answer_that_cannot_be_read_is_passed_over(self, accepted: object) -> None:
        assert not parse_bookkeeping(json.dumps({"case": "oslo", "accepted": accepted}).encode()).accepted

    @pytest.mark.parametrize(
        ("new", "old", "replaces"),
        [
            (("d1", "d0"), ("d0",), True),
            (("d0",), ("d1", "d0"), False),
            (("d2", "d1", "d0"), ("d0",), True),
            (("d2", "d1", "d0"), ("d1", "d0"), True),
            (("d1", "d0"), ("d2", "d0"), False),
            (("d0", "d1", "d0"), ("d1", "d0"), True),
            (("d1", "d0"), ("d0", "d1", "d0"), False),
            (("d1", "d2", "d0"), ("d2", "d1", "d0"), False),
            (("d1",), ("d2",), False),
        ],
    )
    def test_an_answer_replaces_those_that_it_came_from(
        self, new: tuple[str, ...], old: tuple[str, ...], replaces: bool
    ) -> None:
        one, other = (AcceptedAnswer(digest, before) for digest, *before_ in (new, old) for before in [tuple(before_)])
        assert one.replaces(other) is replaces

    def test_an_answer_that_was_chosen_replaces_the_other_and_all_that_both_came_from(self) -> None:
        loser, base = AcceptedAnswer("d2", ("d0",)), AcceptedAnswer("d0")
        chosen = AcceptedAnswer("d1", ("d9", "d0")).instead_of([loser])
        assert all(map(chosen.replaces, (loser, base, AcceptedAnswer("d9", ("d0",)))))

    def test_only_the_newest_replaced_answers_are_remembered(self) -> None:
        kept = AcceptedAnswer("d0")
        for number in range(1, 30):
            kept = AcceptedAnswer(f"d{number}").instead_of([kept])
        assert kept.before[:2] == ("d28", "d27")
        assert len(kept.before) == 10
        assert kept.replaces(AcceptedAnswer("d22", tuple(f"d{number}" for number in range(21, 11, -1))))


def answer(digest: str, **fields: object) -> AcceptedAnswer:
    read = {"samples": None, "since": None, "judged": False, "digests": {}, "provenance": {}, **fields}
    return AcceptedAnswer(digest, unreviewed=read)  # type: ignore[arg-type]  # of any types
