"""Which scores are wanted, of which cases."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

ALL = "*"
"""Stands for all cases in the place of a tag."""


def add_score_options(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    group = parser.getgroup("fcall", "tool calls of language models (pytest-fcall)")
    group.addoption(
        "--fc-score",
        action="append",
        default=[],
        metavar="'TAG: SCORE, …'",
        help="scores to tell beside the verdicts on the cases of a tag, such as 'mannheim: function_accuracy'; "
        "the tag * stands for all cases",
    )
    parser.addini(
        "fc_scores", "scores, beside those of the command line (a tag and its scores a line)", type="linelist"
    )


WANTED = pytest.StashKey[Mapping[str, tuple[str, ...]]]()
"""The scores that each tag asks for; not there where none is asked for."""


def want_scores(config: pytest.Config) -> None:
    """Read what is wanted, if anything is. Raises UsageError for what cannot be read."""
    written = [("fc_scores", line) for line in config.getini("fc_scores")]
    typed = [("--fc-score", line) for line in config.getoption("fc_score")]
    wanted: dict[str, dict[str, None]] = {}
    for where, line in (*written, *typed):
        tag, scores = _read(where, line)
        wanted.setdefault(tag, {}).update(dict.fromkeys(scores))
    if wanted:
        config.stash[WANTED] = {tag: tuple(scores) for tag, scores in wanted.items()}


def _read(where: str, line: str) -> tuple[str, list[str]]:
    tag, colon, names = line.rpartition(":")
    scores = ["".join(name.split()) for name in names.split(",")]
    if not (tag.strip() and colon and all(scores)):
        raise pytest.UsageError(
            f"{where}: {line!r} names no scores; write a tag and its scores, such as 'smoke: api_f1, lcs_f1'"
        )
    for score in scores:
        _refuse_unknown(where, score)
    return tag.strip(), scores


def _refuse_unknown(where: str, score: str) -> None:
    from pytest_fcall.conversation.named_scores import SCORES
    from pytest_fcall.schema.value_text import nearest

    if score not in SCORES:
        near = nearest(score, SCORES)
        meant = f"did you mean {near}?" if near else f"there are {', '.join(SCORES)}"
        raise pytest.UsageError(f"{where}: there is no score {score!r}; {meant}")
