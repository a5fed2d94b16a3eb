"""What a long run holds of the replies that its tests have taken."""

from __future__ import annotations

import pytest

from pytest_fcall.plugin.session import session_of
from tests.servers import Server

OTHERS = 7
CASES = "cases:\n" + "".join(
    f"  - {{id: case_{n}, prompt: Hello {n % OTHERS}, expect: no_call}}\n" for n in range(OTHERS + 1)
)
"""The last asks what the first one asked."""


class Held:
    """Counts, at the end of a run, the replies and their askers that are still held."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        transport = session_of(session.config).replies._transport
        assert transport._dispatcher is not None
        self.replies = len(transport._dispatcher._replies)
        self.askers = len(transport._first_askers)


@pytest.mark.parametrize(
    ("options", "held"),
    [
        pytest.param([], 2, id="what the store has is let go"),
        pytest.param(["--fc-record=off"], OTHERS, id="what nothing else has is held"),
    ],
)
def test_replies_are_let_go_where_they_are_found_again_and_none_is_asked_twice(
    pytester: pytest.Pytester, server: Server, monkeypatch: pytest.MonkeyPatch, options: list[str], held: int
) -> None:
    monkeypatch.setattr("pytest_fcall.session.ask.transport._MOST_HELD", 2)
    pytester.makefile(".fc.yaml", talk=CASES)
    counted = Held()
    model = f"--fc-model=openai:exam?base_url={server.url}"
    run = pytester.inline_run(model, "--fc-concurrency=1", *options, plugins=[counted])
    run.assertoutcome(passed=OTHERS + 1)
    assert len(server.asked) == OTHERS
    assert (counted.replies, counted.askers) == (held, held)
