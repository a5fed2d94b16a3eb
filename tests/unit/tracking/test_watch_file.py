from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.tracking.night_watch import (
    LARGEST,
    MOST_KEPT,
    Bet,
    JudgedNight,
    Watch,
    WatchFileError,
    read_watches,
    watch_path,
    write_watches,
)

EVIDENCE = st.floats(0, LARGEST)
BETS = st.builds(Bet, EVIDENCE, st.text(max_size=4), st.text(max_size=4))
NIGHTS = st.lists(
    st.builds(JudgedNight, st.text(min_size=1, max_size=4), EVIDENCE, EVIDENCE), max_size=3, unique_by=lambda n: n.run
)
WATCHES = st.builds(
    lambda since, judged, fall, rise, alarm: Watch(since, len(judged), tuple(sorted(judged)), fall, rise, alarm),
    st.text(max_size=4),
    NIGHTS,
    BETS,
    BETS,
    st.text(max_size=4),
)
NIGHT = JudgedNight("20261123-0000", 2.5, 0.0)
WATCHED = Watch("20261122-0000", 1, (NIGHT,), Bet(2.5, "20261123-0000", "20261123-0000"), Bet(), "20261123-0000")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return watch_path(tmp_path)


def fields_of(path: Path) -> dict[str, Json]:
    write_watches(path, {"openai:m": WATCHED})
    fields: dict[str, Json] = json.loads(path.read_text("utf-8"))
    return fields


def test_it_lies_in_the_private_folder_of_the_project(tmp_path: Path) -> None:
    write_watches(watch_path(tmp_path), {})

    assert watch_path(tmp_path) == tmp_path / ".fcall" / "watch.json"
    assert watch_path(tmp_path).stat().st_mode & 0o077 == 0


def test_without_a_file_nothing_is_watched(path: Path) -> None:
    assert read_watches(path) == {}


@given(st.dictionaries(st.text(max_size=8), WATCHES, max_size=3))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, watches: dict[str, Watch]) -> None:
    path = watch_path(tmp_path_factory.mktemp("any"))
    write_watches(path, watches)

    assert read_watches(path) == watches


def test_the_order_in_which_models_were_watched_says_nothing(path: Path) -> None:
    write_watches(path, {"a": WATCHED, "b": Watch()})
    before = path.read_bytes()
    write_watches(path, {"b": Watch(), "a": WATCHED})

    assert path.read_bytes() == before
    assert before.endswith(b"}\n")


def test_of_more_nights_than_are_kept_all_are_counted(path: Path) -> None:
    judged = tuple(JudgedNight(f"{number:04}", 0.0, 0.0) for number in range(MOST_KEPT))
    watches = {"m": Watch("", MOST_KEPT + 7, judged)}
    write_watches(path, watches)

    assert read_watches(path) == watches


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"judged": None}, "`judged` is missing"),
        ({"nights": True}, "`nights` is not an integer"),
        ({"nights": 2}, "the nights that were judged do not fit together"),
        ({"nights": 0}, "the nights that were judged do not fit together"),
        ({"nights": 10**7}, "the nights that were judged do not fit together"),
        ({"nights": 2, "judged": [["b", 0, 0], ["a", 0, 0]]}, "the nights that were judged do not fit together"),
        ({"nights": 2, "judged": [["a", 0, 0], ["a", 0, 0]]}, "the nights that were judged do not fit together"),
        ({"judged": [["a", 0]]}, "a night is not a run and two numbers"),
        ({"judged": [["", 0, 0]]}, "a night is not a run and two numbers"),
        ({"judged": [["a", "0", 0]]}, "a night is not a run and two numbers"),
        ({"judged": [["a", -1, 0]]}, "evidence is a number from 0 on"),
        ({"judged": [["a", 0, 1e301]]}, "evidence is a number from 0 on"),
        ({"judged": [["a", 0, True]]}, "evidence is a number from 0 on"),
        ({"judged": [["a", float("nan"), 0]]}, "evidence is a number from 0 on"),
        ({"best_fall": None}, "a bet is not a number and two runs"),
        ({"best_rise": [1, "a"]}, "a bet is not a number and two runs"),
        ({"best_rise": [-0.5, "a", "b"]}, "evidence is a number from 0 on"),
        ({"since": 7}, "`since` is not a string"),
        ({"alarm": 7}, "`alarm` is not a string"),
    ],
)
def test_a_watch_that_fits_no_nights_is_refused_with_the_way_out(
    path: Path, changed: dict[str, Json], told: str
) -> None:
    fields = fields_of(path)
    models = fields["models"]
    assert isinstance(models, dict)
    path.write_text(json.dumps({**fields, "models": {"openai:m": {**models["openai:m"], **changed}}}), "utf-8")

    with pytest.raises(WatchFileError) as refused:
        read_watches(path)
    assert str(refused.value) == f"{path}: {told}; without this file the watch restarts"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not JSON"),
        ("[]", "the file is not a mapping"),
        ("{}", "`fcall_watch` is missing"),
        ('{"fcall_watch": 2}', "a later pytest-fcall wrote it in version 2 of its format"),
        ('{"fcall_watch": 1}', "`models` is missing"),
        ('{"fcall_watch": 1, "models": {"m": 7}}', "a model is not a mapping"),
    ],
)
def test_a_file_that_holds_no_watches_is_refused(path: Path, content: str, told: str) -> None:
    path.parent.mkdir()
    path.write_text(content, "utf-8")

    with pytest.raises(WatchFileError, match=r"watch\.json: " + told):
        read_watches(path)


def test_what_the_system_does_not_let_be_read_is_told(path: Path) -> None:
    path.mkdir(parents=True)

    with pytest.raises(WatchFileError, match=r"watch\.json: cannot be read: "):
        read_watches(path)


def test_a_model_that_was_never_acknowledged_and_raised_no_alarm_has_neither(path: Path) -> None:
    fields = fields_of(path)
    models = fields["models"]
    assert isinstance(models, dict)
    kept = {name: value for name, value in models["openai:m"].items() if name not in ("since", "alarm")}
    path.write_text(json.dumps({**fields, "models": {"openai:m": kept}}), "utf-8")

    found = read_watches(path)["openai:m"]
    assert (found.since, found.alarm, found.nights) == ("", "", 1)
