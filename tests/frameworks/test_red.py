"""A broken agent is never green, whatever it is written with, whatever breaks, live or replayed."""

from __future__ import annotations

from tests.frameworks.model import answer, wrong
from tests.frameworks.project import Project
from tests.servers import Server


def test_the_wrong_tool_fails(project: Project, provider: Server) -> None:
    provider.default = wrong
    run = project.run("--fc-live")
    assert (run.status, set(run.outcomes.values())) == (1, {"failure"}), run.output


def test_a_tool_that_raises_is_not_green_in_a_replay(recorded: Project) -> None:
    recorded.break_tool()
    recorded.replayed("-k", "weather").not_green()


def test_an_agent_that_raises_is_not_green(recorded: Project) -> None:
    recorded.break_agent()
    recorded.replayed().not_green()
    recorded.run("--fc-live").not_green()


def test_another_prompt_is_inconclusive_in_a_replay(recorded: Project) -> None:
    recorded.change(recorded.framework.file, "small shop", "large shop")
    assert recorded.replayed().not_green().status == 10


def test_a_request_around_the_proxy_is_not_green(recorded: Project) -> None:
    recorded.without_wire()
    with Server(answer) as elsewhere:
        recorded.go_around(elsewhere)
        recorded.replayed("-k", "weather").not_green()
        recorded.run("--fc-live", "-k", "weather").not_green()
        assert elsewhere.asked
