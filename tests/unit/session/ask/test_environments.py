from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS
from pytest_fcall.plugin.settings import settings_of


def ground(pytester: pytest.Pytester, *settings: str) -> EnvironmentContext:
    words = [word for setting in settings for word in ("-o", setting)]
    found = settings_of(pytester.parseconfig(*words))
    return found.environments.context(found.root, pytester.path / "cases" / "shop.fc.yaml")


def test_called_functions_have_the_usual_limits(pytester: pytest.Pytester) -> None:
    made = ground(pytester)
    assert (made.root, made.folder, made.limits) == (pytester.path, pytester.path / "cases", DEFAULT_LIMITS)


def test_the_configuration_sets_limits(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "told")
    limits = ground(
        pytester,
        "fc_tool_timeout=2.5",
        "fc_tool_memory=512",
        "fc_tool_allow=network",
        "fc_tool_folders=data\n/usr/share/prices",
        "fc_tool_variables=SHOP_KEY\nNOT_SET_AT_ALL",
    ).limits
    assert (limits.seconds, limits.memory) == (2.5, 512 << 20)
    assert (limits.network, limits.processes) == (True, False)
    assert limits.folders == (pytester.path / "data", Path("/usr/share/prices"))
    assert limits.variables == {"SHOP_KEY": "told"}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("fc_tool_timeout=soon", "fc_tool_timeout: 'soon' must be a positive number"),
        ("fc_tool_timeout=inf", "fc_tool_timeout: 'inf' must be a positive number"),
        ("fc_tool_memory=0.5", "fc_tool_memory: '0.5' must be a positive integer"),
        ("fc_tool_allow=internet", "fc_tool_allow: 'internet' is none of network, programs"),
    ],
)
def test_settings_that_cannot_be_read_are_told_of(pytester: pytest.Pytester, setting: str, said: str) -> None:
    with pytest.raises(pytest.UsageError) as refused:
        ground(pytester, setting)
    assert str(refused.value) == said
