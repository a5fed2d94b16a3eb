"""Two models, or an earlier run and this one, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pytest_fcall.core import Call
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.reports.report import ComparedRun, EarlierAnswer, Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, ModelPair, RunComparison
from pytest_fcall.session.result.compared_runs import compare_models
from tests.browser.conftest import Looking
from tests.by_night import by_night
from tests.unit.reporting.reports.examples import HOSTILE, report, result

Look = Callable[..., Looking]


def answered(case: str, model: str, right: bool, city: str) -> tuple[Result, Account]:
    node = f"{case}[{model}]"
    made = result(case, "passed" if right else "failed", model=model, nodeid=node, file="cases/a.fc.yaml")
    step = AskedStep((), (Call("find", {"city": city}),))
    return made, Account(node, (AccountAnswer(right, (step,)),))


def two_models(count: int = 0) -> Report:
    found = [
        answered("lost", "m", True, "Oslo"),
        answered("same", "m", True, "Bern"),
        answered("other", "m", True, "Riga"),
        answered("won", "m", False, "Lima"),
        answered("lost", "n", False, "Rome"),
        answered("same", "n", True, "Bern"),
        answered("other", "n", True, "Paris"),
        answered("won", "n", True, "Quito"),
    ]
    found += [answered(f"c{n}", model, model == "m", model) for model in "mn" for n in range(count)]
    results = [each for each, _ in found]
    before = RunComparison("run 1", "run 2", (ComparedGroup("m", "all", 2, 2, 1, 1, 0, (-1, 1), 0.5),), (), (), ())
    answers = {
        "lost[m]": EarlierAnswer(False, (Call("find", {"city": "Cairo"}),)),
        "same[m]": EarlierAnswer(True),
        "other[m]": EarlierAnswer(True, (Call("find", {"city": "Tunis"}),), was_edited=True),
    }
    return report(
        *results,
        accounts={account.nodeid: account for _, account in found},
        models_compared=compare_models(results, 8),
        runs_compared=[ComparedRun("20260101-000000-0000", "2026-01-01T00:00:00+00:00", before, answers)],
    )


def cases(looking: Looking) -> list[str]:
    expect(looking.page.locator("#pair-cases tbody")).to_be_visible()  # the rows are unpacked first
    return [*looking.page.locator("#pair-cases tbody tr th a").all_inner_texts()]


def test_only_what_differs_is_listed_with_the_calls_of_both(look: Look) -> None:
    looking = look(two_models())
    looking.page.get_by_role("link", name="Compare").click()
    page = looking.page
    expect(page.locator("#pair-count")).to_have_text("3 cases of 4 differ")
    assert cases(looking) == ["lost", "won", "other"]
    lost = page.locator("#pair-cases tbody tr").first
    assert lost.locator("td code").all_inner_texts() == ['find(city: "Oslo")', 'find(city: "Rome")']
    expect(lost).to_contain_text("right:")
    expect(lost).to_contain_text("wrong:")


def test_the_paired_test_is_said_in_words(look: Look) -> None:
    looking = look(two_models())
    looking.go("#/compare")
    words = looking.page.locator("#pair-words")
    expect(words).to_contain_text("Chance may explain the difference. 4 cases, 75.0 % → 75.0 % right")
    expect(words).to_contain_text("1 lost, 1 won, p = 1")


def test_all_cases_are_listed_on_demand_and_the_address_says_so(look: Look) -> None:
    looking = look(two_models())
    looking.go("#/compare")
    page = looking.page
    page.get_by_label("all cases").check()
    expect(page.locator("#pair-count")).to_have_text("4 cases")
    expect(page.locator("#pair-cases tbody tr")).to_have_count(4)
    address = page.url
    assert "before=m&now=n&all=1" in address
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#pair-cases tbody tr")).to_have_count(4)


def test_an_earlier_run_is_compared_too(look: Look) -> None:
    looking = look(two_models())
    looking.go("#/compare")
    page = looking.page
    page.locator("#pair").select_option(label="run 20260101-000000-0000 → this run")
    expect(page.locator("#pair-count")).to_have_text("2 cases of 3 differ")
    assert cases(looking) == ["lost", "other"]
    rows = page.locator("#pair-cases tbody tr")
    assert rows.first.locator("td code").all_inner_texts() == ['find(city: "Cairo")', 'find(city: "Oslo")']
    expect(rows.first).to_contain_text("won")
    expect(rows.last).to_contain_text("edited")
    assert "run=20260101-000000-0000" in page.url


def test_a_case_is_one_click_away(look: Look) -> None:
    looking = look(two_models())
    looking.go("#/compare")
    looking.page.locator("#pair-cases a").first.click()
    expect(looking.page.locator("#case h1")).to_have_text("lost")
    looking.page.go_back()
    expect(looking.page.locator("#pair-cases")).to_be_visible()


def test_one_model_and_no_earlier_run_leave_nothing_to_compare(look: Look) -> None:
    looking = look(report(result()))
    expect(looking.page.get_by_role("link", name="Compare")).to_have_count(0)
    looking.go("#/compare")
    expect(looking.page.locator("#pair-cases")).to_be_hidden()


def test_thousands_of_differences_come_by_portions(look: Look) -> None:
    looking = look(two_models(3000))
    looking.go("#/compare")
    page = looking.page
    expect(page.locator("#pair-count")).to_have_text("3,003 cases of 3,004 differ")
    expect(page.locator("#pair-more button")).to_be_attached()
    expect(page.locator("#pair-cases tbody").first).to_be_visible()
    before = page.locator("#pair-cases tbody").count()
    assert before < 10
    page.evaluate("document.querySelector('#pair-more').scrollIntoView()")
    expect(page.locator("#pair-cases tbody").nth(before)).to_be_attached()


def test_hostile_text_stays_text(look: Look) -> None:
    found = [answered(HOSTILE, "m", True, HOSTILE), answered(HOSTILE, HOSTILE, False, HOSTILE * 2)]
    group = ComparedGroup(HOSTILE, "all", 1, 1, 0, 1, 0, (0, 0), 1)
    comparison = RunComparison(HOSTILE, HOSTILE, (group, group), (), (), ())
    answers = {each.nodeid: EarlierAnswer(False, (Call(HOSTILE, {HOSTILE: HOSTILE}),)) for each, _ in found}
    looking = look(
        report(
            *(each for each, _ in found),
            accounts={account.nodeid: account for _, account in found},
            models_compared=[ModelPair("m", HOSTILE, group)],
            runs_compared=[ComparedRun(HOSTILE, HOSTILE, comparison, answers)],
        )
    )
    for place in range(2):
        looking.go("#/compare")
        looking.page.locator("#pair").select_option(index=place)
        expect(looking.page.locator("#pair-cases")).to_contain_text("<script>alert(1)</script>")
    assert looking.page.locator("script").count() == 2


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 390), by_night("light", 390), by_night("dark", 1440)]
)
def test_axe_finds_no_violation(look: Look, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(two_models(), color_scheme=scheme, viewport={"width": width, "height": 800})
    looking.go("#/compare?before=m&now=n&all=1")
    expect(looking.page.locator("#pair-cases tbody tr")).to_have_count(4)
    found: Any = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_nothing_is_wider_than_the_window(look: Look, width: int) -> None:
    looking = look(two_models(), viewport={"width": width, "height": 800})
    looking.go("#/compare")
    expect(looking.page.locator("#pair-cases")).to_be_visible()
    assert looking.page.evaluate("document.documentElement.scrollWidth") <= width
