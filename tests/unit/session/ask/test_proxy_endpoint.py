from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_fcall.backends.proxy.variables import QUIET
from pytest_fcall.session.ask.proxy_endpoint import ProxyVariables

OFFICIAL = "https://api.example.com/v1"
TEAM = "http://team.example.com/v1"
PROXY = "http://127.0.0.1:8000/token"
LED = f"{PROXY}/SHOP_BASE_URL/v1"


class Writes(dict[str, str]):
    """Variables that count how often one of them is changed."""

    count = 0

    def __setitem__(self, name: str, value: str) -> None:
        self.count += 1
        super().__setitem__(name, value)

    def pop(self, name: str, *default: str | None) -> str | None:  # type: ignore[override]
        self.count += 1
        return super().pop(name, *default)


@pytest.fixture
def environment() -> Writes:
    """The variables of the process, none of which is set."""
    return Writes()


@pytest.fixture
def variables(environment: Writes) -> ProxyVariables:
    """Variables that stay set, as they do among cases."""
    variables = ProxyVariables({"SHOP_BASE_URL": OFFICIAL}, environment)
    variables.stay(stays=True)
    return variables


@contextmanager
def app_at_work(variables: ProxyVariables, *, offline: bool = False) -> Iterator[None]:
    variables.begin(PROXY, offline=offline)
    yield
    variables.end()


def test_the_variables_are_changed_once_for_all_cases_of_a_session(
    environment: Writes, variables: ProxyVariables
) -> None:
    for _ in range(100):
        with app_at_work(variables):
            assert environment == {"SHOP_BASE_URL": LED}
    assert environment.count == 1
    variables.restore()
    assert environment == {}


def test_the_providers_address_is_known_while_the_variables_lead_to_the_proxy(
    environment: Writes, variables: ProxyVariables
) -> None:
    environment["SHOP_BASE_URL"] = TEAM
    for _ in range(2):
        with app_at_work(variables):
            assert variables.upstreams() == {"SHOP_BASE_URL": TEAM}
        assert variables.upstreams() == {"SHOP_BASE_URL": TEAM}
    variables.restore()
    assert environment == {"SHOP_BASE_URL": TEAM}


def test_in_plain_tests_the_variables_change_for_as_long_as_the_app_is_at_work(
    environment: Writes, variables: ProxyVariables
) -> None:
    with app_at_work(variables):
        pass
    variables.stay(stays=False)
    assert environment == {}
    with app_at_work(variables), app_at_work(variables):
        assert environment == {"SHOP_BASE_URL": LED}
    assert environment == {}


def test_a_placeholder_stands_for_a_key_only_where_no_model_is_asked(
    environment: Writes, variables: ProxyVariables
) -> None:
    with app_at_work(variables, offline=True):
        assert environment == {"SHOP_BASE_URL": LED, "SHOP_API_KEY": "sk-replayed", **QUIET}
    with app_at_work(variables):
        assert environment == {"SHOP_BASE_URL": LED}
    environment["SHOP_API_KEY"] = "sk-own"
    with app_at_work(variables, offline=True):
        assert environment == {"SHOP_BASE_URL": LED, "SHOP_API_KEY": "sk-own", **QUIET}


def test_another_process_gets_no_key_where_no_model_is_asked(environment: Writes, variables: ProxyVariables) -> None:
    environment["SHOP_API_KEY"] = "sk-own"
    assert variables.values(PROXY, offline=True)["SHOP_API_KEY"] == "sk-replayed"
    assert "SHOP_API_KEY" not in variables.values(PROXY, offline=False)


def test_a_fixture_that_changes_the_variables_for_a_test_decides_where_requests_go(
    environment: Writes, variables: ProxyVariables
) -> None:
    with app_at_work(variables):
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(environment, "SHOP_BASE_URL", TEAM)
        with app_at_work(variables):
            assert environment["SHOP_BASE_URL"] == LED
            assert variables.upstreams() == {"SHOP_BASE_URL": TEAM}
        assert environment["SHOP_BASE_URL"] == TEAM
    with app_at_work(variables):
        assert variables.upstreams() == {"SHOP_BASE_URL": OFFICIAL}
    assert environment == {}


def test_a_fixture_that_was_there_first_gives_its_value_back_too(
    environment: Writes, variables: ProxyVariables
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(environment, "SHOP_BASE_URL", TEAM)
        with app_at_work(variables):
            assert variables.upstreams() == {"SHOP_BASE_URL": TEAM}
    assert environment == {}
    with app_at_work(variables):
        assert environment == {"SHOP_BASE_URL": LED}
        assert variables.upstreams() == {"SHOP_BASE_URL": OFFICIAL}
    variables.restore()
    assert environment == {}


def test_what_an_app_changes_itself_is_changed_back_for_the_next_case(
    environment: Writes, variables: ProxyVariables
) -> None:
    with app_at_work(variables):
        environment["SHOP_BASE_URL"] = TEAM
    with app_at_work(variables):
        assert environment == {"SHOP_BASE_URL": LED}
        assert variables.upstreams() == {"SHOP_BASE_URL": OFFICIAL}


def test_nothing_is_given_back_while_an_app_is_at_work(environment: Writes, variables: ProxyVariables) -> None:
    with app_at_work(variables):
        variables.restore()
        assert environment == {"SHOP_BASE_URL": LED}


def test_frameworks_report_to_nobody_where_nobody_is_asked_and_as_before_afterwards(
    environment: Writes, variables: ProxyVariables
) -> None:
    environment["LANGSMITH_TRACING"] = "true"
    for _ in range(2):
        with app_at_work(variables, offline=True):
            assert environment["LANGSMITH_TRACING"] == "false"
            assert environment["OPENAI_AGENTS_DISABLE_TRACING"] == "1"
        with app_at_work(variables):
            assert environment["LANGSMITH_TRACING"] == "true"
    variables.restore()
    assert environment == {"LANGSMITH_TRACING": "true"}


def test_variables_that_stand_are_there_before_the_first_app_and_behind_each(
    environment: Writes, variables: ProxyVariables
) -> None:
    variables.set_early(PROXY, offline=False)
    assert environment == {"SHOP_BASE_URL": LED}
    with app_at_work(variables):
        assert environment == {"SHOP_BASE_URL": LED}
    assert environment == {"SHOP_BASE_URL": LED}
    assert variables.upstreams() == {"SHOP_BASE_URL": OFFICIAL}
    assert environment.count == 1
    variables.unset()
    assert environment == {}


def test_variables_that_stand_are_given_back_for_plain_tests_and_for_models_of_ours(
    environment: Writes, variables: ProxyVariables
) -> None:
    environment["SHOP_BASE_URL"] = TEAM
    variables.set_early(PROXY, offline=True)
    with variables.without_proxy():
        assert environment == {"SHOP_BASE_URL": TEAM}
    assert {"SHOP_BASE_URL": LED, "SHOP_API_KEY": "sk-replayed"}.items() <= environment.items()
    variables.stay(stays=False)
    assert environment == {"SHOP_BASE_URL": TEAM}
    with variables.without_proxy():
        pass
    assert environment == {"SHOP_BASE_URL": TEAM}
    variables.stay(stays=True)
    assert {"SHOP_BASE_URL": LED, "SHOP_API_KEY": "sk-replayed"}.items() <= environment.items()
    variables.unset()
    variables.stay(stays=True)
    assert environment == {"SHOP_BASE_URL": TEAM}


def test_a_fixture_that_found_them_set_gives_them_back_and_none_is_left_in_the_end(
    environment: Writes, variables: ProxyVariables
) -> None:
    variables.set_early(PROXY, offline=False)
    for _ in range(2):
        variables.stay(stays=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(environment, "SHOP_BASE_URL", TEAM)
            with app_at_work(variables):
                assert environment["SHOP_BASE_URL"] == LED
                assert variables.upstreams() == {"SHOP_BASE_URL": TEAM}
            assert environment["SHOP_BASE_URL"] == TEAM
    variables.unset()
    assert environment == {}
