"""What a model's server may answer, by accident or on purpose: one case says what was wrong, the others go on."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, repeat
from typing import TypeAlias

import pytest

from tests.attacks.raw_server import RawServer, Speech
from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, assert_errors, called
from tests.servers import Answer, Server, chat, echo, provider_error, refused_connection, responses

INCONCLUSIVE = 10
ATTACK = "attack the client"
CASES = f"""
cases:
  - {{id: first, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
  - {{id: attacked, prompt: {ATTACK}, expect: no_call}}
  - {{id: last, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: Rome}}}}]}}
"""
LONG = 40_000_000
"""More bytes than an answer may have."""


def packed(body: bytes, encoding: str = "gzip") -> Answer:
    return Answer(body, headers={"content-encoding": encoding})


def bare_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


def completion(message: Mapping[str, object] | None = None, **fields: object) -> Answer:
    """A Chat Completions answer; `fields` are those of its choice."""
    said = {"role": "assistant", "content": "Hello.", **(message or {})}
    return Answer(json.dumps({"choices": [{"index": 0, "message": said, "finish_reason": "stop", **fields}]}).encode())


def calls(arguments: str, name: str = "get_weather") -> Answer:
    return chat(calls=[(name, arguments)])


def json_text(text: str) -> Answer:
    return Answer(text.encode())


Given: TypeAlias = Answer | Callable[[], Answer]
"""Large answers are made by the tests of them."""


@cache
def spaces() -> bytes:
    return b" " * LONG


@cache
def packed_spaces() -> bytes:
    return gzip.compress(spaces())


UNANSWERED: Mapping[str, tuple[Given, str]] = {
    "nothing": (Answer(b""), "the server's answer is empty"),
    "spaces": (Answer(b" \n"), "the server's answer is empty"),
    "web page": (Answer(b"<html></html>"), "the server answered with a web page*"),
    "events": (Answer(b"data: {}\n\n"), "the server streams its answer*"),
    "only [DONE]": (Answer(b"data: [DONE]\n\n", content_type="text/event-stream"), "the server streams its answer*"),
    "cut JSON": (replace(chat("Hello."), body=chat("Hello.").body[:-5]), "*JSON that is cut off *"),
    "cut JSON that ends with the connection": (
        replace(chat("Hello."), body=chat("Hello.").body[:-5], unmeasured=True, ending="close"),
        "*JSON that is cut off *",
    ),
    "null": (json_text("null"), "*not in OpenAI's form"),
    "number": (json_text("1e999"), "*not in OpenAI's form"),
    "NaN": (json_text('{"choices": NaN}'), "*JSON with an invalid or too long number"),
    "infinite": (json_text('{"choices": -Infinity}'), "*JSON with an invalid or too long number"),
    "huge integer": (json_text(f'{{"choices": {"9" * 5_000}}}'), "*JSON with an invalid or too long number"),
    "nested lists": (json_text("[" * 100_000 + "]" * 100_000), "*JSON that is nested too deeply"),
    "nested objects": (lambda: json_text('{"choices":' * 100_000), "*JSON that is nested too deeply"),
    "no UTF-8": (Answer(b'{"choices": "\xff"}'), "*not UTF-8 at byte 14"),
    "UTF-16": (Answer(chat("Hello.").body.decode().encode("utf-16")), "*not UTF-8 at byte 1"),
    "unpacked": (packed(b"{}"), "the answer is compressed and cannot be decompressed"),
    "packed by br": (packed(b"{}", "br"), "the answer is compressed with br, which is not read"),
    "packed by zstd": (packed(b"{}", "zstd"), "the answer is compressed with zstd, which is not read"),
    "packed twice": (packed(b"{}", "gzip, gzip"), "the answer is compressed with gzip, gzip, which is not read"),
    "packed by a long name": (packed(b"{}", "x" * 5_000), "the answer is compressed with xxxxx*"),
    "packed in parts": (packed(gzip.compress(b"") * 5_000), "the answer is compressed in more than 100 parts"),
    "error with 200": (json_text('{"error": {"message": "No."}}'), "*No.*"),
    "no choices": (json_text('{"choices": []}'), "*not in OpenAI's form"),
    "choices of a wrong type": (json_text('{"choices": {"a": 1}}'), "*not in OpenAI's form"),
    "many values": (
        lambda: Answer(b'{"choices": [' + b"0," * 3_000_001 + b"0]}"),
        "*JSON with more than 3,000,000 values",
    ),
}
"""Answers that may be other ones the next time, and what is said of them."""

REFUSED: Mapping[str, Given] = {
    "long": lambda: Answer(spaces()),
    "long in chunks": lambda: Answer(spaces(), chunked=True),
    "gzip bomb": lambda: packed(packed_spaces()),
    "gzip bomb by its old name": lambda: packed(packed_spaces(), "x-gzip"),
    "gzip bomb in parts": lambda: packed(gzip.compress(b" " * 4_000_000) * 10),
    "deflate bomb": lambda: packed(zlib.compress(spaces()), "deflate"),
    "bare deflate bomb": lambda: packed(bare_deflate(spaces()), "deflate"),
    "bomb with an error status": lambda: replace(packed(packed_spaces()), status=500),
}
"""Answers that take too much memory, which are asked for once."""

MALFORMED: Mapping[str, Given] = {
    "no finish_reason": completion(finish_reason=None),
    "empty finish_reason": completion(finish_reason=""),
    "finish_reason of a wrong type": completion(finish_reason={"stop": True}),
    "nested arguments": calls("[" * 100_000),
    "nested whole arguments": calls('{"city":' * 500 + "1" + "}" * 500),
    "NaN in arguments": calls('{"city": NaN}'),
    "huge integer in arguments": calls(f'{{"city": {"9" * 100_000}}}'),
    "cut arguments": calls('{"city": "Os'),
    "arguments that are a list": calls('["Oslo"]'),
    "no name": calls("{}", name=""),
    "10,001 calls": lambda: chat(calls=[("get_weather", {"city": "Oslo"})] * 10_001),
    "300,000 calls": lambda: chat(calls=[("get_weather", "{}")] * 150_000),
}
"""Answers that the model itself is blamed for. They are verdicts, and kept."""

JUDGED: Mapping[str, Given] = {
    "NUL in a name": calls("{}", name="get\0weather"),
    "escapes in a name": calls("{}", name="\x1b[2J\u202eget_weather"),
    "lone surrogate": calls('{"city": "\\ud800"}', name="\ud800"),
    "long name": lambda: calls("{}", name="x" * 1_000_000),
    "long argument": lambda: calls(json.dumps({"city": "x" * 5_000_000})),
    "many arguments": lambda: calls(json.dumps({f"a{number}": number for number in range(100_000)})),
    "same key twice": calls('{"city": "Oslo", "city": "Rome"}'),
    "300 calls": chat(calls=[("get_weather", {"city": "Oslo"})] * 300),
    "many choices": lambda: Answer(json.dumps({"choices": json.loads(calls("{}").body)["choices"] * 10_000}).encode()),
}
"""Answers that are whole, if strange: each gets a verdict, and fails its case, which wants no call."""


def answer_attack(exam: Exam, answer: Given) -> None:
    """Have the server answer the case in the middle so."""
    given = answer() if callable(answer) else answer
    exam.server.default = lambda asked: given if ATTACK in asked.body.decode() else echo(asked)


def attack(exam: Exam, answer: Given, *more: str, cases: str = CASES, model: str = "") -> pytest.RunResult:
    """Run three cases, the one in the middle of which is answered so."""
    exam.shop.cases(cases, "exam.fc.yaml")
    answer_attack(exam, answer)
    result = exam.shop.run(f"--fc-model={model or exam.named('exam')}", *more)
    assert "Traceback" not in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()
    assert len(result.stdout.str()) < 20_000
    return result


@pytest.mark.parametrize(("answer", "line"), UNANSWERED.values(), ids=UNANSWERED)
def test_an_answer_that_is_none_is_an_error_of_one_line_and_never_kept(exam: Exam, answer: Given, line: str) -> None:
    result = attack(exam, answer)
    result.assert_outcomes(passed=2, errors=1)
    assert_errors(result, f"openai:exam: {line} (6 attempts)")
    assert result.ret == INCONCLUSIVE
    assert exam.kept() == {called("Oslo"), called("Rome")}


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_an_answer_that_takes_too_much_memory_is_asked_for_once(exam: Exam, answer: Given) -> None:
    result = attack(exam, answer)
    result.assert_outcomes(passed=2, errors=1)
    assert_errors(result, "openai:exam: the server's answer is no model's: it has more than 33,554,432 bytes")
    assert len(exam.server.asked) == 3
    assert exam.kept() == {called("Oslo"), called("Rome")}


@pytest.fixture
def any_model(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> str:
    """The model, asked by a library of its provider."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    return f"any:openai/exam?base_url={exam.server.url}"


@pytest.mark.parametrize("answer", [each for each, _ in UNANSWERED.values()], ids=UNANSWERED)
def test_an_answer_that_is_none_is_not_kept_of_a_library_either(exam: Exam, answer: Given, any_model: str) -> None:
    attack(exam, answer, model=any_model).assert_outcomes(passed=2, errors=1)
    assert exam.kept() == {called("Oslo"), called("Rome")}


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_no_library_reads_an_answer_that_takes_too_much_memory(exam: Exam, answer: Given, any_model: str) -> None:
    result = attack(exam, answer, model=any_model)
    result.assert_outcomes(passed=2, errors=1)
    assert_errors(result, "any:openai/exam: the server's answer is no model's: it has more than 33,554,432 bytes")
    assert len(exam.server.asked) == 3


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_an_answer_that_cannot_be_read_is_malformed_and_never_a_clean_abstention(exam: Exam, answer: Given) -> None:
    result = attack(exam, answer)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*malformed: *"])


@pytest.mark.parametrize("answer", JUDGED.values(), ids=JUDGED)
def test_a_strange_answer_gets_a_verdict(exam: Exam, answer: Given) -> None:
    result = attack(exam, answer)
    result.assert_outcomes(passed=2, failed=1)
    assert not {"\0", "\x1b", "\u202e"} & {*result.stdout.str()}
    exam.run("--fc-replay").assert_outcomes(passed=2, failed=1)


def test_an_answer_of_responses_without_a_status_is_no_clean_abstention(exam: Exam) -> None:
    exam.shop.cases("cases: [{id: sky, prompt: What is the sky like?, expect: no_call}]", "exam.fc.yaml")
    exam.always(responses("Blue.", status=None))
    result = exam.shop.run(f"--fc-model={exam.named('exam', api='responses')}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*malformed: The answer has no status*"])


@pytest.mark.parametrize("decoder", ["auto", "python", "hermes", "json", "llama", "mistral", "toolbench"])
@pytest.mark.parametrize("unit", ["f(", "<tool_call>", "[TOOL_CALLS]", "{", "```json\n"])
def test_a_text_that_takes_a_decoder_long_is_malformed(exam: Exam, decoder: str, unit: str) -> None:
    result = attack(exam, chat(unit * (2_000_000 // len(unit))), cases=f"defaults: {{decoder: {decoder}}}\n{CASES}")
    result.stdout.fnmatch_lines(["*malformed: The text has * characters, more than 1,000,000, so that no calls *"])


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = chat("Hello.").body
PIECE = b" " * 65_536


def said(*pieces: bytes) -> Speech:
    return lambda: pieces


def endless(*pieces: bytes, of: bytes) -> Speech:
    return lambda: chain(pieces, repeat(of))


def endless_gzip() -> Iterable[bytes]:
    stream = zlib.compressobj(wbits=31)
    yield HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"
    while True:
        yield stream.compress(PIECE) + stream.flush(zlib.Z_SYNC_FLUSH)


SPEECHES: dict[str, Speech] = {
    "nothing": said(),
    "no HTTP": said(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "unknown HTTP": said(b"HTTP/9.9 200 OK\r\n\r\n"),
    "status of letters": said(b"HTTP/1.1 abc OK\r\n\r\n"),
    "endless status line": endless(b"HTTP/1.1 200 ", of=b"O" * 65_536),
    "endless header": endless(HEAD + b"X-Long: ", of=b"x" * 65_536),
    "endless headers": endless(HEAD, of=b"X-More: y\r\n" * 1_000),
    "NUL in a header": said(HEAD + b"X-Nul: \0\r\n\r\n" + WHOLE),
    "endless information": endless(of=b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "endless body": endless(HEAD + b"\r\n", of=PIECE),
    "endless text": endless(HEAD + b'\r\n{"choices": "', of=b"x" * 65_536),
    "endless line of events": endless(HEAD + b"\r\ndata: ", of=b"x" * 65_536),
    "endless events": endless(HEAD + b"\r\n", of=b"data: {}\n\n" * 5_000),
    "endless chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", of=b"10000\r\n" + PIECE + b"\r\n"),
    "endless small chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", of=b"1\r\n \r\n" * 10_000),
    "endless chunk extension": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", of=b"x" * 65_536),
    "endless trailers": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", of=b"X-Trailer: y\r\n" * 1_000),
    "endless gzip": endless_gzip,
    "no chunks": said(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + WHOLE),
    "chunk of a huge length": said(HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n" + WHOLE),
    "chunk of a negative length": said(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n" + WHOLE),
    "length of letters": said(HEAD + b"Content-Length: abc\r\n\r\n" + WHOLE),
    "negative length": said(HEAD + b"Content-Length: -1\r\n\r\n" + WHOLE),
    "huge length": said(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n" + WHOLE),
    "length of too many": said(HEAD + b"Content-Length: %d\r\n\r\n" % (len(WHOLE) + 9) + WHOLE),
    "length of too few": said(HEAD + b"Content-Length: %d\r\n\r\n" % (len(WHOLE) - 9) + WHOLE),
    "two lengths": said(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + WHOLE),
}
"""What a server may say that is no HTTP, or never ends."""


def echoed(question: str) -> bytes:
    """What the server answers to other questions."""
    [call] = json.loads(question)
    return chat(calls=[(call["name"], call["arguments"])]).body


SLOW = ("endless information", "endless small chunks", "endless chunk extension")
"""Speeches that end with the time limit of each attempt alone."""


@pytest.mark.parametrize(
    "speech",
    [
        pytest.param(speech, id=name, marks=[pytest.mark.nightly] if name in SLOW else [])
        for name, speech in SPEECHES.items()
    ],
)
@pytest.mark.parametrize("kind", ["openai", "http"])
def test_bytes_that_are_no_answer_are_an_error_of_one_line(exam: Exam, kind: str, speech: Speech) -> None:
    exam.shop.cases(CASES, "exam.fc.yaml")
    with RawServer(speech, echoed) as server:
        model = {"openai": f"openai:exam?base_url={server.url}&timeout=1", "http": f"http:{server.url}?timeout=1"}[kind]
        result = exam.shop.run(f"--fc-model={model}", "--fc-record=missing")
    result.assert_outcomes(passed=2, errors=1)
    assert "Traceback" not in result.stdout.str()
    assert len(result.stdout.str()) < 5_000
    assert not server.exhausted
    assert ATTACK not in exam.kept()


MANY = 100


def many(shop: Shop, more: str = "", count: int = MANY) -> None:
    """Write so many cases."""
    shop.cases(
        "cases:\n" + "".join(f"  - {{id: c{n}, prompt: Question {n}, expect: no_call{more}}}\n" for n in range(count)),
        "exam.fc.yaml",
    )


def assert_one_error(result: pytest.RunResult, line: str, *, errors: int = 1, count: int = MANY) -> None:
    """One error, or one for each worker, and nobody else is asked; the output fits on a screen."""
    result.assert_outcomes(errors=errors, skipped=count - errors)
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines([f"*{line}*", f"fcall: * 0/0 right, {errors} error*, {count - errors} not asked"])
    assert len([each for each in result.stdout.lines if each]) < 50


GONE = {
    "refused": lambda: f"openai:exam?base_url={refused_connection()}",
    "refused app": lambda: f"http:{refused_connection()}",
}


@pytest.mark.parametrize("model", GONE.values(), ids=GONE)
@pytest.mark.parametrize("more", ["", by_night(", samples: 5")])
def test_of_many_cases_one_says_that_nobody_is_there(exam: Exam, model: Callable[[], str], more: str) -> None:
    many(exam.shop, more)
    assert_one_error(exam.shop.run("-q", f"--fc-model={model()}"), "*(6 attempts)")


@pytest.mark.nightly
def test_of_a_thousand_cases_one_says_that_nobody_is_there(exam: Exam) -> None:
    many(exam.shop, count=1_000)
    result = exam.shop.run("-q", f"--fc-model=openai:exam?base_url={refused_connection()}")
    assert_one_error(result, "*(6 attempts)", count=1_000)


@pytest.mark.nightly
def test_each_worker_finds_out_once_that_nobody_is_there(exam: Exam) -> None:
    many(exam.shop)
    model = f"openai:exam?base_url={refused_connection()}"
    result = exam.shop.pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", f"--fc-model={model}", "-n", "2")
    assert_one_error(result, "the connection was refused*", errors=2)


LASTING = {
    "401": provider_error(401, "No."),
    "403": provider_error(403, "No."),
    "404": provider_error(404, "The model `exam` does not exist", code="model_not_found"),
    "no quota": provider_error(429, "You exceeded your current quota.", code="insufficient_quota"),
    "no credit": provider_error(402, "Pay."),
    "away for hours": provider_error(503, "Later.", headers={"retry-after": "5000"}),
    "redirect": Answer(b"", 307, headers={"location": "http://elsewhere.invalid/v1/chat/completions"}),
}


@pytest.mark.parametrize("answer", LASTING.values(), ids=LASTING)
def test_of_many_cases_one_says_what_lasts(exam: Exam, answer: Answer) -> None:
    many(exam.shop, ", samples: 2")
    exam.always(answer)
    assert_one_error(exam.run("-q"), "openai:exam: *")
    assert len(exam.server.asked) <= 64


BROKEN_FOR_GOOD = {
    "500": provider_error(500),
    "503": provider_error(503),
    "closed": Answer(head=False, ending="close"),
    "web page": Answer(b"<html></html>"),
}


@pytest.mark.parametrize("answer", BROKEN_FOR_GOOD.values(), ids=BROKEN_FOR_GOOD)
def test_a_server_that_never_answers_is_left_after_some_requests(exam: Exam, answer: Answer) -> None:
    many(exam.shop)
    exam.always(answer)
    result = exam.run("-q")
    outcomes = result.parseoutcomes()
    assert outcomes["errors"] <= 20
    assert outcomes["errors"] + outcomes["skipped"] == MANY
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["*20 requests in a row got no answer; the last: *"])
    assert len(exam.server.asked) < 6 * MANY


def test_an_outage_in_between_is_not_seen(exam: Exam) -> None:
    many(exam.shop)
    exam.server.default = lambda _: provider_error(503) if len(exam.server.asked) % 50 < 15 else chat("Hello.")
    result = exam.run("-q")
    result.assert_outcomes(passed=MANY)


def test_a_conversation_with_nobody_is_not_begun_by_others(exam: Exam) -> None:
    exam.shop.cases(
        "cases:\n"
        + "".join(f"  - {{id: c{n}, turns: [{{user: Question {n}, expect: no_call}}]}}\n" for n in range(30)),
        "exam.fc.yaml",
    )
    result = exam.shop.run("-q", f"--fc-model=openai:exam?base_url={refused_connection()}")
    result.assert_outcomes(errors=1, skipped=29)


@pytest.fixture
def elsewhere() -> Iterable[Server]:
    with Server() as running:
        yield running


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", ["openai", "any", "http", "app"])
def test_nothing_follows_a_redirect_to_another_server(
    exam: Exam, elsewhere: Server, any_model: str, kind: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam.shop.cases(CASES, "exam.fc.yaml")
    exam.shop.file("asking.py", ASKING)
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    exam.always(Answer(b"", status, headers={"location": f"{elsewhere.url}/chat/completions?key=secret"}))
    own = {"openai": exam.named("exam"), "http": f"http:{exam.server.url}", "app": "python:asking:answer"}
    result = exam.shop.run(f"--fc-model={own.get(kind, any_model)}")
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines([f"*a redirect leads to {elsewhere.url}/chat/completions, which is another server*"])
    assert elsewhere.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_app_may_redirect_to_another_path(exam: Exam, status: int) -> None:
    exam.shop.cases("cases: [{id: sky, prompt: What is the sky like?, expect: no_call}]", "exam.fc.yaml")
    exam.server.script(Answer(b"", status, headers={"location": "/v2/chat"}), Answer(b'"Blue."'))
    exam.shop.run(f"--fc-model=http:{exam.server.url}/chat").assert_outcomes(passed=1)
    assert [asked.path for asked in exam.server.asked] == ["/v1/chat", "/v2/chat"]
    assert exam.server.asked[1].method == ("POST" if status in (307, 308) else "GET")


ASKING = """
import json
import os
import urllib.error
import urllib.request

HEADERS = {"Content-Type": "application/json"}


def answer(request):
    body = json.dumps({"model": "exam-1", "messages": request.messages}).encode()
    asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, HEADERS)
    try:
        with urllib.request.urlopen(asked, timeout=30) as reply:
            message = json.loads(reply.read())["choices"][0]["message"]
    except urllib.error.HTTPError as error:
        raise ValueError(error.read().decode()) from None
    return [each["function"] for each in message.get("tool_calls") or ()] or message["content"]
"""
"""An app that asks a model, and says what it says."""


@pytest.mark.parametrize("answer", [*REFUSED.values()], ids=[*REFUSED])
def test_an_app_is_told_of_an_answer_that_takes_too_much_memory(
    exam: Exam, answer: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam.shop.file("asking.py", ASKING)
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    exam.shop.cases(CASES, "exam.fc.yaml")
    answer_attack(exam, answer)
    result = exam.shop.run("--fc-model=python:asking:answer")
    result.assert_outcomes(passed=2, failed=0, errors=1)
    result.stdout.fnmatch_lines(["*the provider's answer has more than 33,554,432 bytes*"])
    exam.shop.run("--fc-model=python:asking:answer", "--fc-replay").assert_outcomes(passed=2, errors=1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "source", ["openapi: '{}/pets.json?token=secret'", "mcp: {{url: '{}/mcp', headers: {{X: y}}}}"]
)
def test_no_tools_are_fetched_from_another_server(
    shop: Shop, server: Server, elsewhere: Server, source: str, status: int
) -> None:
    server.default = lambda _: Answer(b"", status, headers={"location": f"{elsewhere.url}/pets.json?key=secret"})
    tools = source.format(server.url)
    shop.file("pets.fc.yaml", f"tools: [{{{tools}, as: pets}}]\ncases: [{{id: a, prompt: Hi, expect: no_call}}]\n")
    done = fcall(shop.pytester.path, "tools", "lock")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "key=secret" not in done.stderr
    assert elsewhere.connections == 0
    if "openapi" in source:
        assert f"a redirect leads to {elsewhere.url}/pets.json, which is another server" in done.stderr
