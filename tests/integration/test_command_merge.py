from __future__ import annotations

import json
import subprocess
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, towns, weather_in
from tests.integration.mind import RIGHT, WRONG, Mind
from tests.servers import Answer

STILL = """
from dataclasses import replace
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    \"\"\"Have every reply take as long as every other.\"\"\"
    if run := getattr(item, "run", None):
        answers = run.answers.answers
        answers[:] = [each._replace(reply=replace(each.reply, seconds=0.5)) for each in answers]
    return (yield)
"""


def merge(shop: Shop, *arguments: str) -> subprocess.CompletedProcess[str]:
    return fcall_here(shop.pytester.path, "merge", *arguments, COLUMNS="80")


def shares(shop: Shop) -> list[str]:
    """The shares that were kept, in no order that helps."""
    return [str(path) for path in reversed(run_paths(shop.pytester.path)) if "of" in path.stem]


def said(result: pytest.RunResult) -> list[str]:
    """What a run prints of its cases."""
    lines = result.stdout.str().partition(" tool calls -")[2].partition("\n==")[0].splitlines()[1:]
    return [line for line in lines if line]


@pytest.fixture
def mixed(shop: Shop) -> Shop:
    """Right and wrong answers in several files and categories, a known failure, a mistake and a file without cases."""
    shop.pytester.makepyfile(
        slow="""
        import json
        from pathlib import Path

        async def answer(request):
            said = request.messages[-1]["content"]
            return json.loads(said) if said.startswith("[") else said
        """
    )
    shop.cases(weather_in(towns(8)), "a.fc.yaml")
    shop.cases(
        """
        cases:
          - {id: quiet, prompt: Hello, expect: no_call}
          - {id: loud, prompt: Hello, expect: [{get_weather: {city: Oslo}}]}
          - {id: shy, prompt: Hello, expect: any_call, xfail: it never calls}
          - {id: both, prompt: Hello, tags: [smoke], expect: [{get_weather: {city: Oslo}}, {get_weather: {city: Rome}}]}
        """,
        "b.fc.yaml",
    )
    shop.file("cases/other.yaml", "prices: [1]\n")
    return shop


MODELS = ["--fc-model=python:slow:answer", "--fc-model=python:echo:answer"]


GATED = [
    ([], 1),
    (["--fc-gate=accuracy>=70%", "--fc-gate=malformed<=0 and accuracy[smoke]==0"], 0),
    (["--fc-gate=accuracy>=95%"], 1),
    (["--fc-gate=accuracy>=70%", "--fc-fail=both"], 1),
    (["--fc-gate=accuracy[nobody]>=70%"], 10),
    (["-k", "Town"], 0),
]
ALIKE = GATED[0], GATED[2], GATED[4], GATED[5]
"""Which go the same way as the others."""


@pytest.mark.parametrize(
    ("count", "arguments", "status"),
    [
        pytest.param(count, *gated, marks=() if count == 2 and gated not in ALIKE else pytest.mark.nightly)
        for count in (1, 2, 5)
        for gated in GATED
    ],
)
def test_shares_together_are_as_one_run(mixed: Shop, count: int, arguments: list[str], status: int) -> None:
    mixed.pytester.makeconftest(STILL)
    whole = mixed.run(*MODELS, *arguments)
    assert whole.ret == status
    for number in range(1, count + 1):
        mixed.run(*MODELS, *arguments, f"--fc-shard={number}/{count}")
    done = merge(mixed, *shares(mixed))
    assert done.stdout.splitlines() == said(whole)
    assert done.returncode == status


def test_where_replies_are_missing_the_whole_is_inconclusive(exam: Exam) -> None:
    exam.cities(*towns(8))
    echo = exam.server.default
    exam.server.default = lambda asked: Answer(status=500) if "Town003" in str(asked.json) else echo(asked)
    statuses = {exam.run(f"--fc-shard={number}/2", "--fc-gate=accuracy>=0.5").ret for number in (1, 2)}
    assert statuses == {0, 10}
    done = merge(exam.shop, *shares(exam.shop))
    assert done.returncode == 10
    assert "gate accuracy>=0.5  100.0 %  inconclusive: 1 reply missing" in done.stdout


def test_an_ordinary_test_that_fails_in_one_share_fails_the_whole(weather: Shop) -> None:
    weather.pytester.makepyfile(test_plain="def test_sum(): assert 1 + 1 == 3")
    statuses = sorted(weather.ask(f"--fc-shard={n}/2", "--fc-gate=accuracy>=0.1").ret for n in (1, 2))
    assert statuses == [0, 1]
    assert merge(weather, *shares(weather)).returncode == 1


def test_a_share_that_is_missing_makes_it_inconclusive(mixed: Shop) -> None:
    for number in (1, 3):
        mixed.run(*MODELS, "-k", "Town", f"--fc-shard={number}/4", "--fc-gate=accuracy>=0.1")
    done = merge(mixed, *shares(mixed))
    assert done.returncode == 10
    assert done.stdout.splitlines()[-1] == "gates are not judged: shards 2/4, 4/4 missing"


def test_so_does_one_that_was_broken_off(mixed: Shop) -> None:
    mixed.run(*MODELS, "-x", "--fc-shard=1/1", "--fc-gate=accuracy>=0.1")
    done = merge(mixed, *shares(mixed))
    assert done.returncode == 10
    assert done.stdout.splitlines()[-1].endswith("-1of1.json was interrupted")


def test_a_whole_in_which_no_share_found_anything_is_inconclusive(shop: Shop) -> None:
    for number in (1, 2):
        shop.ask(f"--fc-shard={number}/2")
    assert merge(shop, *shares(shop)).returncode == 10


def test_a_whole_of_which_no_share_selected_anything_is_inconclusive(mixed: Shop) -> None:
    statuses = [mixed.run(*MODELS, "-k", "nosuch", f"--fc-shard={number}/2").ret for number in (1, 2)]
    assert statuses == [0, 0]
    done = merge(mixed, *shares(mixed))
    assert done.returncode == 10
    assert done.stdout.splitlines()[-1] == "incomplete: no shard ran a test"


def test_a_whole_of_plain_tests_is_green(shop: Shop) -> None:
    shop.pytester.makepyfile(test_plain="def test_one(): pass\ndef test_two(): pass\n")
    for number in (1, 2):
        shop.ask(f"--fc-shard={number}/2")
    assert merge(shop, *shares(shop)).returncode == 0


def test_what_failed_is_failed_though_a_share_is_missing(mixed: Shop) -> None:
    mixed.run(*MODELS, "--fc-shard=1/2")
    done = merge(mixed, *shares(mixed))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "incomplete: shard 2/2 missing")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([["--fc-shard=1/2"], ["--fc-shard=1/2"]], "is in more than one of the files"),
        ([["--fc-shard=1/2"], ["--fc-shard=2/3", "-k", "none"]], "the numbers of shards differ"),
        ([["--fc-shard=1/2"], ["--fc-shard=2/2", "--fc-gate=cases>=1"]], "were run with different gates"),
        ([["--fc-shard=1/2", "-k", "none"], ["--fc-shard=1/2", "-k", "none"]], "the same shard was given twice"),
    ],
)
def test_what_is_no_part_of_one_run_is_refused(mixed: Shop, runs: list[list[str]], said: str) -> None:
    for arguments in runs:
        mixed.run(*MODELS, *arguments)
    done = merge(mixed, *shares(mixed))
    assert (done.returncode, said in done.stderr) == (2, True)


def test_shards_of_different_versions_are_refused(mixed: Shop) -> None:
    for number in (1, 2):
        mixed.run(*MODELS, f"--fc-shard={number}/2")
    first, second = map(Path, shares(mixed))
    run = json.loads(second.read_text())
    run["provenance"]["pytest_fcall"] = "0.0.7"
    second.write_text(json.dumps(run))
    done = merge(mixed, str(first), str(second))
    assert (done.returncode, f"of pytest-fcall: {version('pytest-fcall')} and 0.0.7" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("first", "second", "are_refused"),
    [
        ({"commit": "a" * 40}, {"commit": "b" * 40}, True),
        ({"commit": "a" * 40}, {"commit": "a" * 40}, False),
        ({"commit": "a" * 40, "dirty": False}, {"commit": "a" * 40, "dirty": True}, False),
        ({"commit": "a" * 40}, {}, False),
        ({}, {}, False),
    ],
)
def test_shards_of_different_commits_are_refused(
    mixed: Shop, first: dict[str, object], second: dict[str, object], are_refused: bool
) -> None:
    for number in (1, 2):
        mixed.run(*MODELS, "-k", "Town", f"--fc-shard={number}/2")
    paths = sorted(shares(mixed))
    for path, revision in zip(paths, (first, second), strict=True):
        run = json.loads(Path(path).read_text())
        run["provenance"].update(revision)
        Path(path).write_text(json.dumps(run))
    done = merge(mixed, *paths)
    refusal = f"{paths[0]} and {paths[1]} are runs of different commits: {'a' * 10} and {'b' * 10}"
    assert (done.returncode, refusal in " ".join(done.stderr.split())) == ((2, True) if are_refused else (0, False))


def test_the_whole_may_be_kept_and_merged_runs_compared(mixed: Shop) -> None:
    for number in (1, 2):
        mixed.run(*MODELS, "--fc-gate=accuracy>=0.5", f"--fc-shard={number}/2")
    done = merge(mixed, *shares(mixed), "-o", "whole.json")
    assert done.returncode == 0
    whole = read_run(mixed.pytester.path / "whole.json")
    assert (whole.shard, whole.gates, whole.failed["verdicts"]) == (None, ("accuracy>=0.5",), True)
    assert "of2" not in whole.id
    again = merge(mixed, "whole.json")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "0 lost, 0 won" in fcall_here(mixed.pytester.path, "compare", "whole.json", "whole.json").stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gates": ["beauty>=1"]}, "gate 'beauty>=1' cannot be read: unknown figure 'beauty'"),
        ({"fail": "never", "gates": []}, "unknown value of --fc-fail 'never'; available: items, gates, both"),
        by_night({"results": {"results": [{"nodeid": 5}]}}, "not a run file: status: expected str"),
    ],
)
def test_a_damaged_file_is_told(mixed: Shop, change: dict[str, object], said: str) -> None:
    mixed.run(MODELS[0], "-k", "quiet", "--fc-shard=1/1")
    (path,) = map(Path, shares(mixed))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    done = merge(mixed, str(path))
    assert (done.returncode, said in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("wrong", "arguments", "status", "line"),
    [
        by_night(0, ["--fc-gate=regressions<=0 and significant(0.05)"], 0, "holds: sees a drop of *"),
        by_night(2, ["--fc-gate=regressions<=2 and fixed<=1 and undecided<=0"], 0, "2 regressed:"),
        (
            5,
            ["--fc-gate=significant(0.05)"],
            1,
            "* does not hold: python:mind:answer 80.0 % → 40.0 % right, 10 cases, *",
        ),
        (2, [], 1, "2 regressed:"),
        (2, ["--fc-confirm=auto 0%"], 10, "2 undecided:"),
        (8, ["--fc-confirm=auto 0%"], 1, "python:mind:answer is worse: 1 of 10 answers right, 80.0 % before *"),
        by_night(8, ["--fc-confirm=auto 0%", "--fc-gate=cases>=10"], 0, "python:mind:answer is worse: *"),
        (1, ["--fc-gate=regressions<=0", "--fc-confirm=auto 0%"], 10, "* inconclusive: 1 case is undecided"),
    ],
)
def test_what_changed_since_the_baseline_is_judged_over_all_shards(
    mind: Mind, wrong: int, arguments: list[str], status: int, line: str
) -> None:
    mind.shop.pytester.makeconftest(STILL)
    ids = [f"c{number}" for number in range(10)]
    mind.cases(*ids)
    mind.says({"c8": WRONG, "c9": WRONG})
    mind.run("--fc-accept=all")
    arguments = ["--fc-confirm=0", *arguments]
    mind.run("--fc-confirm=0")  # whose answers are measured, too
    mind.says({"c9": RIGHT, **dict.fromkeys(ids[:wrong], WRONG)})
    whole = mind.run(*arguments, "-o", "fc_runs=0")
    assert whole.ret == status
    for number in (1, 2):
        mind.run(*arguments, f"--fc-shard={number}/2")
        for path in map(Path, shares(mind.shop)):
            path.rename(mind.path / path.name)  # each shard has a machine of its own
    done = merge(mind.shop, *map(str, mind.path.glob("*of2.json")), "-o", "whole.json")
    assert done.stdout.splitlines() == said(whole)
    assert done.returncode == status
    assert any(fnmatchcase(each.strip(), f"*{line}") for each in done.stdout.splitlines())
    again = merge(mind.shop, "whole.json")
    assert (again.stdout, again.returncode) == (done.stdout, status)
    failed = read_run(mind.path / "whole.json").failed
    assert failed["worse"] is ("is worse" in done.stdout)
    assert failed["undecided"] is (" undecided:" in done.stdout)
