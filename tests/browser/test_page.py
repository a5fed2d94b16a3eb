"""A report in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from pytest_fcall.core import Call, CallResult, Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.reports.report import EarlierResult, EarlierRun, Report
from pytest_fcall.reporting.results import Result
from tests.browser.conftest import Looking
from tests.by_night import by_night
from tests.unit.reporting.reports.examples import HOSTILE, account, report, result

Look = Callable[..., Looking]


@pytest.fixture
def shop() -> Report:
    """A run with a bit of everything."""
    regressed = result(
        "oslo",
        outcome=Outcome.REGRESSED,
        since=("calls[0].args.city: 'Oslo' → 'Rome'",),
        causes=("the system prompt changed",),
        category="simple",
        tags=("smoke",),
        reasons=(("wrong_value", "calls[0].args.city"),),
        called=(("get_weather", "get_weather"), ("book", "cancel")),
        seconds=1.5,
        cost=0.01,
        before=(5, 5),
    )
    results = [
        regressed,
        result(
            "rome", "passed", Outcome.OK, category="parallel", tags=("travel",), seconds=0.5, cost=0.002, before=(5, 5)
        ),
        result("bern", "failed", category="irrelevance", reasons=(("wrong_tool", "calls[0]"),), seconds=0.1),
        result("riga", "error", category="simple"),
        result("oslo", "passed", Outcome.FIXED, category="simple", model="n", nodeid="oslo[n]", samples=(3, 5)),
    ]
    step = AskedStep(
        ({"role": "user", "content": "Weather in Oslo?"},),
        (Call("get_weather", {"city": "Rome", "days": 3}),),
        (CallResult({"degrees": 3}, None),),
        text="It is cold.",
    )
    answer = AccountAnswer(
        False, (step,), (("wrong_value", "calls[0].args.city", "`city` is 'Rome', expected 'Oslo'"),)
    )
    return report(
        *results,
        gates=[JudgedGate("accuracy>=0.9", "share", 0.5, 0.9, False)],
        accounts={regressed.nodeid: Account(regressed.nodeid, (answer,), tools=("get_weather", "book"))},
        earlier=[EarlierRun("1", "2026-01-01T00:00:00", {regressed.nodeid: EarlierResult("passed", Outcome.OK)})],
    )


def rows(looking: Looking) -> Locator:
    return looking.page.locator("#list .row")


def names(looking: Looking) -> list[str]:
    return [*rows(looking).locator(".name").all_inner_texts()]


def test_the_overview_says_what_decides_first(look: Look, shop: Report) -> None:
    page = look(shop).page
    expect(page.locator("h1").first).to_contain_text("failed")
    titles = page.locator("#overview h2").all_inner_texts()
    assert titles[:3] == ["Gates", "What changed, and what is wrong", "In common"]
    expect(page.locator("svg.radar")).to_have_count(0)  # one model has answered one category only


def test_a_wheel_shows_the_categories_that_all_models_have_answered(look: Look) -> None:
    categories = ("simple", "parallel", "irrelevance")
    answered = [
        result(each, "passed", Outcome.OK, category=each, model=model, nodeid=f"{each}[{model}]")
        for each in categories
        for model in ("m", "n")
    ]
    page = look(report(*answered, result("only", "passed", Outcome.OK, category="multiple", model="m"))).page
    expect(page.locator("svg.radar")).to_be_visible()
    for each in categories:
        expect(page.locator("svg.radar")).to_contain_text(each)
    expect(page.locator("svg.radar")).not_to_contain_text("multiple")


def test_without_scripts_the_overview_is_whole(look: Look, shop: Report) -> None:
    page = look(shop, java_script_enabled=False).page
    expect(page.get_by_text("accuracy>=0.9")).to_be_visible()
    expect(page.get_by_text("calls[0].args.city: 'Oslo' → 'Rome'")).to_be_visible()
    expect(page.locator("nav .scripted")).to_be_hidden()
    expect(page.get_by_text("need JavaScript")).to_be_visible()


def test_a_link_of_the_overview_leads_to_the_case(look: Look, shop: Report) -> None:
    page = look(shop).page
    page.locator("#overview").get_by_role("link", name="oslo").first.click()
    expect(page.locator("#case h1")).to_contain_text("oslo")
    expect(page.locator("#case .wrong-argument")).to_have_text('city"Rome"')
    expect(page.locator("#case .strip")).to_have_attribute("aria-label", "oldest first: right")
    for text in ("Weather in Oslo?", "It is cold.", "{degrees: 3}", "the system prompt changed", "get_weather, book"):
        expect(page.locator("#case")).to_contain_text(text)


@pytest.mark.parametrize(
    ("field", "value", "cases"),
    [
        ("outcome", "regressed", ["oslo"]),
        ("status", "passed", ["rome", "oslo"]),
        ("model", "n", ["oslo"]),
        ("category", "irrelevance", ["bern"]),
        ("tag", "travel", ["rome"]),
        ("reason", "wrong_tool", ["bern"]),
        ("tool", "cancel", ["oslo"]),
        ("file", "cases/riga.fc.yaml", ["riga"]),
    ],
)
def test_a_filter_leaves_its_cases_and_stands_in_the_address(
    look: Look, shop: Report, field: str, value: str, cases: list[str]
) -> None:
    looking = look(shop)
    looking.go("#/cases")
    looking.page.locator(f"#filters [name={field}]").select_option(value)
    assert names(looking) == cases
    address = looking.page.url
    looking.page.goto("about:blank")
    looking.page.goto(address)
    assert names(looking) == cases


def test_words_are_found_in_case_file_tag_tool_and_reason(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/cases")
    for words, cases in (("wrong_ bern", ["bern"]), ("TRAVEL", ["rome"]), ("cancel", ["oslo"]), ("nothing", [])):
        looking.page.locator("[name=q]").fill(words)
        assert names(looking) == cases
    looking.page.get_by_role("button", name="clear").click()
    expect(looking.page.locator("#count")).to_have_text("5 of 5 results")


@pytest.mark.parametrize(
    ("order", "first"), [("case", "bern"), ("rate", "oslo"), ("seconds", "oslo"), ("cost", "oslo")]
)
def test_cases_are_sorted(look: Look, shop: Report, order: str, first: str) -> None:
    looking = look(shop)
    looking.go(f"#/cases?sort={order}")
    assert names(looking)[0] == first


def test_the_keyboard_is_enough(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/cases")
    page = looking.page
    page.locator("#list").focus()
    page.keyboard.press("ArrowDown")
    expect(rows(looking).nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#case h1")).to_contain_text("riga")
    page.go_back()
    expect(page.locator("#list")).to_be_visible()


def test_a_button_copies_a_command(look: Look, shop: Report) -> None:
    looking = look(shop, permissions=["clipboard-read", "clipboard-write"])
    looking.go("#/case/0")
    looking.page.get_by_role("button", name="copy: show its prompt").click()
    expect(looking.page.get_by_role("button", name="copied")).to_be_visible()
    assert (
        looking.page.evaluate("navigator.clipboard.readText()") == "fcall prompt cases/oslo.fc.yaml::oslo --fc-model=m"
    )


def test_a_name_that_a_shell_would_obey_is_quoted(look: Look) -> None:
    looking = look(report(result("$(rm -rf it's)", "passed")), permissions=["clipboard-read", "clipboard-write"])
    looking.go("#/case/0")
    looking.page.get_by_role("button", name="copy: accept it").click()
    expect(looking.page.get_by_role("button", name="copied")).to_be_visible()
    assert looking.page.evaluate("navigator.clipboard.readText()") == (
        "fcall accept 20260102-030405-0000.json 'cases/$(rm -rf it'\\''s).fc.yaml::$(rm -rf it'\\''s)'"
    )


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_the_page_is_light_or_dark_as_the_reader_wants(look: Look, shop: Report, scheme: str, ground: str) -> None:
    page = look(shop, color_scheme=scheme).page
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("fragment", ["#/", "#/cases", "#/case/0"])
def test_nothing_is_wider_than_the_window(look: Look, shop: Report, width: int, fragment: str) -> None:
    looking = look(shop, viewport={"width": width, "height": 800})
    looking.go(fragment)
    expect(looking.page.locator("main")).to_be_visible()
    assert looking.page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_printed_has_no_controls(look: Look, shop: Report) -> None:
    page = look(shop).page
    page.emulate_media(media="print")
    expect(page.locator("nav")).to_be_hidden()
    expect(page.get_by_role("heading", name="Gates")).to_be_visible()


@pytest.mark.parametrize("fragment", ["#/", "#/cases", "#/case/0"])
def test_hostile_text_stays_text(look: Look, fragment: str) -> None:
    wrong = result(
        HOSTILE,
        outcome=Outcome.REGRESSED,
        since=(HOSTILE,),
        causes=(HOSTILE,),
        category=HOSTILE,
        tags=(HOSTILE,),
        reasons=((HOSTILE, HOSTILE),),
        called=((HOSTILE, "x"),),
        model=HOSTILE,
        file=HOSTILE,
    )
    made = report(
        wrong, conclusions=(HOSTILE,), accounts={wrong.nodeid: account(wrong.nodeid, HOSTILE, "x" * 1_000_000)}
    )
    looking = look(made)
    looking.go(fragment)
    expect(looking.page.locator("main")).to_contain_text("<script>alert(1)</script>")
    assert looking.page.locator("script").count() == 2


@pytest.mark.parametrize(
    ("scheme", "fragment"),
    [
        *(("dark", "#/"), ("light", "#/cases"), ("dark", "#/case/0")),
        *(by_night("light", "#/"), by_night("dark", "#/cases"), by_night("light", "#/case/0")),
    ],
)
def test_axe_finds_no_violation(look: Look, shop: Report, fragment: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(shop, color_scheme=scheme)
    looking.go(fragment)
    expect(looking.page.locator("main h1:visible")).to_be_visible()
    found: Any = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()


def many(count: int) -> Report:
    results: list[Result] = [
        result(
            f"case {number}", "passed" if number % 7 else "failed", tags=(f"t{number % 5}",), seconds=0.1 * (number % 9)
        )
        for number in range(count)
    ]
    return report(*results, accounts={each.nodeid: account(each.nodeid, "An answer.") for each in results})


def test_ten_thousand_cases_scroll_and_filter(look: Look) -> None:
    looking = look(many(10_000))
    looking.go("#/cases")
    page = looking.page
    assert rows(looking).count() < 100
    page.locator("#list").focus()
    page.keyboard.press("End")
    expect(page.locator("#row-9999")).to_be_visible()
    page.locator("[name=q]").fill("9998")
    assert names(looking) == ["case 9998"]
    rows(looking).first.click()
    expect(page.locator("#case")).to_contain_text("An answer.")


def test_ten_thousand_cases_take_less_than_ten_megabytes(look: Look) -> None:
    looking = look(many(10_000))
    assert looking.page.evaluate("document.documentElement.outerHTML.length") < 10_000_000
