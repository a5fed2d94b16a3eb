"""Suites on the command line and in case files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bfcl_data import write_leaderboard
from tests.by_night import by_night
from tests.integration.conftest import Shop

SAILOR = '''
import re



def native(request):
    """Sail where one is told to, and answer what one is asked."""
    said = request.messages[-1]["content"]
    found = re.match(r"Sail to (\\w+) with (\\d)", said)
    return [{"name": "sail", "arguments": {"port": found[1], "crew": int(found[2])}}] if found else "I do not know."


def landlubber(request):
    return [{"name": "sail", "arguments": {"port": "Oslo", "crew": 0}}]


def prompted(request):
    assert not request.tools
    assert request.messages[0]["role"] == "system"
    return "[sail(port='Oslo', crew=0)]"
'''


@pytest.fixture
def sea(shop: Shop) -> Shop:
    shop.pytester.makepyfile(sailor=SAILOR)
    write_leaderboard(shop.pytester.path / "data")
    return shop


def sail(sea: Shop, *args: str, app: str = "native") -> pytest.RunResult:
    return sea.run(f"--fc-model=python:sailor:{app}", *args)


def suite(*parts: str) -> list[str]:
    return [f"--fc-suite=bfcl:{','.join(parts)}", "--fc-suite-path=data"]


def test_a_suite_runs_without_a_case_file(sea: Shop) -> None:
    result = sail(sea, *suite("simple_python", "irrelevance"), "-v")
    result.assert_outcomes(passed=5)
    header = "fcall: python:sailor:native (command line), profile bfcl"
    result.stdout.fnmatch_lines(
        [header, "bfcl.fc.yaml::simple_python_0 PASSED*", "bfcl.fc.yaml::irrelevance_0 PASSED*"]
    )


def test_files_are_left_alone_unless_they_are_named_too(sea: Shop) -> None:
    sea.cases("cases:\n  - {id: own, prompt: Hi, expect: no_call}\n")
    sail(sea, *suite("irrelevance")).assert_outcomes(passed=1)
    sail(sea, *suite("irrelevance"), "cases").assert_outcomes(passed=2)


def test_a_failure_names_the_official_error(sea: Shop) -> None:
    result = sail(sea, *suite("simple_python"), app="landlubber")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["wrong_value: `port` is 'Oslo'*(bfcl: value_error:string)"])


@pytest.mark.nightly  # test_suite_pick has the forms
def test_pick_takes_some_of_the_cases(sea: Shop) -> None:
    sail(sea, *suite("simple_python"), "--fc-pick=2").assert_outcomes(passed=2)
    sail(sea, *suite("simple_python", "irrelevance"), "--fc-pick=3@5").assert_outcomes(passed=3)
    result = sail(sea, *suite("simple_python"), "--fc-pick=simple_python_3,*_1", "-v")
    result.stdout.fnmatch_lines(["*::simple_python_1 PASSED*", "*::simple_python_3 PASSED*"])
    result.assert_outcomes(passed=2)


def test_ids_can_be_pasted_back_though_there_is_no_file(sea: Shop) -> None:
    ids = [f"bfcl.fc.yaml::simple_python_{n}" for n in (3, 1)]
    sail(sea, *suite("simple_python", "irrelevance"), *ids).assert_outcomes(passed=2)
    sea.cases("cases:\n  - {id: own, prompt: Hi, expect: no_call}\n")
    sail(sea, *suite("simple_python", "irrelevance"), ids[0], "cases", "-n2").assert_outcomes(passed=2)


def test_ids_of_several_models_can_be_pasted_back(sea: Shop) -> None:
    id_ = "bfcl.fc.yaml::simple_python_3[python:sailor:landlubber]"
    several = sail(sea, *suite("simple_python"), "--fc-model=python:sailor:landlubber", id_, "-v")
    several.assert_outcomes(failed=1)
    several.stdout.fnmatch_lines([f"{id_.replace('[', '?').replace(']', '?')} FAILED*"])
    sail(sea, *suite("simple_python"), id_, app="landlubber").assert_outcomes(failed=1)
    sail(sea, *suite("simple_python"), id_, "bfcl.fc.yaml::simple_python_1", app="landlubber").assert_outcomes(failed=2)
    assert sea.run(*suite("simple_python"), "--fc-live", "-n1", id_).parseoutcomes() == {"failed": 1}


def test_each_suite_may_have_a_place_of_its_own(sea: Shop) -> None:
    from tests.integration.test_command_suites import write_zoo

    write_zoo(sea.pytester.path / "zoo")
    two = ("--fc-suite=bfcl:irrelevance", "--fc-suite=apibench:zoo", "--fc-suite-path=data")
    sail(sea, *two, "--fc-suite-path=apibench=zoo").assert_outcomes(passed=1, failed=2)
    result = sail(sea, *two, "--fc-suite-path=zoo")
    result.stderr.fnmatch_lines(["ERROR: --fc-suite-path: zoo is the second place of all; write NAME=DIR *"])


def test_the_summary_stands_in_the_order_of_the_cases_however_they_ran(sea: Shop) -> None:
    sea.pytester.makeconftest("def pytest_collection_modifyitems(items):\n    items.reverse()\n")
    result = sail(sea, *suite("simple_python", "irrelevance"), app="landlubber")
    told = [line.split()[0] for line in result.stdout.lines if line.startswith("         ") and "%" in line]
    assert told == ["simple_python", "irrelevance"]


def test_the_profile_can_be_ours(sea: Shop) -> None:
    result = sail(sea, *suite("simple_python"), "--fc-suite-profile=strict", app="landlubber")
    result.stdout.fnmatch_lines(["fcall: * (command line), profile strict"])
    result.stdout.fnmatch_lines(["wrong_value: *"])
    result.stdout.no_fnmatch_line("*(bfcl: *")


def test_keywords_and_shards_choose_among_the_cases(sea: Shop) -> None:
    sail(sea, *suite("simple_python"), "-k", "python_2").assert_outcomes(passed=1, deselected=3)
    ran = 0
    for share in ("1/2", "2/2"):
        ran += sail(sea, *suite("simple_python"), f"--fc-shard={share}").parseoutcomes().get("passed", 0)
    assert ran == 4


@pytest.mark.nightly  # they run ids that are pasted back, above
def test_workers_run_a_suite_as_one_process_does(sea: Shop) -> None:
    sail(sea, *suite("simple_python", "irrelevance"), "-n2").assert_outcomes(passed=5)


def test_a_suite_is_asked_of_several_models(sea: Shop) -> None:
    result = sail(sea, *suite("simple_python"), "--fc-model=python:sailor:landlubber")
    result.assert_outcomes(passed=5, failed=3)


def test_the_system_prompt_of_the_suite_tells_the_tools_in_prompt_mode(sea: Shop) -> None:
    from tests.unit.suites.bfcl.test_prompt import WORDS

    sea.file("constants/default_prompts.py", WORDS)
    result = sail(sea, *suite("simple_python"), "--fc-pick=1", "--fc-suite-mode=prompt", app="prompted")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["--fc-suite=bfkl"], "ERROR: --fc-suite: there is no suite `bfkl`; did you mean `bfcl`?"),
        (
            ["--fc-suite=bfcl:simpel_python"],
            "ERROR: *no part 'simpel_python' in suite bfcl; did you mean `simple_python`?",
        ),
        (["--fc-suite=bfcl:live", "--fc-suite-path=data"], "ERROR: *cannot read *BFCL_v4_live_simple.json: No such*"),
        (
            ["--fc-suite=bfcl", "--fc-suite-path=nowhere"],
            "ERROR: *no data for suite bfcl in *nowhere: pip install --no-deps bfcl-eval*",
        ),
        (["--fc-pick=3"], "ERROR: *say something about --fc-suite: name one"),
        ([*suite("simple_python"), "--fc-pick=0"], "ERROR: --fc-suite: '0' selects no case*"),
    ],
)
def test_mistakes_are_told_in_a_line_before_anything_runs(sea: Shop, args: list[str], line: str) -> None:
    result = sail(sea, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])


def test_a_case_file_names_a_suite_and_its_ids_can_be_pasted_back(sea: Shop) -> None:
    sea.file("cases/bfcl.fc.yaml", "suite: bfcl:simple_python\npath: ../data\ndefaults: {tags: [nightly]}\n")
    sail(sea).assert_outcomes(passed=4)
    sail(sea, "cases/bfcl.fc.yaml::simple_python_2").assert_outcomes(passed=1)
    sail(sea, "-m", "nightly").assert_outcomes(passed=4)


def test_a_file_whose_suite_cannot_be_read_errs(sea: Shop) -> None:
    sea.file("cases/bfcl.fc.yaml", "suite: bfcl:simple_python\npath: elsewhere\n")
    result = sail(sea)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["cases/bfcl.fc.yaml:1:8: no data for suite bfcl in *elsewhere: pip install*"])


def test_a_suite_of_a_conftest_file_runs_like_ours(sea: Shop) -> None:
    sea.pytester.makeconftest(
        """
        from pytest_fcall.core import Case, Expectation, Location, Turn

        class Quiz:
            def cases(self, part, path):
                for n in range(2):
                    turn = Turn(({"role": "user", "content": "?"},), Expectation("no_call"))
                    yield Case(f"q{n}", Location("quiz.json"), (turn,))

        def pytest_fcall_suites(config):
            return {"quiz": Quiz()}
        """
    )
    sail(sea, "--fc-suite=quiz").assert_outcomes(passed=2)


def test_hooks_of_the_project_concern_a_suite_without_a_file_too(sea: Shop) -> None:
    sea.pytester.makeconftest(
        """
        def pytest_fcall_request(case, request):
            print("asks", case.id)

        def pytest_runtest_setup(item):
            print("sets up", item.name)
        """
    )
    result = sail(sea, *suite("simple_python"), "-s")
    result.stdout.fnmatch_lines_random(["*asks simple_python_*", "*sets up simple_python_*"])


def test_a_suite_keeps_a_baseline_like_a_case_file(sea: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    sail(sea, *suite("simple_python"), "--fc-accept")
    kept: list[Path] = list(sea.pytester.path.rglob("bfcl.fc.yaml.accepted"))
    assert len(kept) == 1
    sail(sea, *suite("simple_python")).assert_outcomes(passed=4)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_the_scores_of_the_leaderboard_stand_in_the_summary(sea: Shop, workers: str) -> None:
    result = sail(sea, *suite("simple_python", "irrelevance"), "--fc-model=python:sailor:landlubber", workers)
    result.stdout.fnmatch_lines(
        [
            "bfcl * python:sailor:native  python:sailor:landlubber",
            "non_live_ast * -   * -",
            "overall (not asked: wrong) * 5.83 % * 0.21 %",
        ]
    )
