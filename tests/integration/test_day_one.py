"""What an app team writes on its first day, carried out: the right answers pass, and a wrong one to each fails."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop
from tests.unit.cases.day_one import write_day_one

TEAM = '''
import json
from contextlib import suppress


def call(name, **arguments):
    return [{"name": name, "arguments": arguments}]


def right(request):
    """Go on from what was said, called and answered."""
    said = " ".join(str(m["content"]) for m in request.messages if m["role"] == "user")
    told = [m["content"] for m in request.messages if m["role"] == "tool"]
    called = [c["function"] for m in request.messages for c in m.get("tool_calls") or ()]
    if "orders 8841" in said:
        orders = ["8841", "8842"][len(told):]
        return call("get_order", order_id=orders[0]) if orders else "Both are shipped."
    if "Ana tomorrow" in said:
        return call("create_event", start="2026-11-22T14:00:00-08:00", minutes=60)
    if "dishwasher" in said:
        return call("search_kb", query="dishwasher damaged on delivery")
    if "unpaid" in said:
        return call("list_invoices", customer="Acme", country="NO", status="unpaid", page=1)
    if "on flight F7" in said:
        return call("book", flight="F7", cabin="PREMIUM_ECONOMY" if "premium" in said else "ECONOMY")
    if "last order" in said:
        if not told:
            return call("find_orders", customer="Ana")
        return call("refund", order_id=json.loads(told[0])[0]["id"]) if len(told) == 1 else "Refunded."
    if "login page" in said:
        return call("jira__search", query="login page bug")
    if "Cancel order" in said:
        return "I cannot cancel orders." if told else call("get_order", order_id="8841")
    if "invoice 77" in said:
        if len(told) < 2:
            return call("charge", invoice=77, idempotency_key="k1")
        return "It is paid."
    if "projects" in said:
        return "Shall I delete P1?" if told else call("list_projects")
    if "Wetter" in said or "天気" in said:
        return call("get_weather", city="münchen")
    return call("create_expense", amount=42.1, currency="EUR")


def wrong(request):
    answer = right(request)
    if isinstance(answer, str):
        return "It is done." if "?" in answer or "cannot" in answer else answer
    first = answer[0]
    if first["name"] == "get_order" and "Cancel" in str(request.messages[-1]["content"]):
        return answer
    if first["name"] in ("list_projects", "find_orders"):
        return answer
    if first["name"] == "charge":
        first["arguments"]["idempotency_key"] = f"k{len(request.messages)}"
        return answer
    if first["name"] == "jira__search":
        return call("wiki__search", query="login page bug")
    changed = {"order_id": "1", "start": "2026-11-21T14:00", "query": "dishwasher", "country": "Norway"}
    changed |= {"cabin": "FIRST", "city": "Berlin", "amount": 42.3}
    first["arguments"] |= {name: value for name, value in changed.items() if name in first["arguments"]}
    return answer


def judge(request):
    said = request.messages[-1]["content"]
    yes = "cannot cancel orders" in said or "Shall I delete" in said
    return json.dumps({"answer": "yes" if yes else "no", "reason": "it says so" if yes else "it does not"})
'''

FAKE = """
class Shop:
    def __init__(self):
        self.refunded = []

    def find_orders(self, customer):
        return [{"id": "O9", "customer": customer}]

    def refund(self, order_id):
        self.refunded.append(order_id)


make = Shop
"""


@pytest.fixture
def team(shop: Shop) -> Shop:
    cases = shop.pytester.path / "cases"
    cases.mkdir()
    write_day_one(cases)
    shop.file("team.py", TEAM)
    shop.file("shop/__init__.py", "")
    shop.file("shop/fake.py", FAKE)
    return shop


def test_the_right_answers_pass(team: Shop) -> None:
    result = team.run("--fc-model=python:team:right", "--fc-judge=python:team:judge")
    result.assert_outcomes(passed=14)


def test_a_wrong_answer_to_each_fails(team: Shop) -> None:
    result = team.run("--fc-model=python:team:wrong", "--fc-judge=python:team:judge")
    result.assert_outcomes(failed=14)
