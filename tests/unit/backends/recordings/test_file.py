from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.backends.recordings.differences import explain_missing, explain_missing_among
from pytest_fcall.backends.recordings.entry import Recording, reply_from_data, reply_to_data
from pytest_fcall.backends.recordings.file import bookkeeping_path, read_recordings, recordings_path, write_recordings
from pytest_fcall.core import Json, Model, RawCall, Reply, Request, Tool, Usage, request_digest
from pytest_fcall.core.json_data import DamagedData
from tests.by_night import by_night

MODEL = Model("local", "smollm2")
EMPTY_LIST = Reply("[]", decoder="json")
WEATHER = Tool("get_weather", "Tell the weather", {"type": "object", "properties": {"city": {"type": "string"}}})


def recorded(
    case: str = "paris", prompt: str = "Weather in Paris?", reply: Reply = EMPTY_LIST, sample: int = 0
) -> Recording:
    request = Request(({"role": "user", "content": prompt},), (WEATHER,), {"temperature": 0}, sample)
    return Recording(case, request_digest(MODEL.id, request), request, reply, "2026-11-21T16:30:00+00:00")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return recordings_path(tmp_path / "weather.fc.yaml", MODEL)


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(st.text(), json_values, max_size=3)
texts = st.none() | st.text()
counts = st.none() | st.integers(min_value=0)
replies = st.builds(
    Reply,
    text=st.text(),
    tool_calls=st.lists(st.builds(RawCall, json_values, json_values, texts), max_size=3).map(tuple),
    finish=st.sampled_from(["stop", "tool_calls", "length", "refusal", "content_filter", "unknown"]),
    refusal=texts,
    malformed=texts,
    decoder=texts,
    usage=st.none() | st.builds(Usage, counts, counts, counts, counts),
    seconds=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    trail=st.lists(mappings, max_size=2).map(tuple),
    engine=mappings,
)


@given(reply=replies)
def test_a_reply_comes_back_as_it_was(reply: Reply) -> None:
    assert reply_from_data(json.loads(json.dumps(reply_to_data(reply)))) == reply


@example(data={"extra": {}})
@given(data=json_values | st.dictionaries(st.sampled_from(sorted(Reply.__dataclass_fields__)), json_values))
def test_any_data_is_a_reply_or_damaged(data: Json) -> None:
    with suppress(DamagedData):
        reply = reply_from_data(data)
        assert reply_from_data(reply_to_data(reply)) == reply


def test_fields_from_a_later_version_do_no_harm() -> None:
    assert reply_from_data({"text": "hi", "finish": "paused", "mood": 1}) == Reply("hi", finish="unknown")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("[]", "the reply is not a mapping"),
        ({"text": 3}, "`text` is not a string"),
        ({"tool_calls": {}}, "`tool_calls` is not a list"),
        ({"tool_calls": ["get_weather"]}, "a call of `tool_calls` is not a mapping"),
        ({"usage": {"input_tokens": True}}, "`input_tokens` is not an integer"),
        ({"seconds": "1"}, "`seconds` is not a number"),
        ({"seconds": 10**400}, "`seconds` is not a number"),
    ],
)
def test_a_reply_is_never_read_by_halves(data: Json, words: str) -> None:
    with pytest.raises(DamagedData, match=words):
        reply_from_data(data)


entries_of_a_file = st.lists(
    st.builds(recorded, st.text(), st.text(), replies, st.integers(min_value=0, max_value=9)),
    max_size=3,
    unique_by=lambda entry: (entry.case, entry.digest),
)


@given(entries=entries_of_a_file)
def test_a_file_is_read_as_it_was_written(entries: list[Recording]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "__fcall__", "a.replies.jsonl")
        write_recordings(path, MODEL, entries)
        recordings = read_recordings(path, MODEL)
    assert not recordings.faults
    assert sorted(recordings.entries, key=repr) == sorted(entries, key=repr)


@given(entries=entries_of_a_file)
def test_the_same_entries_give_the_same_bytes_in_whatever_order(entries: list[Recording]) -> None:
    with TemporaryDirectory() as folder:
        path, other = Path(folder, "a"), Path(folder, "b")
        write_recordings(path, MODEL, entries)
        write_recordings(other, MODEL, reversed(entries))
        assert path.read_bytes() == other.read_bytes()
        assert bookkeeping_path(path).read_bytes() == bookkeeping_path(other).read_bytes()


def test_a_reviewer_sees_one_thing_a_line(path: Path) -> None:
    write_recordings(path, MODEL, [recorded("rome", "Weather in Rome?"), recorded("münchen", "Und in München?")])
    header, tool, settings, *rows = path.read_text(encoding="utf-8").splitlines()
    assert header == '{"fcall": "replies", "model": "local:smollm2", "version": 2}'
    assert tool.startswith('{"tool": "get_weather", "description": "Tell the weather", "parameters": ')
    assert json.loads(settings) == {"settings": {"temperature": 0}}
    assert [json.loads(row)["case"] for row in rows] == ["münchen", "rome"]
    assert "Und in München?" in rows[0]


def test_what_a_tool_returns_is_kept_and_part_of_the_key(path: Path) -> None:
    told = replace(WEATHER, returns={"type": "object"})
    request = Request(({"role": "user", "content": "Rome?"},), (told,))
    entry = recorded()._replace(request=request, digest=request_digest(MODEL.id, request))
    write_recordings(path, MODEL, [entry])
    (read,) = read_recordings(path, MODEL).entries
    assert read == entry
    untold = replace(request, tools=(WEATHER,))
    assert request_digest(MODEL.id, untold) != entry.digest
    lacking = "the tools changed: get_weather has another account of what it returns"
    assert explain_missing(untold, entry) == lacking


def test_text_that_misleads_the_eye_is_escaped(path: Path) -> None:
    hostile = recorded(reply=Reply("\x1b[2J \u202e evil \u2028 \ud800 \x85"))
    write_recordings(path, MODEL, [hostile])
    written = path.read_text(encoding="utf-8") + bookkeeping_path(path).read_text(encoding="utf-8")
    assert len(written.splitlines()) == 4 + 3
    assert not set("\x1b\u202e\u2028\x85") & set(written)
    assert read_recordings(path).entries == (hostile,)


def test_files_of_cases_that_differ_only_in_their_ending_are_kept_apart(tmp_path: Path) -> None:
    names = ["a.fc.yaml", "a.fc.yml", "a.yaml", "a.yml", "a.yaml.fc.yaml"]
    assert len({recordings_path(tmp_path / name, MODEL) for name in names}) == len(names)
    expected = tmp_path / "__fcall__" / "local-smollm2" / "a.fc.yaml.replies.jsonl"
    assert recordings_path(tmp_path / "a.fc.yaml", MODEL) == expected


def test_a_reply_that_json_cannot_say_leaves_the_file_as_it_is(path: Path) -> None:
    write_recordings(path, MODEL, [recorded()])
    before = {each: each.read_bytes() for each in path.parent.iterdir()}
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, 10**5000, {"x": object()}):
        unwritable = recorded("odd", reply=Reply(tool_calls=(RawCall("f", value),)))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="the reply to case 'odd' is not valid JSON data"):
            write_recordings(path, MODEL, [unwritable])
    assert {each: each.read_bytes() for each in path.parent.iterdir()} == before


def test_keys_and_headers_are_never_written(path: Path) -> None:
    request = Request((), settings={"api_key": "sk-1", "extra_headers": {"Authorization": "sk-2"}, "max_tokens": 5})
    write_recordings(path, MODEL, [Recording("a", "d", request, Reply(), "")])
    assert not [each for each in path.parent.iterdir() if "sk-" in each.read_text(encoding="utf-8")]
    assert read_recordings(path).entries[0].request.settings == {"max_tokens": 5}


def test_a_file_that_is_not_there_is_empty(path: Path) -> None:
    recordings = read_recordings(path, MODEL)
    assert (recordings.entries, recordings.faults) == ((), ())


def test_a_folder_in_the_place_of_the_file_is_a_fault(tmp_path: Path) -> None:
    (fault,) = read_recordings(tmp_path).faults
    assert fault.message.startswith("the recordings cannot be read")


def test_a_reply_is_found_by_the_digest_of_its_request(path: Path) -> None:
    rome = recorded("rome", "Weather in Rome?")
    write_recordings(path, MODEL, [recorded(), rome])
    recordings = read_recordings(path, MODEL)
    assert recordings.find(rome.digest) == rome
    assert recordings.find("0" * 64) is None


def test_the_nearest_recording_is_of_the_same_case_and_best_of_the_same_sample(path: Path) -> None:
    write_recordings(path, MODEL, [recorded(sample=0), recorded(sample=2), recorded("rome")])
    recordings = read_recordings(path, MODEL)
    assert [entry and entry.request.sample for entry in (recordings.nearest("paris", n) for n in (0, 2, 7))] == [
        0,
        2,
        2,
    ]
    assert recordings.nearest("oslo") is None


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def beside(path: Path) -> Path:
    """The bookkeeping of one recording."""
    write_recordings(path, MODEL, [recorded()])
    return bookkeeping_path(path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"case": "x", "request"', "this line is not JSON"),
        (b'{"case": "\xff"}', "this line is not UTF-8"),
        (b"[1]", "this line is not a mapping"),
        (b'{"note": 1}', "neither a header, nor a context, nor a recording"),
        (b'{"case": "x", "request": "d", "context": "c", "reply": null}', "the reply is not a mapping"),
        (b'{"case": 5, "request": "d", "context": "c", "reply": {}}', "`case` is not a string"),
        (b'{"request": "d", "context": "c", "reply": {}}', "`case` is missing"),
        (b'{"case": "x", "request": "d", "reply": {}}', "`context` is missing"),
        (b'{"case": "x", "request": "d", "context": "c", "messages": [1], "reply": {}}', "a message is not a mapping"),
        (b'{"request": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"request": ' + b"9" * 5_000 + b"}", "a number of thousands of digits"),
        (b"<<<<<<< HEAD", "an unresolved merge conflict"),
    ],
)
def test_a_damaged_recording_is_a_fault_and_the_others_count(path: Path, beside: Path, line: bytes, words: str) -> None:
    header, *others = lines_of(beside)
    beside.write_bytes(b"".join([header, line + b"\n", *others]))
    recordings = read_recordings(path, MODEL)
    (fault,) = recordings.faults
    assert words in fault.message
    assert (fault.location.path, fault.location.line) == (str(beside), 2)
    assert recordings.find(recorded().digest) == recorded()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"tool": "f"', "this line is not JSON"),
        (b'{"tool": "f"}', "`parameters` is missing"),
        (b'{"system": 7}', "`system` is not a mapping"),
        (b'{"settings": {"top_p": NaN}}', "this line holds NaN or Infinity"),
        (b'{"note": 1}', "neither a header, nor a tool, nor a system prompt, nor settings, nor a reply"),
        (b"<<<<<<< HEAD", "an unresolved merge conflict"),
    ],
)
def test_a_damaged_line_for_review_is_a_fault_and_the_recordings_count(
    path: Path, beside: Path, line: bytes, words: str
) -> None:
    header, *others = lines_of(path)
    path.write_bytes(b"".join([header, line + b"\n", *others]))
    recordings = read_recordings(path, MODEL)
    (fault,) = recordings.faults
    assert words in fault.message
    assert (fault.location.path, fault.location.line) == (str(path), 2)
    assert recordings.find(recorded().digest) == recorded()


def test_a_reply_that_was_edited_is_named_with_the_recording_that_says_otherwise(path: Path, beside: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"text": "[]"', b'"text": "[{}]"'))
    recordings = read_recordings(path, MODEL)
    assert [(Path(fault.location.path), fault.location.line, fault.message) for fault in recordings.faults] == [
        (path, 4, "no recording in weather.fc.yaml.recorded.jsonl has this reply"),
        (beside, 3, "the reply of this recording is not in weather.fc.yaml.replies.jsonl"),
    ]
    assert all("`fcall record --export`" in fault.hint for fault in recordings.faults)
    assert recordings.find(recorded().digest) == recorded()


def test_a_recording_that_was_edited_unseen_is_named(path: Path, beside: Path) -> None:
    beside.write_bytes(beside.read_bytes().replace(b'"text": "[]"', b'"text": "[{}]"'))
    faults = read_recordings(path, MODEL).faults
    assert "the reply of this recording is not in weather.fc.yaml.replies.jsonl" in [each.message for each in faults]


@pytest.mark.parametrize("which", [0, 1])
def test_one_of_the_files_without_the_other_is_a_fault_and_nothing_of_it_is_used(
    path: Path, beside: Path, which: int
) -> None:
    gone, there = [(path, beside), (beside, path)][which]
    gone.unlink()
    recordings = read_recordings(path, MODEL)
    (fault,) = recordings.faults
    assert (fault.location.path, fault.message) == (
        str(there),
        f"{gone.name}, which belongs to this file, is missing",
    )
    assert not recordings.entries


def test_both_sides_of_a_merge_conflict_can_be_read_and_not_what_they_began_with(path: Path, beside: Path) -> None:
    ours, theirs, old = (recorded(prompt=prompt) for prompt in ("ours", "theirs", "old"))
    sides = []
    for entry in (ours, old, theirs):
        write_recordings(path, MODEL, [entry])
        sides.append((lines_of(path), lines_of(beside)))
    for file, number in ((path, 0), (beside, 1)):
        (*same, one), (*_, base), (*_, other) = (each[number] for each in sides)
        file.write_bytes(
            b"".join([*same, b"<<<<<<< HEAD\r\n", one, b"||||||| 1f\n", base, b"=======\n", other, b">>>>>>> b\n"])
        )
    recordings = read_recordings(path, MODEL)
    assert [fault.code for fault in recordings.faults] == ["merge-conflict"] * 2
    assert recordings.find(ours.digest) == ours
    assert recordings.find(theirs.digest) == theirs
    assert recordings.find(old.digest) is None


def test_of_two_replies_to_the_same_request_the_newer_is_found(path: Path) -> None:
    older = recorded(reply=Reply("older"))
    newer = older._replace(reply=Reply("newer"), recorded="2026-11-22T10:00:00+00:00")
    write_recordings(path, MODEL, [older, newer])
    assert read_recordings(path, MODEL).find(older.digest) == newer


def test_a_line_that_a_merge_wrote_twice_counts_once(path: Path, beside: Path) -> None:
    for file in (path, beside):
        *_, last = lines_of(file)
        file.write_bytes(file.read_bytes() + last)
    recordings = read_recordings(path, MODEL)
    assert recordings.entries == (recorded(),)
    assert not recordings.faults


def test_a_recording_whose_tools_and_context_a_merge_took_away_is_still_found(path: Path, beside: Path) -> None:
    replies, recordings = lines_of(path)[-1], lines_of(beside)[-1]
    reworded = replace(WEATHER, description="Say the weather")
    other = recorded("rome")
    write_recordings(path, MODEL, [other._replace(request=replace(other.request, tools=(reworded,)))])
    path.write_bytes(path.read_bytes() + replies)
    beside.write_bytes(beside.read_bytes() + recordings)
    read = read_recordings(path, MODEL)
    found = read.find(recorded().digest)
    assert found
    assert not read.faults
    assert (found.reply, found.request.tools) == (EMPTY_LIST, (reworded,))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("version", [1, 3])
def test_another_version_is_told_and_nothing_of_it_is_used(path: Path, beside: Path, version: int, which: int) -> None:
    file = (path, beside)[which]
    file.write_bytes(file.read_bytes().replace(b'"version": 2', b'"version": %d' % version) + b"damaged\n")
    recordings = read_recordings(path, MODEL)
    told = {
        1: "recordings have format version 1; this pytest-fcall reads only 2",
        3: "a later pytest-fcall wrote it in version 3 of its format, and this one reads up to 2: update pytest-fcall",
    }
    assert [fault.message for fault in recordings.faults] == [told[version]]
    assert not recordings.entries


def test_a_file_of_the_first_version_which_had_no_bookkeeping_is_told_by_its_version(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"fcall": "replies", "model": "local:smollm2", "version": 1}\n{"case": "a", "request": "d1"}\n')
    (fault,) = read_recordings(path, MODEL).faults
    assert fault.message == "recordings have format version 1; this pytest-fcall reads only 2"
    assert "`fcall record --export` writes a new one" in fault.hint


def test_replies_of_another_model_are_told(path: Path) -> None:
    write_recordings(path, Model("openai", "gpt-5.2"), [recorded()])
    (fault,) = read_recordings(path, MODEL).faults
    assert fault.message == "these are replies of 'openai:gpt-5.2', not of 'local:smollm2'"


def test_replies_without_a_header_are_used_and_told(path: Path, beside: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(lines_of(path)[1:]))
    recordings = read_recordings(path)
    assert recordings.find(recorded().digest)
    assert [fault.message for fault in recordings.faults] == [
        "the header line, which names format and model, is missing"
    ]


def test_files_as_git_checks_them_out_on_windows_are_whole_and_left_alone(path: Path, beside: Path) -> None:
    for file in (path, beside):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    recordings = read_recordings(path, MODEL)
    assert not recordings.faults
    assert not write_recordings(path, MODEL, recordings.entries)


@given(st.binary(), st.binary())
def test_no_file_makes_a_traceback(content: bytes, other: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a")
        path.write_bytes(content)
        bookkeeping_path(path).write_bytes(other)
        read_recordings(path, MODEL)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("count", [1_000, by_night(10_000)])
def test_thousands_of_replies_are_read(path: Path, count: int) -> None:
    write_recordings(path, MODEL, [recorded(f"case{n}", f"Weather in town {n}?") for n in range(count)])
    assert len(read_recordings(path, MODEL).entries) == count


USER: dict[str, Json] = {"role": "user", "content": "Weather in Paris?"}
ASKED = Request((USER,), (WEATHER,), {"temperature": 0})


@pytest.mark.parametrize(
    ("request_now", "words"),
    [
        (
            replace(ASKED, messages=({**USER, "content": "Weather in Rome?"},)),
            "- Weather in Paris?\n  + Weather in Rome?",
        ),
        (
            replace(ASKED, messages=({"role": "system", "content": "Be brief."}, USER)),
            "the prompt changed (system message)",
        ),
        (replace(ASKED, messages=(USER, USER)), "a user message was added"),
        (replace(ASKED, messages=()), "a user message was removed"),
        (replace(ASKED, messages=(*ASKED.messages, {"role": "assistant"})), "the recording ends before this step"),
        (replace(ASKED, tools=()), "get_weather is gone"),
        (replace(ASKED, tools=(WEATHER, Tool("add"))), "add is new"),
        (replace(ASKED, tools=(replace(WEATHER, description="?"),)), "get_weather has another description"),
        (replace(ASKED, tools=(Tool("get_weather"),)), "get_weather has another description and other parameters"),
        (replace(ASKED, settings={"temperature": 1}), "temperature was 0, is 1"),
        (replace(ASKED, settings={}), "temperature was 0, is not set"),
        (replace(ASKED, sample=3), "sample 3 was not recorded, sample 0 was"),
        (ASKED, "an equal request was recorded for another model"),
    ],
)
def test_what_changed_since_the_recording_is_named(request_now: Request, words: str) -> None:
    assert words in explain_missing(request_now, Recording("paris", "", ASKED, Reply(), ""))


def test_the_order_of_tools_is_part_of_a_request() -> None:
    two = replace(ASKED, tools=(WEATHER, Tool("add")))
    turned = replace(ASKED, tools=(Tool("add"), WEATHER))
    assert explain_missing(turned, Recording("paris", "", two, Reply(), "")) == "the tools changed: their order"


def test_a_change_deep_in_a_long_text_is_shown_where_it_is() -> None:
    before, after = (replace(ASKED, messages=({"role": "system", "content": text},)) for text in LONG)
    text = explain_missing(after, Recording("paris", "", before, Reply(), ""))
    assert "\n  - …" in text
    assert "Monday" in text
    assert "Tuesday" in text
    assert max(map(len, text.splitlines())) < 110


LONG = tuple("Be kind. " * 500 + f"Today is {day}." + " Be brief." * 500 for day in ("Monday", "Tuesday"))


def test_a_case_that_was_never_recorded_is_told() -> None:
    assert explain_missing(ASKED, None) == "nothing was recorded for this case"


def test_an_equal_request_whose_tools_a_merge_took_away_is_no_repetition() -> None:
    entry = Recording("paris", "", ASKED, Reply(), "")
    assert "before its tools or system prompt changed" in explain_missing_among(ASKED, [entry])
    assert "for the 2nd time in a row" in explain_missing_among(replace(ASKED, sample=1), [entry])
