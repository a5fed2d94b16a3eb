"""A project lives for a year: two people, their pull requests, a CI without keys, and real git between them.

`pytest -s tests/integration/test_whole_life.py` prints each diff as a reviewer sees it, and each run of CI.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import fcall, plain, run_pytest
from tests.servers import Answer, Asked, Server
from tests.servers.completions import chat

TOOLS = '''
"""The tools of the assistant."""


def get_weather(city: str, unit: str = "celsius") -> str:
    """Tell the weather in a city."""


def get_time(city: str) -> str:
    """Tell the time in a city."""
'''

SETTINGS = """
[tool.pytest]
fc_model = ["openai:clerk"]
"""

CITIES = [
    f"{first}{last}" for first in ("Al", "Ber", "Ko", "Lin", "Ra", "To") for last in ("by", "dam", "gen", "la", "vik")
]


def case(city: str) -> str:
    return f"  - {{id: {city.lower()}, prompt: 'Weather in {city}?', expect: [{{get_weather: {{city: {city}}}}}]}}\n"


def cases(*cities: str, system: str = "You are a helpful clerk.") -> str:
    head = f"defaults:\n  system: {system}\ntools:\n  - python: tools:get_weather\n  - python: tools:get_time\ncases:\n"
    return head + "".join(map(case, cities))


def clerk(asked: Asked) -> Answer:
    """Call for the weather; a friendly clerk spells out the unit in two cities, and `other` does so in a third."""
    system, said = asked.json["messages"][0]["content"], asked.json["messages"][-1]["content"]
    city = said.removeprefix("Weather in ").removesuffix("?")
    spelt = {"Alby", "Toby"} if "friendly" in system else set()
    if asked.json["model"] == "other":
        spelt |= {"Koby"}
    unit = {"unit": "celsius"} if city in spelt else {}
    return chat(calls=[("get_weather", {"city": city, **unit})])


class Person:
    """Somebody with a clone of the project, who has a key."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self._key = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test", "CI": ""}

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, env=plain(), capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def edit(self, name: str, old: str, new: str, *, times: int = 1) -> None:
        path = self.folder / name
        text = path.read_text("utf-8")
        assert text.count(old) >= times
        path.write_text(text.replace(old, new, times), "utf-8")

    def fcall(self, *arguments: str) -> str:
        done = fcall(self.folder, *arguments, **self._key)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def asks(self, *arguments: str) -> str:
        """Run the cases with the model, and keep what it answers for the others."""
        done = run_pytest(self.folder, "-p", "no:cacheprovider", "--fc-live", *arguments, **self._key)
        assert done.returncode == 0, done.stdout + done.stderr
        self.fcall("accept")
        self.fcall("record", "--export")
        return done.stdout

    def commits(self, message: str) -> None:
        self.git("add", "-A")
        sys.stdout.write(f"\n### {message}\n{self.git('diff', '--cached', '--stat')}{self.git('diff', '--cached')}")
        self.git("commit", "-q", "-m", message)

    def reviewed(self) -> int:
        """The number of lines that a reviewer of the last commit sees added or removed."""
        lines = self.git("show", "--format=", "--unified=0", "HEAD").splitlines()
        return sum(1 for line in lines if re.match(r"[+-](?![+-]{2} )", line))


class Team:
    """Two people, and the place where their branches meet."""

    def __init__(self, folder: Path, server: Server) -> None:
        self._folder = folder
        self.server = server
        self._clones = 0
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder / "origin"], env=plain(), check=True)
        self.ann, self.bob = self.clone("ann"), self.clone("bob")

    def clone(self, name: str) -> Person:
        subprocess.run(["git", "clone", "-q", self._folder / "origin", self._folder / name], env=plain(), check=True)
        return Person(self._folder / name, self.server)

    def ci(self, branch: str = "main") -> subprocess.CompletedProcess[str]:
        """What CI finds in a fresh clone of a branch, without a key."""
        self._clones += 1
        clone = self.clone(f"ci-{self._clones}")
        clone.git("checkout", "-q", branch)
        asked = len(self.server.asked)
        done = run_pytest(clone.folder, "-p", "no:cacheprovider", CI="true")
        assert len(self.server.asked) == asked, "CI asked the model"
        sys.stdout.write(f"\n### CI on {branch}: exit status {done.returncode}\n{done.stdout}")
        return done


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with Server(clerk) as server:
        yield Team(tmp_path, server)


@pytest.mark.needs("git")
def test_a_project_lives_for_a_year(team: Team) -> None:
    _the_first_day(team)
    _a_word_that_nobody_asked_for(team)
    _the_word_is_asked_and_accepted(team)
    _two_branches_with_new_cases(team)
    _another_word_for_a_tool(team)
    _a_case_is_renamed(team)
    _a_second_model(team)
    _a_tool_is_renamed(team)


def _the_first_day(team: Team) -> None:
    """The first day."""
    ann = team.ann
    ann.fcall("init")
    (ann.folder / "conftest.py").unlink()
    (ann.folder / "cases/first.fc.yaml").unlink()
    (ann.folder / "tools.py").write_text(TOOLS, "utf-8")
    (ann.folder / "pyproject.toml").write_text(SETTINGS, "utf-8")
    (ann.folder / "cases/weather.fc.yaml").write_text(cases(*CITIES), "utf-8")
    ann.asks()
    ann.commits("Thirty cases")
    ann.git("push", "-q", "origin", "HEAD:main")
    first = team.ci()
    assert first.returncode == 0
    assert "30 passed" in first.stdout


def _a_word_that_nobody_asked_for(team: Team) -> None:
    """One word of the system prompt, and nobody asked the model."""
    ann = team.ann
    ann.git("checkout", "-q", "-b", "friendly")
    ann.edit("cases/weather.fc.yaml", "helpful", "friendly")
    ann.commits("A friendly clerk")
    ann.git("push", "-q", "origin", "friendly")
    unasked = team.ci("friendly")
    assert unasked.returncode == 10
    assert unasked.stdout.count("+ You are a friendly clerk.") == 1
    assert "pytest --fc-live && fcall record --export" in unasked.stdout


def _the_word_is_asked_and_accepted(team: Team) -> None:
    """Asked and accepted: a reviewer sees the word, and the two answers that changed."""
    ann = team.ann
    ann.asks()
    ann.commits("What the friendly clerk says")
    assert ann.reviewed() == 2 * (1 + 2 * 3)  # the word; of each answer its verdict, call and reply
    ann.git("push", "-q", "origin", "friendly", "friendly:main")
    assert team.ci().returncode == 0


def _two_branches_with_new_cases(team: Team) -> None:
    """Two branches, each with new cases, meet without a conflict."""
    ann, bob = team.ann, team.bob
    for person, branch, after, new in (
        (ann, "north", CITIES[0], ("Narby", "Norvik")),
        (bob, "south", CITIES[-1], ("Narla", "Sorvik")),
    ):
        person.git("fetch", "-q")
        person.git("checkout", "-q", "-B", branch, "origin/main")
        person.edit("cases/weather.fc.yaml", case(after), "".join(map(case, (after, *new))))
        person.asks()
        person.commits(f"Two cases of the {branch}")
        person.git("push", "-q", "origin", branch)
    bob.git("fetch", "-q")
    bob.git("merge", "-q", "--no-edit", "origin/north")
    bob.git("push", "-q", "origin", "south:main")
    merged = team.ci()
    assert merged.returncode == 0, merged.stdout
    assert "34 passed" in merged.stdout


def _another_word_for_a_tool(team: Team) -> None:
    """A word of a tool on one branch, a new case on the other: what nobody asked is said, and asked."""
    ann, bob = team.ann, team.bob
    ann.git("fetch", "-q")
    ann.git("checkout", "-q", "-B", "tool", "origin/main")
    ann.edit("tools.py", "Tell the weather in a city", "Tell the weather in a town")
    ann.asks()
    ann.commits("Another word for a tool")
    assert ann.reviewed() == 2 * 2 + 7  # the word; and the two cases side by side that the merge left unsorted
    bob.edit("cases/weather.fc.yaml", case(CITIES[3]), case(CITIES[3]) + case("Middel"))
    bob.asks()
    bob.commits("A case in the middle")
    bob.git("push", "-q", "origin", "south:main")
    ann.git("fetch", "-q")
    ann.git("merge", "-q", "--no-edit", "origin/main")
    ann.git("push", "-q", "origin", "tool")
    behind = team.ci("tool")
    assert behind.returncode == 10
    assert "34 passed" in behind.stdout
    ann.asks()
    ann.commits("The case in the middle, by the new word")
    ann.git("push", "-q", "origin", "tool:main")
    assert team.ci().returncode == 0


def _a_case_is_renamed(team: Team) -> None:
    """A case gets another name, and what is known of it comes along."""
    ann = team.ann
    ann.edit("cases/weather.fc.yaml", "{id: alby,", "{id: capital,")
    ann.fcall("mv", "alby", "capital")
    ann.commits("Alby is the capital")
    ann.git("push", "-q", "origin", "HEAD:main")
    renamed = team.ci()
    assert renamed.returncode == 0, renamed.stdout
    assert "1 new" not in renamed.stdout


def _a_second_model(team: Team) -> None:
    """A second model."""
    ann = team.ann
    ann.edit("pyproject.toml", '["openai:clerk"]', '["openai:clerk", "openai:other"]')
    ann.asks()
    ann.commits("A second model")
    ann.git("push", "-q", "origin", "HEAD:main")
    last = team.ci()
    assert last.returncode == 0, last.stdout
    assert "70 passed" in last.stdout


def _a_tool_is_renamed(team: Team) -> None:
    """A tool gets another name. Nobody has to ask for that."""
    ann = team.ann
    ann.edit("tools.py", "def get_weather", "def forecast")
    ann.edit("cases/weather.fc.yaml", "get_weather", "forecast", times=36)
    ann.fcall("mv", "--tool", "get_weather", "forecast")
    ann.commits("The weather is a forecast")
    ann.git("push", "-q", "origin", "HEAD:main")
    forecast = team.ci()
    assert forecast.returncode == 0, forecast.stdout
    assert "70 passed" in forecast.stdout
