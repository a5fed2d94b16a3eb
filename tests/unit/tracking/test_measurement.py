from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.measurement import (
    CaseEvidence,
    Key,
    Measurement,
    RunVerdict,
    Standing,
    evidence_of,
    failure_way,
    updated_measurement,
)
from pytest_fcall.tracking.stanza import Stanza

KEY = Key("q1", "p1", "e1")
OTHER_TOOLS = replace(KEY, question="q2")
OTHER_PROMPT = Key("q3", "p3", "e1")
OTHER_EXPECTATION = replace(KEY, expectation="e2")
NOTHING = Rate(0, 0)


def verdict(
    run: str, right: int, asked: int = 1, standing: Standing = "sound", key: Key = KEY, way: str | None = None
) -> RunVerdict:
    found = way if way is not None else "" if right else "way"
    return RunVerdict("oslo", key, Rate(right, asked), standing, found, is_known=bool(found), run=run)


MEASURED = Measurement("oslo", KEY, Rate(1, 1), until="0")


class TestEvidence:
    """What earlier runs say of a case."""

    def test_later_runs_count_with_the_measurement(self) -> None:
        found = evidence_of(MEASURED, [verdict("0", 0), verdict("1", 1), verdict("2", 2, 3)], KEY)
        assert found == CaseEvidence(Rate(4, 5), NOTHING, frozenset(), Rate(4, 5))

    def test_the_first_answers_of_each_run_are_known_apart_from_those_that_were_asked_for_again(self) -> None:
        again = replace(verdict("1", 1, 3), again=Rate(1, 2))
        doubtful = replace(verdict("2", 0, 4, "undecided"), again=Rate(0, 3))
        lost = replace(verdict("3", 0, 8, "regressed"), again=Rate(0, 7))
        found = evidence_of(replace(MEASURED, rate=Rate(5, 8), again=Rate(1, 3)), [again, doubtful, lost], KEY)
        assert (found.before, found.first) == ((6, 11), (4, 5 + 1 + 1))

    def test_ways_of_failing_count_where_the_run_excused_them(self) -> None:
        failed = verdict("1", 0, way="a")
        assert evidence_of(MEASURED, [failed, replace(failed, way="b", is_known=False)], KEY).ways == {"a"}

    def test_answers_in_doubt_are_continued_by_the_next_run(self) -> None:
        doubtful = [verdict("1", 0, 3, "undecided"), verdict("2", 0, 2, "undecided")]
        assert evidence_of(MEASURED, doubtful, KEY) == CaseEvidence(Rate(1, 1), Rate(0, 5), frozenset(), Rate(1, 6))

    def test_answers_in_doubt_count_once_a_later_run_finds_the_case_sound(self) -> None:
        runs = [verdict("1", 0, 3, "undecided"), verdict("2", 1), verdict("3", 0, 2, "undecided")]
        assert evidence_of(MEASURED, runs, KEY) == CaseEvidence(Rate(2, 5), Rate(0, 2), frozenset(), Rate(2, 7))

    def test_answers_by_which_a_case_regressed_never_count_and_are_continued_until_it_is_mended(self) -> None:
        lost = [verdict("1", 0, 2, "undecided"), verdict("2", 0, 9, "regressed")]
        assert evidence_of(MEASURED, lost, KEY) == CaseEvidence(Rate(1, 1), Rate(0, 11), frozenset(), Rate(1, 3))
        mended = evidence_of(MEASURED, [lost[1], verdict("3", 1)], KEY)
        assert mended == CaseEvidence(Rate(2, 2), NOTHING, frozenset(), Rate(2, 2))

    def test_answers_that_were_judged_otherwise_than_the_accepted_one_never_count(self) -> None:
        """A run calls a case edited, too, whose judge changed: the key says nothing of it."""
        found = evidence_of(MEASURED, [verdict("1", 0, 3, "edited"), verdict("2", 1)], KEY)
        assert (found.before, found.first, found.ways) == (Rate(2, 2), Rate(2, 2), frozenset())

    @pytest.mark.parametrize("key", [OTHER_PROMPT, OTHER_EXPECTATION])
    def test_answers_to_an_edited_case_say_nothing(self, key: Key) -> None:
        found = evidence_of(MEASURED, [verdict("1", 0, 9, key=key)], KEY)
        assert found == CaseEvidence(Rate(1, 1), NOTHING, frozenset(), Rate(1, 1))

    def test_answers_to_a_changed_question_are_those_that_the_run_continues(self) -> None:
        runs = [verdict("1", 1), verdict("2", 0, 3, key=OTHER_TOOLS), verdict("3", 1, key=replace(KEY, question="q9"))]
        assert evidence_of(MEASURED, runs, OTHER_TOOLS) == CaseEvidence(Rate(2, 2), Rate(0, 3), frozenset(), Rate(2, 2))
        assert evidence_of(MEASURED, runs, KEY) == CaseEvidence(Rate(2, 2), NOTHING, frozenset(), Rate(2, 2))


def accepted(
    before: Measurement | None, earlier: Sequence[RunVerdict], now: RunVerdict, *, is_app: bool = False
) -> Measurement:
    return updated_measurement(before, earlier, now, accepted=True, is_app=is_app)


def left(before: Measurement | None, earlier: Sequence[RunVerdict], now: RunVerdict) -> Measurement:
    return updated_measurement(before, earlier, now, accepted=False, is_app=False)


class TestRemeasured:
    """What accepting a run makes of the measurement."""

    @pytest.mark.parametrize("by_person", [True, False])
    def test_sound_answers_are_added_whether_they_are_accepted_or_not(self, by_person: bool) -> None:
        found = updated_measurement(
            MEASURED, [verdict("1", 0, way="a")], verdict("2", 1), accepted=by_person, is_app=False
        )
        assert found == Measurement("oslo", KEY, Rate(2, 3), frozenset("a"), "2")

    def test_the_same_run_accepted_twice_changes_nothing(self) -> None:
        once = accepted(MEASURED, [], verdict("1", 0))
        assert accepted(once, [verdict("1", 0)], verdict("1", 0)) == once

    def test_an_older_run_changes_nothing(self) -> None:
        runs = [verdict("1", 0), verdict("2", 1), verdict("3", 1)]
        newest = accepted(MEASURED, runs, runs[-1])
        assert accepted(newest, runs, runs[0]) == newest

    def test_a_part_that_is_not_accepted_leaves_what_is_in_doubt_alone(self) -> None:
        assert left(MEASURED, [], verdict("1", 0, 4, "undecided")) is MEASURED
        assert left(MEASURED, [], verdict("1", 0, 4, "regressed")) is MEASURED

    def test_a_regression_that_is_accepted_is_the_measurement_from_then_on(self) -> None:
        lost = verdict("2", 0, 4, "regressed", way="a")
        assert accepted(MEASURED, [verdict("1", 1)], lost) == Measurement("oslo", KEY, Rate(0, 4), frozenset("a"), "2")

    @pytest.mark.parametrize("key", [OTHER_TOOLS, OTHER_PROMPT, OTHER_EXPECTATION])
    def test_another_question_is_measured_with_all_answers_to_it_once_it_is_accepted(self, key: Key) -> None:
        earlier = [verdict("1", 1), verdict("2", 0, key=key, way="a"), verdict("3", 0, 2, "regressed", key, "b")]
        now = verdict("4", 1, key=key)
        assert left(MEASURED, earlier, now) is MEASURED
        assert accepted(MEASURED, earlier, now) == Measurement("oslo", key, Rate(1, 4), frozenset("ab"), "4")

    def test_the_last_of_several_attempts_is_not_measured_alone(self) -> None:
        attempts = [verdict("1", 0), verdict("2", 0)]
        assert accepted(None, attempts, verdict("3", 1)).rate == (1, 3)

    def test_what_was_asked_for_again_is_measured_apart(self) -> None:
        flaky = replace(verdict("1", 1, 3, way="a"), again=Rate(1, 2))
        assert accepted(None, [flaky], verdict("2", 1)).again == (1, 2)
        added = accepted(MEASURED, [], flaky)
        assert (added.again, added.first) == ((1, 2), (1, 2))

    def test_attempts_of_an_app_count_only_where_its_code_was_the_same(self) -> None:
        same, other = replace(verdict("1", 0), revision="r1"), replace(verdict("2", 0), revision="r2")
        now = replace(verdict("4", 1), revision="r1")
        assert accepted(None, [same, other, verdict("3", 0)], now, is_app=True).rate == (1, 2)
        assert accepted(None, [same], verdict("4", 1), is_app=True).rate == (1, 1)

    def test_recordings_count_once(self) -> None:
        replayed = replace(verdict("1", 1), rate=NOTHING)
        once = accepted(None, [], replayed)
        assert once == Measurement("oslo", KEY, Rate(1, 1), until="1")
        assert accepted(once, [], replace(replayed, run="2")).rate == (1, 1)
        assert accepted(None, [], replace(verdict("1", 0), rate=NOTHING)).rate == (0, 1)

    def test_answers_to_variants_are_those_of_the_last_accepted_run_that_asked_any(self) -> None:
        typos, order = {"typos": Rate(2, 3)}, {"order": Rate(1, 1)}
        first = accepted(MEASURED, [], replace(verdict("1", 1), variants=typos))
        then = accepted(first, [], verdict("2", 1))
        last = accepted(then, [], replace(verdict("3", 1), variants=order))
        assert [each.variants for each in (first, then, last)] == [typos, typos, order]
        assert (last.rate, last.until) == ((4, 4), "3")

    def test_answers_to_variants_that_are_not_accepted_change_nothing(self) -> None:
        varied = replace(verdict("1", 1), variants={"typos": Rate(0, 3)})
        assert left(MEASURED, [], varied) == Measurement("oslo", KEY, Rate(2, 2), until="1")
        assert left(replace(MEASURED, variants={"order": Rate(1, 1)}), [], varied).variants == {"order": (1, 1)}

    def test_answers_to_variants_of_another_question_are_forgotten(self) -> None:
        before = replace(MEASURED, variants={"typos": Rate(2, 3)})
        assert accepted(before, [], verdict("1", 1, key=OTHER_TOOLS)).variants == {}

    def test_a_case_that_fails_in_any_way_keeps_twenty_of_them(self) -> None:
        runs = [verdict(f"{number:03}", 0, way=f"{number:03}") for number in range(1, 40)]
        assert len(accepted(Measurement("oslo", KEY, Rate(1, 1), until="000"), runs, runs[-1]).ways) == 20


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)).filter(any), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=1, max_size=12),
)
def test_whatever_a_person_accepts_the_measurement_is_the_sum_of_all_runs_up_to_the_last_one(
    found: list[tuple[int, int]], acceptances: list[tuple[int, bool]]
) -> None:
    runs = [
        replace(verdict(str(number), right, right + wrong), again=Rate(max(right - 1, 0), max(right + wrong - 1, 0)))
        for number, (right, wrong) in enumerate(found, 1)
    ]
    measured: Measurement | None = None
    last = 0
    for place, by_person in acceptances:
        number = min(place, len(runs) - 1)
        measured = updated_measurement(measured, runs, runs[number], accepted=by_person, is_app=False)
        last = max(last, number + 1)

    assert measured is not None
    assert measured.rate == (sum(run.rate.right for run in runs[:last]), sum(run.rate.asked for run in runs[:last]))
    assert measured.first == (sum(run.first.right for run in runs[:last]), last)
    everything = evidence_of(measured, runs, KEY)
    assert everything.first == (sum(run.first.right for run in runs), len(runs))
    assert everything.before == (sum(run.rate.right for run in runs), sum(run.rate.asked for run in runs))


def way(*calls: Call, reasons: tuple[tuple[str, str], ...] = (("wrong_value", "calls[0]"),)) -> str:
    return failure_way(Stanza("oslo", valid=False, reasons=reasons, calls=calls))


class TestWays:
    """When two failures are the same."""

    @pytest.mark.parametrize("name", ["get_weather", "jira__search", "readFile", "shop.list_orders", "lookup", "find"])
    def test_values_say_nothing_where_a_tool_only_reads(self, name: str) -> None:
        assert way(Call(name, {"city": "Rome"})) == way(Call(name, {"city": "Bern"}))
        assert way(Call(name, {"city": "Rome"})) != way(Call(name, {"town": "Rome"}))

    @pytest.mark.parametrize("name", ["send_money", "getaway", "forget_user", "delete_all", "listen", "readjust"])
    def test_values_say_something_where_a_tool_may_do_something(self, name: str) -> None:
        assert way(Call(name, {"to": "Ana"})) != way(Call(name, {"to": "Eve"}))
        assert way(Call(name, {"to": "Ana"})) == way(Call(name, {"to": "Ana"}))

    def test_another_tool_another_number_of_calls_and_another_reason_are_another_failure(self) -> None:
        call = Call("get_weather", {})
        others = [way(), way(call, call), way(Call("delete_all", {})), way(call, reasons=(("no_call", "calls"),))]
        assert len({way(call), *others}) == 5

    def test_the_order_of_reasons_says_nothing(self) -> None:
        one, other = ("wrong_value", "a"), ("wrong_type", "b")
        assert way(reasons=(one, other)) == way(reasons=(other, one))

    def test_calls_that_could_not_be_read_or_cannot_be_said_are_failures_of_their_own(self) -> None:
        unread = failure_way(Stanza("oslo", valid=False, reasons=(("wrong_value", "calls[0]"),)))
        unsayable = way(Call("send_money", {"to": float("nan")}))
        assert len({"", unread, unsayable, way(), way(Call("send_money", {"to": "Ana"}))}) == 5

    def test_measurements_of_earlier_versions_are_those_of_the_same_questions_and_failures(self) -> None:
        assert Key.of({"prompt": "1", "expectation": "2"}) == Key("72e59229", "1", "2")
        assert way(Call("send_money", {"to": "Ana"})) == "8a25245a"

    def test_a_right_answer_fails_in_no_way(self) -> None:
        assert failure_way(Stanza("oslo", valid=True, calls=())) == ""
