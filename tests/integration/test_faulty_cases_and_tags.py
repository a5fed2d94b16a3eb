"""A selection by tags (`-m`) and cases with faults: what is not judged is never green."""

from __future__ import annotations

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.integration.command import fcall
from tests.integration.conftest import WEATHER, Shop

GOOD = """
  - {id: good, tags: [smoke], prompt: Thanks?, expect: no_call}
"""
TYPO = "prompt: Weather in Oslo?, expect: [{get_wether: {city: Oslo}}]"


def cases(shop: Shop, *faulty: str, above: str = "") -> None:
    lines = "".join(f"  - {each}\n" for each in faulty)
    shop.file("cases/weather.fc.yaml", f"{WEATHER}{above}cases:{GOOD}{lines}")


def selected(shop: Shop, expression: str, *args: str) -> tuple[int, int, int]:
    """The number of cases that passed, of errors, and of those that were deselected."""
    result = shop.ask("-m", expression, *args)
    found = result.parseoutcomes()
    assert (result.ret == pytest.ExitCode.TESTS_FAILED) == bool(found.get("errors"))
    return found.get("passed", 0), found.get("errors", 0), found.get("deselected", 0)


@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param(f"{{id: typo, tags: [smoke], {TYPO}}}", id="tool"),
        pytest.param("{id: typo, tags: [smoke], promt: Hello, expect: no_call}", id="key"),
        pytest.param("{id: typo, tags: [smoke], samples: many, prompt: Hello, expect: no_call}", id="samples"),
        pytest.param("{id: typo, tags: [smoke], matrix: [], prompt: Hello, expect: no_call}", id="matrix"),
        pytest.param("{tags: [smoke], prompt: Hello, expect: no_call}", id="no id"),
    ],
)
def test_a_faulty_case_has_its_tags(shop: Shop, faulty: str) -> None:
    cases(shop, faulty)
    assert selected(shop, "smoke") == (1, 1, 0)
    assert selected(shop, "slow") == (0, 0, 2)


def test_a_faulty_case_is_left_out_by_the_tags_that_it_has(shop: Shop) -> None:
    cases(shop, f"{{id: typo, tags: [slow], {TYPO}}}", f"{{id: bare, {TYPO}}}")
    assert selected(shop, "smoke") == (1, 0, 2)
    assert selected(shop, "slow") == (0, 1, 2)


def test_a_faulty_row_has_the_tags_of_its_row(shop: Shop) -> None:
    row = "matrix: [{area: smoke, tool: get_wether}, {area: slow, tool: get_wether}]"
    cases(shop, f'{{id: typo, tags: ["{{area}}"], {row}, prompt: Hello, expect: [{{"{{tool}}": {{city: Oslo}}}}]}}')
    assert selected(shop, "smoke") == (1, 1, 1)


@pytest.mark.parametrize("expression", ["smoke", "not smoke"])
@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param("{id: typo, tags: smoke, prompt: Hello, expect: no_call}", id="no list"),
        pytest.param("{id: typo, tags: [skip], prompt: Hello, expect: no_call}", id="reserved"),
        pytest.param('{id: typo, tags: ["a b"], prompt: Hello, expect: no_call}', id="no marker"),
        pytest.param("{id: typo, tag: [smoke], prompt: Hello, expect: no_call}", id="misspelt"),
        pytest.param("{id: typo, labels: [smoke], prompt: Hello, expect: no_call}", id="another word"),
        pytest.param("{id: typo, tags: [slow], tags: [smoke], prompt: Hello, expect: no_call}", id="twice"),
        pytest.param("typo", id="no mapping"),
        pytest.param(f"{{id: typo, inject: [{{into: get_weather}}], {TYPO}}}", id="attacks"),
        pytest.param('{id: typo, tags: ["{area}"], matrix: [], prompt: Hello, expect: no_call}', id="no row"),
    ],
)
def test_a_faulty_case_whose_tags_are_not_certain_is_not_left_out(shop: Shop, faulty: str, expression: str) -> None:
    cases(shop, faulty)
    passed = 1 if expression == "smoke" else 0
    assert selected(shop, expression) == (passed, 1, 1 - passed)


def test_the_name_of_such_a_case_still_selects_it(shop: Shop) -> None:
    cases(shop, "{id: typo, tags: smoke, prompt: Hello, expect: no_call}")
    assert selected(shop, "smoke", "-k", "good") == (1, 0, 1)
    assert selected(shop, "smoke", "--deselect", "cases/weather.fc.yaml::typo") == (1, 0, 1)


def test_such_a_case_stays_at_its_place(shop: Shop) -> None:
    odd = "{{id: {}, tags: smoke, prompt: Hello, expect: no_call}}"
    cases(shop, odd.format("second"), GOOD.strip().removeprefix("- ").replace("good", "third"), odd.format("fourth"))
    result = shop.ask("-m", "smoke", "--collect-only", "-q")
    ids = [line.partition("::")[2] for line in result.outlines if line.startswith("cases/weather.fc.yaml::")]
    assert ids == ["good", "second", "third", "fourth"]


@pytest.mark.parametrize(
    ("above", "errors"),
    [
        pytest.param("include: missing.yaml\ndefaults: {tags: [smoke]}\n", 1, id="missing include"),
        pytest.param("include: missing.yaml\n", 1, id="tags may be in the include"),
        pytest.param("defaults: {tags: smoke}\n", 1, id="tags of the defaults"),
        pytest.param("default: {tags: [smoke]}\n", 1, id="misspelt defaults"),
        pytest.param("defaults: {tag: [smoke]}\n", 1, id="misspelt tags of the defaults"),
        pytest.param("volatile: ['(']\n", 1, id="volatile"),
    ],
)
def test_a_fault_of_the_file_is_an_error_whatever_tags_are_selected(shop: Shop, above: str, errors: int) -> None:
    text = f"{WEATHER}{above}cases:\n  - {{id: one, prompt: Hello, expect: no_call}}\n"
    shop.file("cases/weather.fc.yaml", text)
    assert selected(shop, "smoke") == (0, errors, 0)


def test_a_source_of_tools_that_is_broken_is_an_error_of_the_tags_of_the_file(shop: Shop) -> None:
    above = "tools: [{python: no_such.module}]\ndefaults: {tags: [smoke]}\n"
    shop.file("cases/weather.fc.yaml", f"{above}cases:\n  - {{id: one, prompt: Hello, expect: no_call}}\n")
    assert selected(shop, "smoke") == (0, 1, 0)


def test_a_suite_that_cannot_be_read_is_an_error_whatever_tags_are_selected(shop: Shop) -> None:
    shop.file("cases/suite.fc.yaml", "suite: no_such_suite\n")
    assert selected(shop, "smoke") == (0, 1, 0)


def test_a_tag_that_only_a_faulty_case_has_is_known_under_strict_markers(shop: Shop) -> None:
    cases(shop, f"{{id: typo, tags: [lonely], {TYPO}}}")
    assert selected(shop, "lonely", "--strict-markers") == (0, 1, 1)


def test_the_strength_of_selected_cases_names_the_faulty_ones(shop: Shop) -> None:
    cases(shop, f"{{id: typo, tags: [smoke], {TYPO}}}")
    done = fcall(shop.pytester.path, "strength", "-m", "smoke")
    assert done.returncode == 1
    assert "1 case with faults" in done.stderr


def test_the_run_file_has_the_tags_of_a_faulty_case(shop: Shop) -> None:
    cases(shop, f"{{id: typo, tags: [smoke], {TYPO}}}")
    shop.ask()
    run = read_run(run_paths(shop.pytester.path)[-1])
    assert {each.case: each.tags for each in results_from_json(run.results).results}["typo"] == ("smoke",)
