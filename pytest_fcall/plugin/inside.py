"""What an app asked of models, judged where a case says something of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core import Calls, Case, Reason, Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.matching import judge_inside
from pytest_fcall.plugin.costs import Costs
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.proxy_options import proxy_options
from pytest_fcall.plugin.words import fail

if TYPE_CHECKING:
    import pytest

    from pytest_fcall.plugin.answering import Answer

_NO_APP = "`wire` is not judged: it is about what an app asks, and a model was asked itself"


def with_wire(config: pytest.Config, case: Case, answer: Answer, verdict: Verdict) -> Verdict:
    """The verdict, with what `wire` of the case makes of it. The test ends in words where the proxy is off."""
    __tracebackhide__ = True
    if case.wire is None:
        return verdict
    if not proxy_options(config).on:
        fail(f"{case.id}: `wire` needs the proxy, and fc_proxy is off")
    if answer.inside is None:
        return replace(verdict, notes=(*verdict.notes, _NO_APP))
    asked = [each for each in answer.inside if each.model]
    known = registry(config)
    read = [decode(each.reply, each.request.tools, known.decoders) for each in asked]
    calls = Calls(tuple(call for each in read for call in each.calls), read[-1].malformed if read else None)
    costs = Costs(config)
    each_cost = [costs.of(each.priced_as, each.reply.usage) for each in asked]
    reasons = judge_inside(case.wire, asked, calls, each_cost, case.tools, case.rules, known.comparators)
    return with_reasons(verdict, reasons)


def with_reasons(verdict: Verdict, reasons: Sequence[Reason]) -> Verdict:
    """The verdict, with more that is wrong, if anything is."""
    return replace(verdict, valid=verdict.valid and not reasons, reasons=(*verdict.reasons, *reasons))
