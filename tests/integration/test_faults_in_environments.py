"""`faults:` where a tool really has an effect: the state of the environment tells how often it happened."""

from __future__ import annotations

import json

from tests.integration.conftest import Shop

DESK = """
class Desk:
    def __init__(self, knows=False):
        self.orders = []
        self.knows = knows

    def order(self, item):
        if not (self.knows and item in self.orders):
            self.orders.append(item)
        return {"order": f"A{len(self.orders)}"}

    def list_orders(self):
        return {"orders": self.orders}
"""
AGENT = '''
ORDER = {"name": "order", "arguments": {"item": "pear"}}


def read(request):
    return [str(message["content"]) for message in request.messages if message["role"] == "tool"]


def again(request):
    """Order until there is a result, at most three times."""
    results = read(request)
    if results and '"A' in results[-1]:
        return "Your pear is ordered."
    return [ORDER] if len(results) < 3 else "I could not order the pear."


def looks(request):
    """Look at the orders, and claim what they do not show."""
    results = read(request)
    if not results:
        return [ORDER]
    if '"A' in results[-1] or len(results) == 2:
        return "Your pear is ordered."
    return [{"name": "list_orders", "arguments": {}}]


def tells(request):
    results = read(request)
    if not results:
        return [ORDER]
    return "Your pear is ordered." if '"A' in results[-1] else "I could not find out whether it is ordered."
'''
CASES = """
tools:
  - {name: order, parameters: {type: object, properties: {item: {type: string}}, required: [item]}}
  - {name: list_orders, parameters: {type: object, properties: {}}}
defaults:
  environment: desk:Desk
cases:
  - id: pear
    prompt: A pear, please.
    expect: {calls: [{order: {item: pear}}]}
    state: {orders: [pear]}
    faults:
      - {tool: order, kind: [timeout, error, slow], recovery: [any, {other_tool: list_orders}]}
      - {id: down, tool: order, kind: [timeout, error], times: always, recovery: [any, {other_tool: list_orders}]}
  - id: known
    setup: {knows: true}
    prompt: A pear, please.
    expect: {calls: [{order: {item: pear}}]}
    state: {orders: [pear]}
    faults: {tool: order, kind: timeout, times: 2, recovery: [any, {other_tool: list_orders}]}
"""


def test_the_state_shows_an_effect_that_happened_twice_or_not_at_all(shop: Shop) -> None:
    shop.file("desk.py", DESK)
    shop.file("agent.py", AGENT)
    shop.file("cases/desk.fc.yaml", CASES)
    shop.run(*(f"--fc-model=python:agent:{name}" for name in ("again", "looks", "tells")), "--fc-report=run.json")
    wrong: dict[str, dict[str, str]] = {}
    run = json.loads((shop.pytester.path / "run.json").read_text("utf-8"))
    for each in run["results"]["results"]:
        if each["status"] == "failed":
            kinds = " ".join(dict.fromkeys(kind for kind, _ in each["reasons"]))
            wrong.setdefault(each["model"].rpartition(":")[2], {})[each["case"]] = kinds
    assert len(run["results"]["results"]) == 24
    assert wrong == {
        # A timeout loses the result alone, so whoever orders again has two pears, or three, whatever is said of it.
        "again": {"pear[fault=timeout]": "wrong_state", "pear[fault=down.timeout]": "wrong_state"},
        # An error and a slow result come instead of the effect, so there is no pear of which one could tell.
        "looks": {
            "pear[fault=error]": "wrong_state",
            "pear[fault=slow]": "wrong_state",
            "pear[fault=down.error]": "wrong_state",
        },
    }
