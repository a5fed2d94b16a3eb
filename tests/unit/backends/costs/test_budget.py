from __future__ import annotations

import math
import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.budget import Budget, OverBudget
from pytest_fcall.backends.processes.ledger import FileLedger
from pytest_fcall.core import ModelUnavailable

NEXT = "the next request to openai:gpt-5.2"


def held(budget: Budget, dollars: float) -> int:
    number = budget.hold(dollars, NEXT)
    assert number is not None
    return number


@pytest.mark.parametrize("limit", [-0.01, math.nan, math.inf])
def test_what_is_no_limit_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match=r"must be an amount in US dollars, such as 2\.50, not"):
        Budget(limit)


def test_what_is_settled_counts_instead_of_what_was_held() -> None:
    budget = Budget(1)
    budget.settle(held(budget, 0.9), 0.2)
    assert budget.spent == 0.2
    budget.settle(held(budget, 0.8), None)
    assert budget.spent == 1
    budget.close()


def test_a_request_waits_while_what_others_hold_may_come_back() -> None:
    budget = Budget(1)
    first = held(budget, 0.6)
    assert budget.hold(0.6, NEXT) is None
    budget.settle(first, 0.1)
    assert budget.hold(0.6, NEXT) is not None
    budget.close()


def test_what_could_pass_the_limit_is_refused_in_words() -> None:
    budget = Budget(1)
    budget.settle(held(budget, 0.9), 0.9)
    with pytest.raises(OverBudget) as caught:
        budget.hold(0.2, NEXT)
    assert str(caught.value) == (
        "--fc-max-cost is $1, of which $0.1000 are left, but the next request to openai:gpt-5.2 could cost $0.2000: "
        "raise the limit, or shorten replies with max_tokens"
    )
    assert isinstance(caught.value, ModelUnavailable)
    budget.close()


def test_amounts_that_are_hardly_anything_are_written_in_full() -> None:
    budget = Budget(0.00001)
    budget.settle(held(budget, 0.000002), 0.000002)
    with pytest.raises(OverBudget) as caught:
        budget.hold(0.0003, NEXT)
    said = "--fc-max-cost is $0.00001, of which $0.000008 are left, but the next request to openai:gpt-5.2 could cost"
    assert str(caught.value).startswith(f"{said} $0.0003: ")
    budget.close()


def test_the_limit_can_be_spent_to_the_last_cent() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        budget.settle(held(budget, 0.1), 0.1)
    with pytest.raises(OverBudget):
        budget.hold(0.01, NEXT)
    budget.close()


def test_a_limit_of_nothing_lets_only_free_requests_through() -> None:
    budget = Budget(0)
    budget.settle(held(budget, 0), 0)
    with pytest.raises(OverBudget):
        budget.hold(0.000001, NEXT)
    budget.close()


def test_a_request_is_settled_once() -> None:
    budget = Budget(1)
    number = held(budget, 0.5)
    for _ in range(3):
        budget.settle(number, 0.2)
    assert budget.spent == 0.2
    budget.close()


def test_what_a_dead_process_holds_counts_as_spent_after_a_while(tmp_path: Path) -> None:
    now = [0.0]
    dead = Budget(1, FileLedger(tmp_path / "account.db", lambda: now[0]))
    number = held(dead, 0.6)
    budget = Budget(1, FileLedger(tmp_path / "account.db", lambda: now[0]))
    assert budget.hold(0.6, NEXT) is None
    now[0] = 1000.0
    assert budget.spent == 0.6
    with pytest.raises(OverBudget):
        budget.hold(0.6, NEXT)
    dead.settle(number, 0.1)
    assert budget.spent == 0.1
    budget.close()
    dead.close()


@given(st.lists(st.tuples(st.floats(0, 0.5), st.none() | st.floats(0, 1)), max_size=30))
def test_what_is_spent_never_passes_the_limit(requests: list[tuple[float, float | None]]) -> None:
    budget = Budget(1)
    under_way: list[tuple[int, float | None]] = []
    for dollars, share in requests:
        try:
            number = budget.hold(dollars, NEXT)
        except OverBudget:
            break
        if number is None:
            budget.settle(*under_way.pop())
        else:
            under_way.append((number, None if share is None else share * dollars))
    for settled in under_way:
        budget.settle(*settled)
    assert budget.spent <= 1 + 1e-6
    budget.close()


def paid_of_an_account(path: Path) -> int:
    """Pay until nothing is left; return how often that was."""
    budget, paid = Budget(1, FileLedger(path)), 0
    with closing(budget), suppress(OverBudget):
        while True:
            number = budget.hold(0.01, "one more")
            if number is not None:
                budget.settle(number, 0.005)
                paid += 1
    return paid


def test_processes_share_an_account(tmp_path: Path, processes: BaseContext) -> None:
    with ProcessPoolExecutor(4, mp_context=processes) as pool:
        paid = list(pool.map(paid_of_an_account, [tmp_path / "account.db"] * 4))
    budget = Budget(1, FileLedger(tmp_path / "account.db"))
    assert sum(paid) == 199
    assert budget.spent == pytest.approx(0.995)
    budget.close()


def test_an_account_that_cannot_be_kept_stops_the_model_in_words(tmp_path: Path) -> None:
    budget = Budget(1, FileLedger(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"^--fc-max-cost cannot be kept to: .* cannot be used: "):
        budget.hold(0.1, NEXT)
    budget.close()


def test_a_file_that_is_no_account_stops_the_model_in_words(tmp_path: Path) -> None:
    (tmp_path / "account.db").write_text("something else, and long enough to be seen as that " * 20)
    budget = Budget(1, FileLedger(tmp_path / "account.db"))
    with pytest.raises(ModelUnavailable, match="file is not a database"):
        budget.hold(0.1, NEXT)
    budget.close()


@pytest.mark.skipif(os.name == "nt", reason="needs to take a table away under an open account")
def test_settling_never_fails_and_leaves_what_is_held(tmp_path: Path) -> None:
    budget = Budget(1, FileLedger(tmp_path / "account.db"))
    number = held(budget, 0.5)
    other = sqlite3.connect(tmp_path / "account.db")
    other.execute("ALTER TABLE texts RENAME TO gone")
    budget.settle(number, 0.1)
    other.execute("ALTER TABLE gone RENAME TO texts")
    other.close()
    assert budget.hold(0.6, NEXT) is None
    budget.close()


def test_an_account_that_was_changed_is_no_empty_one(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path / "account.db")
    budget = Budget(1, ledger)
    held(budget, 0.5)
    ledger.change("budget", lambda text, _: (text[:-5], None))
    with pytest.raises(ModelUnavailable, match="the account was changed"):
        budget.hold(0.1, NEXT)
    budget.close()
