from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pytest_fcall.core import Call, Json, Outcome
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.result_json import result_to_json, results_to_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.tracking.history import MOST_RUNS, History, verdicts_of
from pytest_fcall.tracking.measurement import Key, RunVerdict, failure_way
from pytest_fcall.tracking.run_file import RunFile, run_id, runs_folder, write_run
from pytest_fcall.tracking.stanza import Stanza, stanza_to_json

DIGESTS = {"prompt": "p1", "tool:get_weather": "t1", "expectation": "e1"}
RIGHT = Stanza("oslo", True, calls=(Call("get_weather", {"city": "Oslo"}),), digests=DIGESTS)
WRONG = RIGHT._replace(valid=False, reasons=(("wrong_value", "calls[0].args.city"),))


def row(stanza: Stanza, outcome: Outcome | None = None, *, replays: int = 0) -> Result:
    asked = stanza.rate.asked - replays
    return Result(
        "cases/a.fc.yaml::oslo",
        "oslo",
        "openai:m",
        "passed" if stanza.valid else "failed",
        file="cases/a.fc.yaml",
        outcome=outcome,
        stanza=json.dumps(stanza_to_json(stanza)),
        replayed=asked == 0,
        asked=asked,
    )


def run_of(*rows: Result, number: int = 1) -> RunFile:
    return RunFile(run_id(float(number)), "", results_to_json(Results(rows)))


def only_verdict(result: Result, provenance: Mapping[str, Json] | None = None) -> RunVerdict:
    ((name, found),) = verdicts_of(run_of(result)._replace(provenance=provenance or {}))
    assert name == ("cases/a.fc.yaml", "openai:m", "oslo")
    return found


def test_a_right_answer_is_one_of_one() -> None:
    expected = RunVerdict("oslo", Key.of(DIGESTS), Rate(1, 1), run=run_id(1.0))
    assert only_verdict(row(RIGHT, Outcome.OK)) == expected


def test_of_several_answers_all_count() -> None:
    assert only_verdict(row(WRONG._replace(samples=(3, 7)), Outcome.FLAKY)).rate == (3, 7)


def test_replayed_answers_count_nothing() -> None:
    found = only_verdict(row(WRONG._replace(samples=(0, 3)), replays=3))
    assert (found.rate, found.way) == (Rate(0, 0), failure_way(WRONG))


def test_of_replayed_answers_that_were_asked_again_the_new_ones_count() -> None:
    again = row(WRONG._replace(samples=(2, 4)), replays=1)
    found = only_verdict(again._replace(first=(0, 1)))
    assert (found.rate, found.first) == ((2, 3), (0, 0))
    assert only_verdict(again._replace(first=(0, 2))).rate == (0, 0)


def test_answers_that_were_asked_for_since_the_first_were_wrong_are_known_as_such() -> None:
    found = only_verdict(row(WRONG._replace(samples=(2, 4)), Outcome.FLAKY)._replace(first=(0, 1)))
    assert (found.rate, found.again, found.first) == ((2, 4), (2, 3), (0, 1))


def test_of_answers_that_do_not_fit_together_none_is_known_as_asked_for_again() -> None:
    several = row(WRONG._replace(samples=(3, 5)), Outcome.FLAKY)
    assert [only_verdict(several._replace(first=first)).again for first in [(1, 3), (4, 5), (0, 4), (1, 6)]] == [
        (2, 2),
        *[(0, 0)] * 3,
    ]


def test_a_wrong_answer_that_may_be_chance_is_undecided_whatever_its_outcome() -> None:
    found = only_verdict(row(WRONG, Outcome.KNOWN_FAILURE)._replace(may_be_chance=True))
    assert (found.standing, found.is_known) == ("undecided", True)


def test_of_several_answers_of_which_some_are_replayed_none_counts() -> None:
    assert only_verdict(row(WRONG._replace(samples=(2, 4)), replays=2)).rate == (0, 0)


@pytest.mark.parametrize(("replayed", "rate"), [(False, (0, 1)), (True, (0, 0))])
def test_of_a_run_that_does_not_say_how_many_it_asked_for_all_answers_count_or_none(
    replayed: bool, rate: tuple[int, int]
) -> None:
    fields = {**result_to_json(row(WRONG)), "replayed": replayed}
    del fields["asked"]
    ((_, found),) = verdicts_of(run_of()._replace(results={"results": [fields]}))
    assert found.rate == rate


@pytest.mark.parametrize(
    ("outcome", "standing", "is_known"),
    [
        (None, "sound", False),
        (Outcome.NEW, "sound", False),
        (Outcome.FLAKY, "sound", True),
        (Outcome.KNOWN_FAILURE, "sound", True),
        (Outcome.UNDECIDED, "undecided", False),
        (Outcome.REGRESSED, "regressed", False),
        (Outcome.EDITED, "edited", False),
    ],
)
def test_the_outcome_says_what_a_wrong_answer_counts_as(outcome: Outcome | None, standing: str, is_known: bool) -> None:
    found = only_verdict(row(WRONG, outcome))
    assert (found.standing, found.is_known, found.way) == (standing, is_known, failure_way(WRONG))


def with_variants(tried: Json) -> Sequence[RunVerdict]:
    """What is read of a run whose only row has these answers to variants."""
    fields = {**result_to_json(row(RIGHT)), "variants": {"first": True, "repeated": [], "tried": tried}}
    return [verdict for _, verdict in verdicts_of(run_of()._replace(results={"results": [fields]}))]


def test_answers_to_variants_are_added_up_by_relation() -> None:
    tried: Json = [["typos", 1, 0, 1, [], ""], ["typos", 2, 2, 3, [], ""], ["order", 1, 0, 2]]
    (found,) = with_variants(tried)
    assert found.variants == {"typos": (2, 4), "order": (0, 2)}


def test_answers_to_variants_that_cannot_be_counted_are_passed_over() -> None:
    broken: list[Json] = [7, [], ["a", 1, 2, 1], ["b", 1, -1, 1], ["c", 1, 0, 0], ["d", 1, 0, 10**13], [1, 1, 1, 1]]
    (found,) = with_variants([*broken, ["typos", 1, 1, 1]])
    assert found.variants == {"typos": (1, 1)}


@pytest.mark.parametrize("tried", [7, {"typos": 1}, "typos"])
def test_a_row_whose_variants_are_no_list_says_nothing(tried: Json) -> None:
    assert with_variants(tried) == []


@pytest.mark.parametrize(
    ("provenance", "revision"),
    [({"commit": "0a1b"}, "0a1b"), ({"commit": "0a1b", "dirty": True}, ""), ({"commit": 7}, ""), ({}, "")],
)
def test_the_revision_is_known_only_where_no_file_differed_from_it(provenance: dict[str, Json], revision: str) -> None:
    assert only_verdict(row(RIGHT), provenance).revision == revision


def test_the_key_is_that_of_the_question_without_what_is_expected_of_it() -> None:
    other_order = dict(reversed(DIGESTS.items()))
    assert Key.of(DIGESTS) == Key.of(other_order)
    assert Key.of(DIGESTS).question == Key.of({**DIGESTS, "expectation": "e2"}).question
    assert Key.of(DIGESTS).question != Key.of({**DIGESTS, "tool:get_weather": "t2"}).question
    assert not Key.of(DIGESTS).is_same_case(Key.of({**DIGESTS, "prompt": "p2"}))
    assert Key.of(DIGESTS).is_same_case(Key.of({**DIGESTS, "tool:get_weather": "t2"}))


def test_rows_that_say_nothing_are_passed_over() -> None:
    run, good = run_of(row(RIGHT)), result_to_json(row(RIGHT))
    rows: list[Json] = [7, {}, {**good, "stanza": None}, {**good, "stanza": {"case": 7}}, {**good, "outcome": 7}]
    found = verdicts_of(run._replace(results={"results": [*rows, good]}))
    assert [verdict.case for _, verdict in found] == ["oslo"]
    assert not list(verdicts_of(run._replace(results={"results": None})))


def write(folder: Path, *runs: RunFile) -> None:
    for run in runs:
        write_run(folder / f"{run.id}.json", run)


def rates(found: Sequence[RunVerdict]) -> list[tuple[str, Rate]]:
    return [(verdict.run, verdict.rate) for verdict in found]


def of_oslo(history: History) -> Sequence[RunVerdict]:
    return history.of("cases/a.fc.yaml", "openai:m", "oslo")


def test_the_runs_of_a_project_and_of_other_folders_are_in_the_order_of_time(tmp_path: Path) -> None:
    write(runs_folder(tmp_path), run_of(row(RIGHT), number=1), run_of(row(WRONG), number=3))
    write(tmp_path / "ci" / "deep" / "er", run_of(row(RIGHT), number=2), run_of(row(RIGHT), number=3))

    found = of_oslo(History(tmp_path, [tmp_path / "ci"]))

    assert rates(found) == [(run_id(1.0), (1, 1)), (run_id(2.0), (1, 1)), (run_id(3.0), (0, 1))]


def test_only_the_newest_runs_are_read(tmp_path: Path) -> None:
    runs = [run_of(row(RIGHT), number=number) for number in range(1, 2 * MOST_RUNS + 1)]
    write(runs_folder(tmp_path), *runs[::2])
    write(tmp_path / "ci", *runs[1::2])

    found = of_oslo(History(tmp_path, [tmp_path / "ci"]))

    assert [verdict.run for verdict in found] == [run.id for run in runs[-MOST_RUNS:]]


def test_other_files_models_and_cases_have_their_own(tmp_path: Path) -> None:
    write(runs_folder(tmp_path), run_of(row(RIGHT)))
    history = History(tmp_path)
    assert history.of("cases/b.fc.yaml", "openai:m", "oslo") == ()
    assert history.of("cases/a.fc.yaml", "openai:n", "oslo") == ()
    assert history.of("cases/a.fc.yaml", "openai:m", "rome") == ()


def test_files_that_are_no_runs_are_passed_over_and_listed(tmp_path: Path) -> None:
    write(runs_folder(tmp_path), run_of(row(RIGHT)))
    for name, content in {"0.json": b"{", "1.json": b"[]", "2.json": b"\xff", "3.json": b'{"fcall_run": 99}'}.items():
        (runs_folder(tmp_path) / name).write_bytes(content)

    history = History(tmp_path)

    assert history.unread == []
    assert len(of_oslo(history)) == 1
    assert [Path(line.split(":")[0]).name for line in history.unread] == ["0.json", "1.json", "2.json", "3.json"]


def test_without_runs_there_is_no_history(tmp_path: Path) -> None:
    assert of_oslo(History(tmp_path, [tmp_path])) == ()


def test_shards_do_not_count_beside_the_run_that_they_were_merged_to(tmp_path: Path) -> None:
    shard = run_of(row(RIGHT))._replace(id=f"{run_id(1.0)}-1of2")
    merged = run_of(row(RIGHT))._replace(parts=(shard.id,))
    for run in (shard, merged):
        write_run(runs_folder(tmp_path) / f"{run.id}.json", run)

    assert [each.rate for each in History(tmp_path).of("cases/a.fc.yaml", "openai:m", "oslo")] == [Rate(1, 1)]
