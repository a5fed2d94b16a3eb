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

_WIDTHS: Final = {
    each: width for width, signs in ((3, "ijl"), (4.1, " .,:tfr"), (5.7, "cs"), (11, "%mw")) for each in signs
}
_OTHER_WIDTH: Final = 6.8
"""The widths of letters in Verdana at 11 pixels, in pixels."""
_GAP: Final = 7
_HEIGHT: Final = 20


def write(report: Report) -> Iterator[str]:
    """The picture."""
    label, message, colour = badge_of(report)
    title, (ground, ink) = f"{label}: {message}", _COLOURS[colour]
    total = _width(label) + _width(message) + 4 * _GAP
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{_HEIGHT}" '
    yield f'viewBox="0 0 {total} {_HEIGHT}" role="img" aria-label={quoteattr(title)}>\n'
    yield f"<title>{escape(title)}</title>\n"
    # One shape lies on the other: an id, as clipping needs one, would be that of each badge on a page.
    middle = _width(label) + 2 * _GAP
    yield f'<rect width="{total}" height="{_HEIGHT}" rx="3" fill="{ground}"/>\n'
    yield f'<path d="M{middle} 0H3a3 3 0 0 0-3 3v14a3 3 0 0 0 3 3H{middle}z" fill="{_LABEL[0]}"/>\n'
    yield '<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">\n'
    for text, colour, left in ((label, _LABEL[1], 0), (message, ink, middle)):
        # A font that is wider or narrower than the one of which widths are known is made to fit.
        place = f'x="{left + _GAP + _width(text) / 2:g}" y="14" textLength="{_width(text)}"'
        yield f'<text {place} fill="{colour}">{escape(text)}</text>\n'
    yield "</g>\n</svg>\n"


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(each, _OTHER_WIDTH) for each in text))
