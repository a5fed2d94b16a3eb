from __future__ import annotations

import json

from tests.integration.command import fcall
from tests.integration.conftest import Shop

TOOLS = "tools: [{name: book, parameters: {}}, {name: cancel, parameters: {}}, {name: search, parameters: {}}]\n"


def case(number: int, expected: str, called: str) -> str:
    prompt = json.dumps([{"name": called, "arguments": {}}])
    return f"  - {{id: c{number}, prompt: '{prompt}', expect: [{{{expected}: {{}}}}]}}\n"


def write(shop: Shop, *pairs: tuple[str, str]) -> None:
    cases = "".join(case(number, *pair) for number, pair in enumerate(pairs))
    shop.file("cases/shop.fc.yaml", f"{TOOLS}cases:\n{cases}")


def test_tools_that_are_mixed_up_are_told_and_shown(shop: Shop) -> None:
    write(shop, ("book", "cancel"), ("book", "book"), ("search", "search"))
    brief = shop.ask()
    brief.stdout.fnmatch_lines(["mixed up: `cancel` called for `book`, 1 of 2 times"])
    brief.stdout.no_fnmatch_line("expected \\ called*")
    shop.ask("-v").stdout.fnmatch_lines(["expected \\ called  book  cancel*", "book                  1       1"])


def test_two_runs_are_compared_by_what_they_mix_up(shop: Shop) -> None:
    shop.file("pytest.ini", "[pytest]\n")
    write(shop, ("book", "book"), ("book", "book"))
    shop.ask()
    shop.file("echo.py", "def answer(request):\n    return [{'name': 'cancel', 'arguments': {}}]\n")
    shop.ask("--fc-record=off")
    said = fcall(shop.pytester.path, "compare").stdout
    assert "mixed up: `cancel` called for `book`, 0 times before, 2 now\n" in said


def test_what_is_mixed_up_in_a_conversation_counts(shop: Shop) -> None:
    called = json.dumps([{"name": "cancel", "arguments": {}}])
    turns = f"- {{user: '{called}', expect: [{{book: {{}}}}]}}\n      - user: x\n"
    shop.file("cases/talk.fc.yaml", f"{TOOLS}cases:\n  - id: talk\n    turns:\n      {turns}")
    shop.ask().stdout.fnmatch_lines(["mixed up: `cancel` called for `book`, 1 of 1 times"])
