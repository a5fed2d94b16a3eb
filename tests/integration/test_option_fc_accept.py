from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.tracking.acceptance import read_stanzas
from pytest_fcall.tracking.stanza import Stanza
from tests.by_night import by_night
from tests.integration.mind import OTHERWISE, RIGHT, WRONG, Mind, lines_with


def kept(mind: Mind, name: str = "a.fc.yaml") -> Mapping[str, Stanza]:
    return read_stanzas(mind.baseline(name))


def test_what_is_right_is_accepted_and_what_is_wrong_is_not(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.says({"two": WRONG})

    result = mind.run("--fc-accept")

    assert list(kept(mind)) == ["one"]
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["accepted: 1 case, 0 unchanged", "not accepted, since they fail: two"])


def test_all_takes_failures_as_known_ones(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.says({"two": WRONG})

    mind.run("--fc-accept=all").assert_outcomes(passed=1, failed=1)

    assert [stanza.valid for stanza in kept(mind).values()] == [True, False]
    mind.run().assert_outcomes(passed=1, xfailed=1)


def test_all_takes_no_failure_that_may_be_chance(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    before = mind.files()
    mind.says_in_turn("one", WRONG, RIGHT)

    result = mind.run("--fc-accept=all", "--fc-confirm=auto")

    assert lines_with(result, "not accepted, since they may be wrong by chance: one")
    assert mind.files() == before


def test_after_another_word_in_a_tool_a_review_shows_the_cases_whose_answer_changed(mind: Mind) -> None:
    mind.cases("one", "two", "three")
    mind.run("--fc-accept")
    before = mind.baseline().read_text("utf-8").splitlines()
    asked = kept(mind)["one"].digests
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("Current weather of a city.", "The weather."), "utf-8")
    mind.says({"two": OTHERWISE})

    mind.run("--fc-accept").stdout.fnmatch_lines(["accepted: 1 case, 2 unchanged"])

    changed = {*before} ^ {*mind.baseline().read_text("utf-8").splitlines()}
    assert {line.split()[0] for line in changed} == {"two"}
    assert len(changed) == 4
    assert kept(mind)["one"].digests != asked


def test_a_path_behind_the_option_is_no_value_of_it(mind: Mind) -> None:
    mind.cases("one")

    mind.run("--fc-accept", "cases/a.fc.yaml").assert_outcomes(passed=1)

    assert list(kept(mind)) == ["one"]


def test_a_regression_is_not_accepted_unless_all_is(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": WRONG})
    before = mind.files()

    mind.run("--fc-accept").assert_outcomes(failed=1)
    assert mind.files() == before
    mind.run("--fc-accept=all")
    mind.run().assert_outcomes(xfailed=1)


def test_drifted_calls_are_accepted(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": OTHERWISE})

    accepting = mind.run("--fc-accept", "--fc-drift=fail")

    accepting.assert_outcomes(passed=1)
    assert not lines_with(accepting, "not in the baseline")
    assert not lines_with(mind.run(), "not in the baseline")


@pytest.mark.parametrize("option", ["--fc-accept", "--fc-accept=all", "--fc-prune"])
def test_a_run_in_ci_writes_nothing(mind: Mind, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    mind.cases("one")
    monkeypatch.setenv("CI", "true")

    result = mind.run(option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = filter(None, result.errlines)
    assert line.startswith(f"ERROR: {option.partition('=')[0]}: CI=true is set")
    assert not mind.files()


@pytest.mark.parametrize("ci", ["", "0", "false", "False"])
def test_what_is_not_ci_may_write(mind: Mind, monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    mind.cases("one")
    monkeypatch.setenv("CI", ci)

    mind.run("--fc-accept")

    assert mind.files()


NARROWED = [
    ("-k", "one"),
    ("-x",),
    ("cases/a.fc.yaml::two",),
    ("--lf", "-p", "cacheprovider"),
    ("--fc-dry-run",),
    ("--setup-only",),
]
NARROWED_ALIKE = [
    ("-m", "smoke"),
    ("--ignore=cases/b.fc.yaml",),
    ("--deselect=cases/a.fc.yaml::one",),
    ("-k", "not one"),
    ("-m", "not smoke"),
    ("--maxfail=1",),
    ("cases/a.fc.yaml",),
    ("-n2",),
    ("-n2", "-x"),
    ("-n2", "-k", "two"),
    ("--collect-only",),
    ("--fc-shard=1/2",),
    ("--fc-shard=2/2", "-n2"),
]
"""By the same means as one above, or as the shares of a run below."""


@pytest.mark.parametrize(
    "narrowings",
    [NARROWED, *(by_night([each]) for each in NARROWED_ALIKE)],
    ids=lambda some: " ".join(some[0]) if len(some) == 1 else "each",
)
def test_a_narrowed_run_loses_nothing(mind: Mind, tmp_path: Path, narrowings: list[tuple[str, ...]]) -> None:
    mind.cases("one", "two", "slow-three")
    mind.cases("four", name="b.fc.yaml")
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: one, tags: [smoke]"), "utf-8")
    mind.run("--fc-accept")
    mind.says({"two": WRONG})  # so that -x ends the run there, and --lf has something to run
    folders = mind.path / "cases", mind.path / ".fcall"
    for folder in folders:
        shutil.copytree(folder, tmp_path / folder.name)
    before = mind.files()
    for narrowing in narrowings:
        if "--lf" in narrowing:
            mind.run("-p", "cacheprovider")

        mind.run("--fc-accept", *narrowing)

        assert mind.files() == before, narrowing
        for folder in folders:  # no run knows of the ones before
            shutil.rmtree(folder)
            shutil.copytree(tmp_path / folder.name, folder)


@pytest.mark.parametrize(
    "broken",
    [
        by_night("raise SystemExit"),
        "import os; os._exit(3)",
        "raise KeyboardInterrupt",
        "raise ConnectionError",
        by_night("import pytest; pytest.exit('enough')"),
    ],
)
def test_a_broken_run_loses_nothing_and_keeps_what_it_has_judged(mind: Mind, broken: str) -> None:
    mind.cases("one", "two", "three")
    mind.run("--fc-accept")
    mind.says({"one": OTHERWISE})
    breaking = (
        f"def answer(request):\n    if 'two' in str(request.messages):\n        {broken}\n    return other(request)\n"
    )
    with (mind.path / "mind.py").open("a") as file:
        file.write(f"\n\n{breaking}")

    mind.apart("--fc-accept")

    assert list(kept(mind)) == ["one", "three", "two"]


def test_a_worker_that_crashes_loses_nothing(mind: Mind) -> None:
    mind.cases("one", "two", "three")
    mind.run("--fc-accept")
    before = mind.files()
    lines = "def answer(request):", "    import os", "    os._exit(3) if 'two' in str(request.messages) else None"
    with (mind.path / "mind.py").open("a") as file:
        file.writelines(f"{line}\n" for line in (*lines, "    return other(request)"))

    result = mind.apart("--fc-accept", "-n2")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert mind.files() == before


def test_what_shares_accept_is_what_the_whole_run_accepts(mind: Mind) -> None:
    mind.cases("one", "two", "three", "four")
    mind.run("--fc-accept", "--fc-shard=1/2")
    mind.run("--fc-accept", "--fc-shard=2/2")
    shares = mind.files()

    assert list(kept(mind)) == ["four", "one", "three", "two"]
    mind.run("--fc-accept")
    assert mind.files() == shares


def test_a_known_failure_is_not_told_as_refused(mind: Mind) -> None:
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept=all")

    result = mind.run("--fc-accept")

    assert lines_with(result, "accepted: 0 cases, 0 unchanged")
    assert not lines_with(result, "not accepted")


def test_what_cannot_be_written_fails_the_run(mind: Mind) -> None:
    mind.cases("one")
    (mind.path / "cases" / "__fcall__").touch()

    result = mind.run("--fc-accept")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert lines_with(result, "not accepted: a.fc.yaml.accepted: ")


@pytest.mark.parametrize("more", [("--continue-on-collection-errors",), by_night(())], ids=" ".join)
def test_faulty_cases_and_files_lose_nothing(mind: Mind, more: tuple[str, ...]) -> None:
    mind.cases("one", "two")
    mind.cases("three", name="b.fc.yaml")
    mind.run("--fc-accept")
    before = mind.files()
    mind.cases("one", "two", expect="[{get_wether: {city: Oslo}}]")
    (mind.path / "cases" / "b.fc.yaml").write_text("cases: [", "utf-8")

    mind.run("--fc-accept", *more)

    assert mind.files() == before


def test_files_that_differ_in_their_ending_keep_to_themselves(mind: Mind) -> None:
    mind.cases("one", name="a.yaml")
    mind.cases("two", name="a.yml")

    mind.run("--fc-accept")

    assert list(kept(mind, "a.yaml")) == ["one"]
    assert list(kept(mind, "a.yml")) == ["two"]


def test_ids_may_hold_any_printable_characters(mind: Mind) -> None:
    ids = ["# name x", "ünï — 中文 🙂", "a/b\\c:d*?", "---", "'\"{}"]
    entry = "  - {{id: {}, prompt: any, expect: [{{get_weather: {{city: Oslo}}}}]}}\n"
    entries = "".join(entry.format(json.dumps(id_, ensure_ascii=False)) for id_ in ids)
    mind.shop.cases("cases:\n" + entries, "a.fc.yaml")
    mind.says({"any": RIGHT})

    mind.run("--fc-accept").assert_outcomes(passed=len(ids))

    assert sorted(kept(mind)) == sorted(ids)
    assert not lines_with(mind.run(), "not in the baseline")


def test_what_json_cannot_say_is_not_accepted(mind: Mind) -> None:
    mind.shop.file(
        "conftest.py",
        """
        from pytest_fcall.core import Call, Calls

        def pytest_fcall_decoders(config):
            return {"endless": lambda reply, tools: Calls((Call("get_weather", {"city": float("inf")}),))}
        """,
    )
    mind.shop.cases("cases: [{id: one, prompt: one, decoder: endless, answer: said}]", "a.fc.yaml")
    mind.says({"one": "said"})

    result = mind.run("--fc-accept")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["not accepted, since JSON cannot say the calls: one"])
    assert not mind.files()
