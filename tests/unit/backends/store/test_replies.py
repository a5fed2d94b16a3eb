from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording
from pytest_fcall.backends.store import CaseOfFile, ModelStats, NewReply, ReplyStore, StoreError, store_path
from pytest_fcall.backends.store.address import StorePlace
from pytest_fcall.core import Json, RawCall, Reply, Request, Tool
from tests.unit.backends.recordings.test_file import recorded, replies
from tests.unit.backends.store.entries import FILE, MODEL, TOOLS, entries, entry, put_replies

Again: TypeAlias = Callable[[ReplyStore], ReplyStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return store_path(tmp_path)


@pytest.fixture
def store(place: StorePlace) -> Iterator[ReplyStore]:
    with closing(ReplyStore(place)) as store:
        yield store


@pytest.fixture
def file_store(path: Path) -> Iterator[ReplyStore]:
    with closing(ReplyStore(path)) as store:
        yield store


@pytest.fixture
def again(place: StorePlace) -> Iterator[Again]:
    """Ends the run of a store, and gives that of a later one."""
    with ExitStack() as stores:

        def later(store: ReplyStore) -> ReplyStore:
            store.close()
            return stores.enter_context(closing(ReplyStore(place)))

        yield later


def test_a_reply_is_found_by_the_digest_of_its_request(store: ReplyStore) -> None:
    put_replies(store, [entry("rome"), entry("oslo")])
    assert store.find(entry("rome").digest) == entry("rome")
    assert store.find("0" * 64) is None


def test_a_reply_from_before_the_time_that_is_asked_for_is_not_found(store: ReplyStore) -> None:
    put_replies(store, [entry()])
    assert store.find(entry().digest, entry().timestamp) == entry()
    assert store.find(entry().digest, entry().timestamp + 0.001) is None


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(reply=replies, case=texts, file=texts, model=texts)
def test_a_reply_comes_back_in_a_later_run_as_it_was(
    used_place: StorePlace, reply: Reply, case: str, file: str, model: str
) -> None:
    one = recorded(case, reply=reply)
    with closing(ReplyStore(used_place)) as store:
        store.prune(lambda _: False)
        store.put(model, file, one)
    with closing(ReplyStore(used_place)) as store:
        assert store.find(one.digest) == one
        assert [(kept.model, kept.file, kept.entry) for kept in store.replies()] == [(model, file, one)]


def test_replies_that_are_loaded_together_are_found_without_reading_again(store: ReplyStore, place: StorePlace) -> None:
    put_replies(store, entries(range(3)))
    assert store.load([entry(number).digest for number in (0, 1, 7)]) == {entry(0).digest, entry(1).digest}
    with closing(ReplyStore(place)) as other:
        other.prune(lambda _: False)
    assert store.find(entry(0).digest) == store.find(entry(0).digest) == entry(0)
    assert store.find(entry(2).digest) is None


def test_a_newer_reply_counts_after_an_older_one_was_loaded(store: ReplyStore, place: StorePlace) -> None:
    store.put(MODEL, FILE, entry("a"))
    store.load([entry("a").digest])
    newer = entry("a", text="newer", recorded="2026-11-22T00:00:00Z")
    with closing(ReplyStore(place)) as other:
        other.put(MODEL, FILE, newer)
    assert store.find(newer.digest, since=newer.timestamp) == newer
    store.put(MODEL, FILE, entry("a", text="ours"))
    assert store.find(newer.digest) == entry("a", text="ours")


def test_with_the_request_the_stored_request_is_not_read(store: ReplyStore) -> None:
    store.put(MODEL, FILE, entry("a"))
    request = Request(({"role": "user", "content": "equal by its digest"},))
    assert store.find(entry("a").digest, request=request) == entry("a")._replace(request=request)


def test_whoever_only_asks_makes_no_file(file_store: ReplyStore, path: Path) -> None:
    assert file_store.find("x") is None
    assert file_store.nearest(MODEL, FILE, "rome") is None
    assert not [*file_store.replies(), *file_store.stats(), *file_store.files()]
    file_store.note_use(MODEL, FILE, "rome", "x")
    assert file_store.prune(lambda _: False) == 0
    file_store.release("x", "me")
    file_store.close()
    assert not path.parent.exists()


def test_the_folder_is_kept_out_of_version_control(file_store: ReplyStore, path: Path) -> None:
    file_store.put(MODEL, FILE, entry())
    assert path.with_name(".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_reply_to_the_same_request_takes_the_place_of_the_earlier_one(store: ReplyStore) -> None:
    put_replies(store, [entry(), entry(text="other")])
    assert store.find(entry().digest) == entry(text="other")
    assert len(list(store.replies())) == 1


def test_an_answer_that_nobody_has_read_yet_is_read_when_it_is_found(store: ReplyStore) -> None:
    body = {"choices": [{"message": {"content": "Rain."}, "finish_reason": "stop"}]}
    wire = HttpAnswer(200, "application/json", json.dumps(body).encode())
    said = entry()
    new = UnreadRecording(said.case, said.digest, said.request, "/v1/chat/completions", wire, 0.5, said.recorded)
    store.put_all([NewReply(MODEL, FILE, new)])

    found = store.find(said.digest)
    assert found == said._replace(reply=Reply("Rain.", seconds=0.5), http_answer=wire)
    assert [kept.entry for kept in store.replies()] == [found]


def test_one_reply_serves_several_cases(store: ReplyStore) -> None:
    one = entry("a", prompt="?")
    put_replies(store, [one, one._replace(case="b")])
    store.put(MODEL, "tests/test_x.py", one)
    assert [(kept.file, kept.entry.case) for kept in store.replies()] == [
        (FILE, "a"),
        (FILE, "b"),
        ("tests/test_x.py", "a"),
    ]
    assert store.stats()[0].replies == 1


def test_replies_are_sorted_and_may_be_those_of_one_model_or_file(store: ReplyStore) -> None:
    put_replies(store, [entry("b"), entry("a")])
    store.put("local:tiny", FILE, entry("c", model="local:tiny"))
    store.put(MODEL, "z.yaml", entry("d"))
    assert [kept.entry.case for kept in store.replies()] == ["c", "a", "b", "d"]
    assert [kept.entry.case for kept in store.replies(MODEL)] == ["a", "b", "d"]
    assert [kept.entry.case for kept in store.replies(file=FILE)] == ["c", "a", "b"]
    assert [kept.entry.case for kept in store.replies(MODEL, FILE)] == ["a", "b"]
    assert store.files() == [("local:tiny", FILE), (MODEL, FILE), (MODEL, "z.yaml")]


def test_all_of_many_replies_are_listed(store: ReplyStore) -> None:
    assert store.import_newer(MODEL, FILE, entries(range(1_200))) == 1_200
    assert len(list(store.replies())) == 1_200


def test_the_nearest_reply_is_of_the_same_case_and_best_of_the_same_sample(store: ReplyStore) -> None:
    put_replies(store, [entry("rome", sample=sample) for sample in (0, 2)] + [entry("oslo", sample=1)])
    nearest = [store.nearest(MODEL, FILE, "rome", sample) for sample in (0, 2, 7)]
    assert [each and each.request.sample for each in nearest] == [0, 2, 2]
    assert store.nearest(MODEL, FILE, "bern") is None
    assert store.nearest(MODEL, "other.yaml", "rome") is None
    assert store.nearest("local:tiny", FILE, "rome") is None


def test_of_replies_that_are_equally_near_the_newest_is_taken(store: ReplyStore) -> None:
    old = entry("rome", prompt="old", recorded="2026-01-01T00:00:00Z")
    new = entry("rome", prompt="new", recorded="2026-01-02T00:00:00Z")
    put_replies(store, [old, new, old._replace(digest="0" * 64)])
    assert store.nearest(MODEL, FILE, "rome") == new


def test_keys_and_headers_are_never_written(file_store: ReplyStore, path: Path) -> None:
    settings: dict[str, Json] = {
        "api_key": "sk-1",
        "extra_headers": {"Authorization": "sk-2"},
        "extra_body": {"inner": [{"X-Api-Key": "sk-3", "top_k": 5}]},
        "max_tokens": 5,
    }
    file_store.put(MODEL, FILE, Recording("a", "d", Request((), settings=settings), Reply(), ""))
    assert b"sk-" not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    kept = file_store.find("d")
    assert kept
    assert kept.request.settings == {"extra_body": {"inner": [{"top_k": 5}]}, "max_tokens": 5}


def test_a_reply_that_json_cannot_say_is_told_and_concerns_no_other(store: ReplyStore) -> None:
    odd = entry()._replace(reply=Reply(tool_calls=(RawCall("f", 10**5000),)))
    other = entry("rome")._replace(digest="other")
    store.put_all([NewReply(MODEL, FILE, odd), NewReply(MODEL, FILE, other)])
    assert [kept.entry for kept in store.replies()] == [other]
    (fault,) = store.faults
    assert fault.message.startswith("the reply to case 'paris' is not valid JSON data")
    store.put(MODEL, FILE, entry())
    assert store.find(entry().digest)


def test_names_that_no_text_can_hold_do_no_harm(store: ReplyStore) -> None:
    one = entry("\ud800\0")
    store.put("openai:\udcff\0", "cases/\udc80.yaml", one)
    assert store.find(one.digest) == one
    assert store.nearest("openai:\udcff\0", "cases/\udc80.yaml", "\ud800\0") == one


def test_of_replies_from_elsewhere_those_that_cannot_be_kept_are_told(store: ReplyStore) -> None:
    unsayable = entry("nan", tools=(Tool("f", "", {"default": float("nan")}),), sample=0, digest="d1")
    odd = entry("odd", sample=10**30)._replace(digest="\ud800")
    assert store.import_newer(MODEL, FILE, [unsayable, odd, entry("rome")]) == 2
    assert "not JSON compliant" in store.faults[0].message
    assert {kept.entry.case for kept in store.replies()} == {"odd", "rome"}


def test_many_threads_share_a_store(store: ReplyStore) -> None:
    def keep(number: int) -> Recording | None:
        store.put(MODEL, FILE, entry(number))
        return store.find(entry(number).digest)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(keep, range(200))) == entries(range(200))


def test_a_catalogue_of_tools_is_kept_once(file_store: ReplyStore, path: Path) -> None:
    parameters = {f"p{n}": {"type": "string", "description": f"The parameter number {n}"} for n in range(10)}
    tools = tuple(
        Tool(f"tool_{n}", "What it does, and when it is used", {"type": "object", "properties": parameters})
        for n in range(60)
    )
    put_replies(file_store, [entry(number, tools=tools) for number in range(500)])
    file_store.close()
    size = path.stat().st_size
    assert size < 5_000_000
    assert len(json.dumps([tool.parameters for tool in tools])) * 500 > 5 * size


def test_the_last_run_of_a_case_is_known(store: ReplyStore, again: Again) -> None:
    first, second = entry("a", prompt="1"), entry("a", prompt="2")
    put_replies(store, [first, second, entry("b")])
    store = again(store)
    store.note_use(MODEL, FILE, "a", first.digest)
    store.put(MODEL, FILE, entry("a", prompt="3"))
    assert store.last_uses(MODEL, FILE) == {
        "a": {first.digest, entry("a", prompt="3").digest},
        "b": {entry("b").digest},
    }


def test_what_was_used_is_written_at_the_end_if_nothing_was_kept(store: ReplyStore, again: Again) -> None:
    put_replies(store, [entry("a", prompt="1"), entry("a", prompt="2")])
    store = again(store)
    store.note_use(MODEL, FILE, "a", entry("a", prompt="1").digest)
    store = again(store)
    assert store.last_uses(MODEL, FILE) == {"a": {entry("a", prompt="1").digest}}


def test_replies_from_elsewhere_are_taken_where_they_are_newer(store: ReplyStore) -> None:
    store.put(MODEL, FILE, entry("a", text="ours", recorded="2026-01-02T01:00:00+01:00"))
    older = entry("a", text="older", recorded="2026-01-01T23:59:00Z")
    newer = entry("a", text="newer", recorded="2026-01-02T00:00:01Z")
    assert store.import_newer(MODEL, FILE, [older, entry("b")]) == 1
    assert store.find(older.digest) == entry("a", text="ours", recorded="2026-01-02T01:00:00+01:00")
    assert store.import_newer(MODEL, FILE, [newer]) == 1
    assert store.find(older.digest) == newer
    assert store.last_uses(MODEL, FILE) == {"a": {older.digest}}


def test_what_the_last_run_of_its_case_did_not_use_is_forgotten(store: ReplyStore, again: Again) -> None:
    put_replies(store, [entry("a", prompt="old"), entry("b")])
    store = again(store)
    store.put(MODEL, FILE, entry("a", prompt="new"))
    assert store.prune(lambda _: True) == 1
    assert [kept.entry for kept in store.replies()] == [entry("a", prompt="new"), entry("b")]


def test_replies_for_files_that_are_gone_are_forgotten(store: ReplyStore) -> None:
    put_replies(store, entries(range(3)))
    put_replies(store, [entry(0), entry(9, tools=())], file="other.yaml")
    assert store.prune(lambda file: file != FILE) == 2
    assert [kept.entry for kept in store.replies()] == [entry(0), entry(9, tools=())]


def test_replies_to_cases_that_are_gone_are_forgotten_unless_another_uses_them(store: ReplyStore) -> None:
    put_replies(store, [entry("a"), entry("b"), entry("c")])
    store.put(MODEL, "other.yaml", entry("b"))
    assert sorted(store.cases()) == [(FILE, "a"), (FILE, "b"), (FILE, "c"), ("other.yaml", "b")]
    assert store.prune(lambda _: True, None, [CaseOfFile(FILE, "a"), CaseOfFile(FILE, "b")]) == 1
    assert {kept.entry.digest for kept in store.replies()} == {entry("b").digest, entry("c").digest}


def test_what_was_neither_recorded_nor_used_since_then_is_forgotten(store: ReplyStore) -> None:
    old, new = entry("a", recorded="2026-01-01T00:00:00Z"), entry("b", recorded="2026-01-03T00:00:00Z")
    store.import_newer(MODEL, FILE, [old, new, old._replace(digest="used")])
    store.note_use(MODEL, FILE, "a", "used")
    assert store.prune(lambda _: True, before=entry(recorded="2026-01-02T00:00:00Z").timestamp) == 1
    assert {kept.entry.digest for kept in store.replies()} == {new.digest, "used"}


def test_tools_that_no_reply_needs_are_forgotten_and_their_room_is_given_back(
    file_store: ReplyStore, path: Path
) -> None:
    big = Tool("big", "x" * 1_000_000)
    put_replies(file_store, [entry("a", tools=(big,)), entry("b")])
    file_store.prune(lambda _: True)
    assert file_store.find(entry("a", tools=(big,)).digest)
    file_store.close()
    with closing(ReplyStore(path)) as later:
        later.put(MODEL, FILE, entry("a", tools=TOOLS))
        later.prune(lambda _: True)
    assert path.stat().st_size < 100_000


def test_a_catalogue_that_was_forgotten_elsewhere_is_written_again(store: ReplyStore, place: StorePlace) -> None:
    store.put(MODEL, FILE, entry("a"))
    with closing(ReplyStore(place)) as other:
        other.prune(lambda _: False)
    store.put(MODEL, FILE, entry("b"))
    assert store.find(entry("b").digest) == entry("b")
    assert not store.faults


def test_it_is_known_what_is_kept(store: ReplyStore) -> None:
    first, last = entry("a", recorded="2026-01-01T00:00:00Z"), entry("b", recorded="2026-01-02T00:00:00Z")
    store.put(MODEL, FILE, first)
    store.put(MODEL, "z.yaml", last)
    store.put("local:tiny", FILE, entry("c", model="local:tiny")._replace(recorded="yesterday"))
    assert store.stats() == [
        ModelStats("local:tiny", replies=1, files=1, oldest=0.0, newest=0.0),
        ModelStats(MODEL, replies=2, files=2, oldest=first.timestamp, newest=last.timestamp),
    ]


def test_a_store_that_was_closed_opens_again(store: ReplyStore) -> None:
    store.put(MODEL, FILE, entry())
    store.close()
    store.close()
    assert store.find(entry().digest) == entry()


def test_a_file_that_was_deleted_during_the_run_is_made_again(file_store: ReplyStore, path: Path) -> None:
    file_store.put(MODEL, FILE, entry("a"))
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    file_store.put(MODEL, FILE, entry("b"))
    file_store.close()
    assert file_store.find(entry("b").digest) == entry("b")


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / ".fcall").write_text("a file", encoding="utf-8")
    store = ReplyStore(store_path(tmp_path))
    with pytest.raises(
        StoreError, match=r"recorded replies in .*replies\.db: .*\.fcall is a file where a folder should be"
    ):
        store.put(MODEL, FILE, entry())
    assert store.find(entry().digest) is None
