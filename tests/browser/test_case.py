"""The view of a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pytest_fcall.core import Call, CallResult, Expectation, ExpectedCall, Json, Operator, Outcome, Tool
from pytest_fcall.reporting.account import (
    AcceptedAccount,
    Account,
    AccountAnswer,
    AnsweredTurn,
    AskedStep,
    ExpectedTurn,
)
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from tests.browser.conftest import Looking
from tests.by_night import by_night
from tests.unit.reporting.reports.examples import HOSTILE, report, result

Look = Callable[..., Looking]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PARAMETERS: dict[str, Json] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Tool("get_weather", "The weather of a city.", PARAMETERS), Tool("book", "Books a table.", PARAMETERS))
ROME, OSLO = ({"city": city, "days": 3} for city in ("Rome", "Oslo"))


def answer(valid: bool, arguments: dict[str, Any], *inside: AskedStep) -> AccountAnswer:
    messages = (
        {"role": "system", "content": "You are a friendly clerk."},
        {"role": "user", "content": "Weather in Oslo?"},
    )
    step = AskedStep(messages, (Call("get_weather", arguments),), (CallResult({"degrees": 3}, None),), "It is cold.")
    reasons = () if valid else (("wrong_value", "calls[0].args.city", "`city` is 'Rome', expected 'Oslo'"),)
    return AccountAnswer(valid, (step,), reasons, inside=inside, turns=(AnsweredTurn(1, ((0, 0),)),))


def account_of(regressed: Result) -> Account:
    inside = (
        AskedStep(({"role": "user", "content": "Which city?"},), text="Rome", model="openai:gpt-5.2"),
        AskedStep((), (Call("search", {"q": "Rome"}),), model="openai:gpt-5.2"),
    )
    expected = ExpectedCall("get_weather", {"city": Operator("any", ["Oslo", "Bergen"]), "days": 3})
    return Account(
        regressed.nodeid,
        (answer(False, ROME, *inside), answer(True, OSLO)),
        tools=("get_weather", "book"),
        settings={"temperature": 0},
        expected=(ExpectedTurn(Expectation(stages=((expected,),))),),
        accepted=AcceptedAccount(
            True,
            (Call("get_weather", OSLO),),
            date="2026-01-01",
            system="You are a helpful clerk.",
            prompt="Weather in Bergen?",
            tools={"get_weather": {"description": "The weather of a town.", "parameters": PARAMETERS}},
        ),
        offered="tools",
    )


@pytest.fixture
def shop() -> Report:
    """A case that regressed, between two others."""
    regressed = result(
        "oslo",
        outcome=Outcome.REGRESSED,
        since=("calls[0].args.city: 'Oslo' → 'Rome'",),
        causes=("the system prompt changed: You are a [-helpful-]{+friendly+} clerk.",),
        line=12,
        samples=(1, 2),
        reasons=(("wrong_value", "calls[0].args.city"),),
    )
    return report(
        result("bern", "passed"),
        regressed,
        result("riga", "passed"),
        accounts={regressed.nodeid: account_of(regressed)},
        offered={"tools": TOOLS},
        provenance={"remote": "https://github.com/team/shop", "commit": COMMIT, "folder": "evals"},
    )


def test_expected_called_and_accepted_stand_side_by_side(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/case/1")
    table = looking.page.locator("#case table.calls").first
    expect(table).to_be_visible()
    assert table.locator("thead th").all_inner_texts()[1:] == ["expected", "called", "accepted 2026-01-01"]
    wrong = table.locator(".wrong-argument")
    assert wrong.locator("th, td").all_inner_texts() == ["city", '$any["Oslo", "Bergen"]', '"Rome"', '"Oslo"']
    expect(wrong.locator(".given")).to_have_text('"Rome"')
    expect(table.locator("tr", has_text="days").locator(".given")).to_have_count(0)
    expect(looking.page.locator("#case .wrong-reasons")).to_contain_text("wrong_value")


def test_what_changed_in_prompt_and_tools_is_marked(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/case/1")
    page = looking.page
    prompt = page.locator("#case .message", has_text="system, and what changed").first
    expect(prompt.locator("del")).to_have_text("helpful")
    expect(prompt.locator("ins")).to_have_text("friendly")
    asked = page.locator("#case .message", has_text="prompt, and what changed").first
    expect(asked.locator("del")).to_have_text("Bergen?")
    expect(asked.locator("ins")).to_have_text("Oslo?")
    tool = page.locator("#case .definition").first
    expect(tool.locator("del")).to_have_text("town.")
    expect(tool.locator("ins")).to_have_text("city.")
    expect(tool.locator("summary")).to_contain_text("changed")
    assert page.locator("#case .definition").nth(1).locator("del, ins").count() == 0
    expect(page.locator("#case li del")).to_have_text("helpful")


def test_tools_are_there_with_description_and_parameters(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/case/1")
    tool = looking.page.locator("#case .definition").nth(1)
    expect(tool.locator("summary")).to_have_text("book Books a table.")
    tool.locator("summary").click()
    expect(tool.locator("pre")).to_contain_text('"required"')


def test_every_answer_and_what_an_app_asked_are_there(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/case/1")
    page = looking.page
    other = page.locator("#case details", has_text="✓ right")
    other.locator("summary").first.click()
    expect(other.locator("table.calls td", has_text='"Oslo"').first).to_be_visible()
    inside = page.locator("#case details", has_text="1. openai:gpt-5.2").first
    inside.locator("summary").click()
    expect(inside).to_contain_text("Which city?")


def test_a_case_links_to_its_line_in_the_repository(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/case/1")
    link = looking.page.get_by_role("link", name="on github.com")
    address = f"https://github.com/team/shop/blob/{COMMIT}/evals/cases/oslo.fc.yaml#L12"
    expect(link).to_have_attribute("href", address)
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", "noreferrer")


@pytest.mark.parametrize("remote", [None, "javascript:alert(1)", "https://x:y@github.com/a/b"])
def test_where_the_repository_is_not_known_there_is_no_link(look: Look, shop: Report, remote: str | None) -> None:
    looking = look(report(*shop.results.results, provenance={"remote": remote, "commit": COMMIT}))
    looking.go("#/case/1")
    expect(looking.page.get_by_role("button", name="copy path")).to_be_visible()
    assert looking.page.locator("#case a[href^=http], #case a[href^=javascript]").count() == 0


def test_the_path_is_copied_for_an_editor(look: Look, shop: Report) -> None:
    looking = look(shop, permissions=["clipboard-read", "clipboard-write"])
    looking.go("#/case/1")
    looking.page.get_by_role("button", name="copy path").click()
    expect(looking.page.get_by_role("button", name="copied")).to_be_visible()
    assert looking.page.evaluate("navigator.clipboard.readText()") == "cases/oslo.fc.yaml:12"


def test_the_keyboard_goes_from_case_to_case(look: Look, shop: Report) -> None:
    looking = look(shop)
    looking.go("#/cases?sort=case")
    looking.page.locator(".row", has_text="oslo").click()
    page = looking.page
    expect(page.locator("#case h1")).to_be_focused()
    page.get_by_role("link", name="next →").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#case h1")).to_have_text("riga")
    page.get_by_role("link", name="← previous").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#case h1")).to_have_text("oslo")


def hostile() -> Report:
    wrong = result(HOSTILE, outcome=Outcome.REGRESSED, file=HOSTILE, since=(HOSTILE,), model=HOSTILE)
    call = Call(HOSTILE, {HOSTILE: HOSTILE})
    step = AskedStep(
        ({"role": HOSTILE, "content": HOSTILE},), (call,), (CallResult(None, HOSTILE),), HOSTILE, HOSTILE, HOSTILE
    )
    expected = ExpectedCall(HOSTILE, {HOSTILE: Operator("any", [HOSTILE])})
    found = Account(
        wrong.nodeid,
        (
            AccountAnswer(
                False, (step,), ((HOSTILE, HOSTILE, HOSTILE),), (HOSTILE,), (step,), (AnsweredTurn(1, ((0, 0),)),)
            ),
        ),
        tools=(HOSTILE,),
        settings={HOSTILE: HOSTILE},
        error=HOSTILE,
        expected=(ExpectedTurn(Expectation(stages=((expected,),)), HOSTILE),),
        accepted=AcceptedAccount(
            True, (call,), (), HOSTILE, HOSTILE, HOSTILE, {HOSTILE: {"description": HOSTILE, "parameters": {}}}
        ),
        offered=HOSTILE,
    )
    return report(
        wrong,
        accounts={wrong.nodeid: found},
        offered={HOSTILE: [Tool(HOSTILE, HOSTILE * 20, {HOSTILE: HOSTILE})]},
        provenance={"remote": HOSTILE, "commit": HOSTILE, "folder": HOSTILE},
    )


def test_hostile_text_stays_text(look: Look) -> None:
    looking = look(hostile())
    looking.go("#/case/0")
    for details in looking.page.locator("#case details").all():
        details.evaluate("each => each.open = true")
    expect(looking.page.locator("table.calls")).to_contain_text("<script>alert(1)</script>")
    assert looking.page.locator("script").count() == 2
    assert looking.page.locator("#case img, #case a[href^=http]").count() == 0


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 390), by_night("light", 390), by_night("dark", 1440)]
)
def test_axe_finds_no_violation(look: Look, shop: Report, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(shop, color_scheme=scheme, viewport={"width": width, "height": 800})
    looking.go("#/case/1")
    expect(looking.page.locator("#case h1")).to_be_visible()
    for details in looking.page.locator("#case details").all():
        details.evaluate("each => each.open = true")
    found: Any = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("made", ["shop", "hostile"])
def test_nothing_is_wider_than_the_window(look: Look, shop: Report, width: int, made: str) -> None:
    looking = look(shop if made == "shop" else hostile(), viewport={"width": width, "height": 800})
    looking.go(f"#/case/{1 if made == 'shop' else 0}")
    expect(looking.page.locator("#case h1")).to_be_visible()
    assert looking.page.evaluate("document.documentElement.scrollWidth") <= width
