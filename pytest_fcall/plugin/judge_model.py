"""Which model judges, where a case says `$judge`."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Case, FaultyCase
from pytest_fcall.core.case import case_operators
from pytest_fcall.plugin.models import NamedModel, parse_model

OPTION = "--fc-judge"
HOW_TO_NAME_A_JUDGE = (
    "`$judge` needs a model that judges, and none is named. Name one with --fc-judge=KIND:NAME, or in the "
    "configuration (fc_judge = KIND:NAME); for example --fc-judge=openai:gpt-5.2"
)

JUDGE = pytest.StashKey[NamedModel | None]()


def named_judge(config: pytest.Config) -> NamedModel | None:
    """The judge that the command line names, or else the configuration. Raises UsageError for a bad one."""
    if JUDGE not in config.stash:
        config.stash[JUDGE] = _read(config)
    return config.stash[JUDGE]


def lacks_judge(case: Case | FaultyCase, config: pytest.Config) -> bool:
    """Whether a case cannot be judged since nobody was named who would."""
    return isinstance(case, Case) and named_judge(config) is None and is_judged(case)


def is_judged(case: Case) -> bool:
    """Whether a model may have a say in the verdict."""
    return any(operator.name == "judge" for operator in case_operators(case))


def judge_header(config: pytest.Config) -> list[str]:
    """What the run says of its judge before it starts."""
    from pytest_fcall.reporting.header import judge_line

    named = named_judge(config)
    return [judge_line(named.model.id, origin=named.origin, live=named.live)] if named else []


def _read(config: pytest.Config) -> NamedModel | None:
    if typed := str(config.getoption("fc_judge") or "").strip():
        model = parse_model(typed, OPTION, config.rootpath)
        return NamedModel(model, "command line", live=not config.getoption("fc_replay"), option=OPTION)
    if written := str(config.getini("fc_judge") or "").strip():
        model = parse_model(written, "fc_judge", config.rootpath)
        return NamedModel(model, "configuration", live=config.getoption("fc_live"), option=OPTION)
    return None
