"""Conversations are judged as the official checker judges them, which carries out every call on its own classes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.answers import AnswerForm
from pytest_fcall.suites.bfcl.multi_turn.conversations import CheckerProcess, MultiTurnJudge, parse_truth
from tests.conformance.conftest import Held
from tests.conformance.generated.trajectories import Conversation, as_said, changed, without_a_turn
from tests.conformance.official.client import PYTHON, Answer, OfficialJudge, Question, Style
from tests.conformance.official.conversations import PACKAGES, read_conversations

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the official checker is not installed: make conformance")

STYLES: Sequence[Style] = ("fc", "prompt", "calls")
FORMS: dict[Style, AnswerForm] = {"fc": "fc", "prompt": "prompt", "calls": "decoded"}


@pytest.fixture(scope="module")
def official(held: Held) -> Iterator[OfficialJudge]:
    with OfficialJudge() as judge:
        yield judge
    held(
        "BFCL", "verdict and error type of conversations", "the official checker, on changed right answers", judge.asked
    )


@pytest.fixture(scope="module")
def conversations() -> Sequence[Conversation]:
    return read_conversations()


@pytest.fixture(scope="module")
def judged(conversations: Sequence[Conversation], every: int) -> Sequence[Conversation]:
    """One in five by day, of each category."""
    return conversations[:: min(every, 5)]


@pytest.fixture(scope="module")
def bench() -> Iterator[CheckerProcess]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
        yield CheckerProcess()


def seeded(number: int) -> Random:
    return Random(number)  # noqa: S311  the same changes each time


def ours(conversation: Conversation, said: object, style: Style, bench: CheckerProcess) -> Verdict:
    """Our verdict on what was said, read from JSON as the official one is."""
    row = {**conversation.entry, "ground_truth": [*conversation.truth]}
    return MultiTurnJudge(row, parse_truth(row), bench).verdict_on_result(json.loads(json.dumps(said)), FORMS[style])


def official_answer(conversation: Conversation, said: object, style: Style, official: OfficialJudge) -> Answer:
    category = conversation.entry["category"]
    return official.answer(Question(category, [], conversation.truth, style, said, entry=conversation.entry))


def test_there_are_800_conversations(conversations: Sequence[Conversation]) -> None:
    assert len(conversations) == 800


def test_every_ground_truth_passes_as_it_stands_and_as_native_calls(
    judged: Sequence[Conversation], bench: CheckerProcess
) -> None:
    for conversation in judged:
        assert ours(conversation, [[[*turn]] for turn in conversation.truth], "calls", bench).valid
        assert ours(conversation, as_said(conversation.right(), "fc"), "fc", bench).valid


def test_every_ground_truth_fails_without_the_calls_of_a_turn(
    judged: Sequence[Conversation], bench: CheckerProcess
) -> None:
    for number, conversation in enumerate(judged):
        said = as_said(without_a_turn(conversation, seeded(number)), "fc")
        verdict = ours(conversation, said, "fc", bench)
        assert verdict.error_type == "multi_turn:empty_turn_model_response"


def test_every_ground_truth_fails_without_one_of_its_calls_and_for_the_same_reason(
    judged: Sequence[Conversation], official: OfficialJudge, bench: CheckerProcess
) -> None:
    """One call whose loss is seen: some right calls change nothing that anybody looks at."""
    for conversation in judged:
        found = next(_failing(conversation, bench))
        said, verdict = found
        answer = official_answer(conversation, said, "fc", official)
        assert (verdict.valid, verdict.error_type) == (answer.valid, answer.error_type)


def _failing(conversation: Conversation, bench: CheckerProcess) -> Iterator[tuple[object, Verdict]]:
    """What is left when a call is taken out of a turn of several, else any call, and our verdict: those that fail."""
    places = [(turn, call) for turn, calls in enumerate(conversation.truth) for call in range(len(calls))]
    for turn, call in sorted(places, key=lambda place: len(conversation.truth[place[0]]) < 2):
        trajectory = conversation.right()
        reply = trajectory[turn][0]
        assert isinstance(reply, list)
        reply.pop(call)
        said = as_said(trajectory, "fc")
        verdict = ours(conversation, said, "fc", bench)
        if not verdict.valid:
            yield said, verdict


@given(seed=st.integers(0, 2**32), style=st.sampled_from(STYLES))
def test_both_judges_say_the_same_of_what_was_changed(
    seed: int, style: Style, conversations: Sequence[Conversation], official: OfficialJudge, bench: CheckerProcess
) -> None:
    random = seeded(seed)
    conversation = random.choice(conversations)
    said = as_said(changed(conversation, random), style)
    answer = official_answer(conversation, said, style, official)
    verdict = ours(conversation, said, style, bench)
    note(f"{conversation.entry['id']}: {said}\nofficial: {answer}\nours: {verdict.error_type} {verdict.reasons}")
    assert (verdict.valid, verdict.error_type) == (answer.valid, answer.error_type)


@pytest.mark.parametrize("said", ["Error during inference: 429", None, {}, 7])
def test_what_is_no_list_of_turns_is_an_error_of_the_inference(
    said: object, conversations: Sequence[Conversation], official: OfficialJudge, bench: CheckerProcess
) -> None:
    answer = official_answer(conversations[0], said, "fc", official)
    assert answer.error_type == "multi_turn:inference_error"
    assert ours(conversations[0], said, "fc", bench).error_type == answer.error_type


def test_the_verdict_does_not_depend_on_what_was_judged_before(
    conversations: Sequence[Conversation], bench: CheckerProcess
) -> None:
    """The official checker keeps its instances, so that a second look finds them changed."""
    chosen = [(each, as_said(changed(each, seeded(number)), "fc")) for number, each in enumerate(conversations[::20])]
    first = [ours(each, said, "fc", bench) for each, said in chosen]
    assert [ours(each, said, "fc", bench) for each, said in reversed(chosen)] == first[::-1]
