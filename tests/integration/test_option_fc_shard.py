from __future__ import annotations

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.exam import towns, weather_in


@pytest.fixture
def large(shop: Shop) -> Shop:
    """Thirty cases in two files."""
    shop.cases(weather_in(towns(20)), "a.fc.yaml")
    shop.cases(weather_in(towns(10)), "b.fc.yaml")
    return shop


def nodeids(shop: Shop) -> list[list[str]]:
    """Of each run that is kept."""
    runs = [read_run(path) for path in run_paths(shop.pytester.path)]
    runs.sort(key=lambda run: run.shard or (0, 0))
    return [[result.nodeid for result in results_from_json(run.results).results] for run in runs]


@pytest.mark.parametrize(("workers", "count"), [("-n0", 3), ("-n2", 2)])
def test_each_case_is_in_one_share(large: Shop, workers: str, count: int) -> None:
    statuses = {large.ask(f"--fc-shard={number}/{count}", workers).ret for number in range(1, count + 1)}
    assert statuses == {0}
    shares = nodeids(large)
    assert all(shares)
    assert sorted(nodeid for share in shares for nodeid in share) == sorted(
        f"cases/{file}.fc.yaml::{town}" for file, cases in (("a", 20), ("b", 10)) for town in towns(cases)
    )


def test_a_share_is_the_same_on_every_machine(large: Shop) -> None:
    """Were these names to change, machines of different versions would leave cases out."""
    large.ask("--fc-shard=2/9")
    assert nodeids(large) == [["cases/a.fc.yaml::Town001", "cases/a.fc.yaml::Town008"]]


def test_other_tests_are_shared_out_too(large: Shop) -> None:
    large.pytester.makepyfile(test_plain="import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test(n): pass\n")
    passed = [large.ask(f"--fc-shard={number}/2").parseoutcomes()["passed"] for number in (1, 2)]
    assert sum(passed) == 39
    assert min(passed) > 0


@pytest.mark.nightly  # for speed alone; each case is in one share, above
def test_only_the_share_is_built(large: Shop) -> None:
    built = [large.ask(f"--fc-shard={number}/3", "--collect-only", "-q").outlines for number in (1, 2, 3)]
    counts = [sum("::" in line for line in lines) for lines in built]
    assert sum(counts) == 30
    assert not any("deselected" in line for lines in built for line in lines)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_an_empty_share_is_green(shop: Shop, workers: str) -> None:
    shop.cases(weather_in(["Oslo"]))
    statuses = [shop.ask(f"--fc-shard={number}/2", workers).ret for number in (1, 2)]
    assert statuses == [0, 0]
    assert sorted(map(len, nodeids(shop))) == [0, 1]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_where_no_share_has_anything_none_is_green(shop: Shop, workers: str) -> None:
    statuses = {shop.ask(f"--fc-shard={number}/2", workers).ret for number in (1, 2)}
    assert statuses == {pytest.ExitCode.NO_TESTS_COLLECTED}


@pytest.mark.parametrize("selection", [["-k", "nosuch"], ["-m", "not tool"]])
def test_a_selection_of_nothing_is_not_green_where_no_other_share_has_cases(shop: Shop, selection: list[str]) -> None:
    shop.cases("cases: [{id: Oslo, tags: [tool], prompt: Oslo, expect: [{get_weather: {city: Oslo}}]}]")
    assert shop.ask("--fc-shard=1/1", *selection).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_share_whose_plain_tests_are_all_of_others_is_green(shop: Shop) -> None:
    shop.pytester.makepyfile(test_plain="def test(): pass")
    results = [shop.ask(f"--fc-shard={number}/2") for number in (1, 2)]
    assert [result.ret for result in results] == [0, 0]
    assert sum(result.parseoutcomes().get("passed", 0) for result in results) == 1


def test_a_share_is_kept_even_where_runs_are_not(large: Shop) -> None:
    large.pytester.makeini("[pytest]\nfc_runs = 0\n")
    result = large.ask("--fc-shard=1/2")
    result.stdout.fnmatch_lines(["kept as .fcall/runs/*-1of2.json"])


def test_gates_are_not_judged_on_a_part(large: Shop) -> None:
    result = large.ask("--fc-shard=1/2", "--fc-gate=cases>=30")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gates are not judged: `fcall merge` judges all shards together"])


@pytest.mark.parametrize(("gates", "status"), [([], 1), (["--fc-gate=accuracy>=0.1"], 0)])
def test_where_gates_decide_a_failed_case_does_not_fail_its_share(weather: Shop, gates: list[str], status: int) -> None:
    assert weather.ask("--fc-shard=1/1", *gates).ret == status


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5", "1/9999999"])
def test_what_is_no_shard_is_a_usage_error(large: Shop, shard: str) -> None:
    result = large.ask(f"--fc-shard={shard}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --fc-shard: '{shard}' must be a shard such as 3/8*"])
