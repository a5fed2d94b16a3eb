"""What travels with a report, without secrets."""

from __future__ import annotations

import pytest

from pytest_fcall.core.secrets import LEFT_OUT
from pytest_fcall.plugin.redaction import redacted_case, secrets_of
from pytest_fcall.plugin.report import CaseReport
from pytest_fcall.reporting.results import Result, VariantResult, VariantResults

KEY = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"


def test_a_secret_in_what_is_different_in_a_variant_is_left_out(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    variant = VariantResult("typos", 1, 0, 1, difference=f"user: [-{KEY}-]")
    result = Result("a::b", "b", "m", "passed", variants=VariantResults(True, (1, 1), (variant,)))

    secrets = secrets_of(pytestconfig)
    found = redacted_case(secrets, CaseReport(result)).result

    assert found is not None
    assert found.variants is not None
    assert KEY not in found.variants.tried[0].difference
    assert LEFT_OUT in found.variants.tried[0].difference
    assert redacted_case(secrets, CaseReport(None, texts=(KEY,))).texts == (LEFT_OUT,)
