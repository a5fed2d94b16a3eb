"""Texts of variants that models write, and what must be in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Case
from pytest_fcall.core.variants import Unfit, WantedRelation
from pytest_fcall.variants.kept_texts import (
    KeptText,
    TextKey,
    digest_of,
    fault_of,
    move_texts,
    parse_text,
    read_texts,
    text_line,
    texts_path,
    variants_with_texts,
    write_texts,
)
from tests.unit.variants.conftest import case_of, prompt_of

CASE = case_of('prompt: Weather in Oslo for 3 days, for "Anna"?\nexpect: [{get_weather: {city: Oslo, days: 3}}]')
WANTED = WantedRelation("paraphrase", options={"by": "openai:writer?base_url=http://x"})
GOOD = 'How will Oslo be, "Anna" asks, in the next 3 days?'
KEPT = KeptText(TextKey("it", "paraphrase", "", 1), "openai:writer", digest_of(CASE), (GOOD,))


def test_a_kept_text_stands_for_what_the_user_says() -> None:
    (found,) = variants_with_texts(CASE, WANTED, {KEPT.key: KEPT})
    assert isinstance(found, Case)
    assert prompt_of(found) == GOOD


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        (None, "no text is kept"),
        (replace(KEPT, of="0"), "of an earlier prompt; --fc-new-texts"),
        (replace(KEPT, by="openai:other"), "by another model"),
        (replace(KEPT, texts=(GOOD, GOOD)), "of an earlier prompt"),
        (replace(KEPT, texts=("Weather?",)), "its text lacks '3'"),
    ],
)
def test_any_other_text_is_not_used(kept: KeptText | None, reason: str) -> None:
    (found,) = variants_with_texts(CASE, WANTED, {KEPT.key: kept} if kept else {})
    assert isinstance(found, Unfit)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD, ""),
        ('OSLO, 3 days, for "Anna"', ""),
        (" ", "is empty"),
        (GOOD + "!" * 500, "is much longer"),
        (GOOD + "\x1b[2J", "control characters"),
        (GOOD + "\u202e", "control characters"),
        (GOOD + "\u2028", "control characters"),
        (GOOD + "\ud800", "control characters"),
        (GOOD.replace("3", "three"), "lacks '3'"),
        (GOOD.replace('"Anna"', "Anna"), "lacks '\"Anna\"'"),
    ],
)
def test_what_a_model_wrote_is_held_against_what_the_answer_needs(text: str, fault: str) -> None:
    found = fault_of(CASE, prompt_of(CASE), text)
    assert fault in found
    assert bool(found) is bool(fault)


def test_texts_are_lines_that_people_can_review(tmp_path: Path) -> None:
    path = texts_path(tmp_path / "cases" / "a.fc.yaml")
    other = replace(KEPT, key=TextKey("it", "language", "nb", 2), texts=("Været i Oslo?",))
    write_texts(path, [KEPT])
    write_texts(path, [other, replace(KEPT, texts=("New",))])

    assert read_texts(path) == {KEPT.key: replace(KEPT, texts=("New",)), other.key: other}
    assert "Været i Oslo?" in path.read_text("utf-8")
    assert parse_text(text_line(other)) == other


def test_texts_follow_their_case(tmp_path: Path) -> None:
    old, new = tmp_path / "a", tmp_path / "b"
    other = replace(KEPT, key=KEPT.key._replace(case="other"))
    write_texts(old, [KEPT, other])

    assert move_texts(old, "it", new, "that") == 1
    assert [*read_texts(old)] == [other.key]
    assert [*read_texts(new)] == [KEPT.key._replace(case="that")]
    assert (move_texts(old, "other", new, "more"), old.exists()) == (1, False)
    assert move_texts(old, "gone", new, "more") == 0


@pytest.mark.parametrize("line", ["", "[]", "{", '{"case": 1}', "[" * 100_000, '{"case":"a","texts":[1]}'])
def test_a_line_that_is_none_is_passed_over(line: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(f"{line}\n{text_line(KEPT)}\n", "utf-8")
    assert parse_text(line) is None
    assert [*read_texts(tmp_path / "x")] == [KEPT.key]
