"""How often models make each kind of mistake, counted in the wrong answers of the corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_fcall.strength.mistakes.kinds import SEEN
from tests.conformance.corpus import CASES, VERDICTS, rows
from tests.conformance.mistakes_of_models import differences
from tests.conformance.test_bfcl_corpus import pytestmark  # noqa: F401  skips without the corpus

PAGE = Path(__file__).parents[2] / "docs/how-to/strength.md"


@pytest.mark.nightly  # it needs all rows
def test_the_weights_are_the_counts_of_wrong_answers_and_the_page_says_what_share_the_mistakes_imitate() -> None:
    cases = {(row["category"], row["id"]): row for row in rows(CASES)}
    found = list(differences(rows(VERDICTS), cases))
    counts = Counter(mistake for each in found for mistake in each.mistakes)
    assert dict(counts.most_common()) == dict(SEEN)
    kinds = Counter(each.kind for each in found)
    readable = len(found) - kinds["unreadable"]
    vague = sum(each.kind == "one" and "text replaced" in each.mistakes for each in found)
    lines = [
        f"| wrong answers | {len(found):,} | |",
        f"| no calls that can be read | {kinds['unreadable']:,} | |",
        f"| calls or texts that can be read | {readable:,} | 100 % |",
        f"| one mistake of the table | {kinds['one']:,} | {100 * kinds['one'] / readable:.1f} % |",
        f"| … of these, any other text | {vague:,} | {100 * vague / readable:.1f} % |",
        f"| several mistakes of the table | {kinds['several']:,} | {100 * kinds['several'] / readable:.1f} % |",
        f"| something else | {kinds['beyond']:,} | {100 * kinds['beyond'] / readable:.2f} % |",
    ]
    page = PAGE.read_text(encoding="utf-8")
    assert [line for line in lines if line not in page] == []
