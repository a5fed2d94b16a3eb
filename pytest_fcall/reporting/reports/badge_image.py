"""A report as a badge in SVG, for pages that show pictures of a repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from pytest_fcall.reporting.reports.badge import badge_of
from pytest_fcall.reporting.reports.report import Report

_COLOURS: Final = {"brightgreen": ("#1a7f37", "#fff"), "red": ("#cf222e", "#fff"), "lightgrey": ("#d0d7de", "#1f2328")}
"""The ground and the text, which can be read on it by everybody (WCAG 2, AA)."""
_LABEL: Final = ("#444c56", "#fff")

_NARROW: Final = frozenset(" .,:;!|'()[]ijlftrI")
_WIDE: Final = frozenset("mwMW%@")
_GAP: Final = 7
_HEIGHT: Final = 20


def write(report: Report) -> Iterator[str]:
    """The picture."""
    label, message, colour = badge_of(report)
    title = f"{label}: {message}"
    parts = [(label, *_LABEL), (message, *_COLOURS[colour])]
    total = sum(_width(text) + 2 * _GAP for text, _, _ in parts)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{_HEIGHT}" '
    yield f'viewBox="0 0 {total} {_HEIGHT}" role="img" aria-label={quoteattr(title)}>\n'
    yield f"<title>{escape(title)}</title>\n"
    yield f'<clipPath id="r"><rect width="{total}" height="{_HEIGHT}" rx="3"/></clipPath>\n'
    yield '<g clip-path="url(#r)" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">\n'
    left = 0
    for text, ground, ink in parts:
        width = _width(text)
        yield f'<rect x="{left}" width="{width + 2 * _GAP}" height="{_HEIGHT}" fill="{ground}"/>\n'
        # A font that is wider or narrower than the one of which widths are known is made to fit.
        yield f'<text x="{left + _GAP + width / 2:g}" y="14" fill="{ink}" textLength="{width}">{escape(text)}</text>\n'
        left += width + 2 * _GAP
    yield "</g>\n</svg>\n"


def _width(text: str) -> int:
    """The width of a text in pixels, about that of Verdana at 11 pixels."""
    return round(sum(4.2 if each in _NARROW else 10.4 if each in _WIDE else 7 for each in text))
