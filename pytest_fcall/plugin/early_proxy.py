"""The way of apps to the proxy, from before conftest files are read: what they import may make a client at once.

Only a run that names an app imports this module; it does so at start-up, and imports little.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

from pytest_fcall.core.files import read_regular
from pytest_fcall.session.ask.proxy_endpoint import ProxyEndpoint

ENDPOINT = pytest.StashKey[ProxyEndpoint]()
_APP = "python"
_ENV_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>\w+)\s*=\s*(?:(?P<quote>['"])(?P<quoted>.*?)(?P=quote)|(?P<plain>\S*))\s*(?:#.*)?"""
)


def open_early(config: pytest.Config, names: Iterable[str], *, has_fixture: bool) -> None:
    """Let the variables lead to the proxy if a model is an app in this process, or a fixture, or the settings want it.

    Raises UsageError for variables that cannot be used: what conftest files import may fail without them.
    """
    proxy, spans = (str(config.getini(name) or "").strip() for name in ("fc_proxy", "fc_spans"))
    always = "always" in (proxy, spans)
    wanted = always or has_fixture or any(_is_app(name, config.rootpath) for name in names)
    if proxy == "off" or not wanted:
        return
    from pytest_fcall.backends.proxy.variables import read_variables

    try:
        variables = read_variables(config.getini("fc_proxy_variables"))
    except ValueError as error:
        from pytest_fcall.plugin.redaction import usage_error

        raise usage_error(config, f"fc_proxy_variables: {error}") from None
    given = config.known_args_namespace
    live = not given.fc_replay and bool(given.fc_model or given.fc_live or has_fixture)
    addresses = {**variables, **_addresses_of_env_file(config.rootpath / ".env", variables)}
    endpoint = config.stash[ENDPOINT] = ProxyEndpoint(addresses, replay=given.fc_replay)
    config.add_cleanup(endpoint.close)
    if spans == "always":
        endpoint.take_spans(over=True)
    endpoint.open_early(offline=not live)
    config.pluginmanager.register(EarlyProxyHooks(endpoint), "fcall-early-proxy")


def _addresses_of_env_file(path: Path, names: Iterable[str]) -> dict[str, str]:
    """The addresses that a `.env` file has for variables: what reads it later leaves alone those that are set."""
    try:
        lines = read_regular(path).decode().splitlines()
    except (OSError, ValueError):
        return {}
    from pytest_fcall.backends.proxy.variables import is_http_address

    found = [match for line in lines if (match := _ENV_LINE.fullmatch(line))]
    addresses = {match["name"]: match["quoted"] or match["plain"] or "" for match in found}
    return {name: addresses[name] for name in names if is_http_address(addresses.get(name, ""))}


def _is_app(name: str, root: Path) -> bool:
    """Whether a model, as it is written, is an app in this process."""
    whole = name.strip().partition("?")[0]
    kind, colon, _ = whole.partition(":")
    if colon:
        return kind == _APP
    from pytest_fcall.backends.settings import SettingsError, model_of_alias

    try:
        model = model_of_alias(whole, root)
    except SettingsError:
        return False
    return model is not None and model.kind == _APP


class EarlyProxyHooks:
    """Gives the variables of providers their own values back where others read them."""

    def __init__(self, endpoint: ProxyEndpoint) -> None:
        self._endpoint = endpoint

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Give the variables back before workers inherit them: each has a proxy of its own, and no test runs here."""
        self._endpoint.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Watch for tests that are no cases, where there are any: each hook costs every case."""
        if not all(map(_is_case, getattr(session, "items", ()))):
            session.config.pluginmanager.register(PlainTests(self._endpoint), "fcall-early-proxy-tests")


class PlainTests:
    """Gives tests that are no cases the variables and clients that they have without this plugin."""

    def __init__(self, endpoint: ProxyEndpoint) -> None:
        self._endpoint = endpoint

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Restore the variables, and have clients that were made at import ask their providers."""
        if _is_case(item):
            return (yield)
        with self._endpoint.plain_test():
            return (yield)


def _is_case(item: pytest.Item) -> bool:
    return hasattr(type(item), "asker")  # in the class: the property makes an asker each time
