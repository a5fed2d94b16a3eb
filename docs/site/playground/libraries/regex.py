"""Stands in for the library regex: Python's own `re`, without a limit of time.

What the two would read differently is refused, so that nothing is judged by another expression than was written.
"""

from __future__ import annotations

import re
import warnings

from unavailable import refuse

_OTHERWISE_READ = re.compile(
    r"""(?P<skipped> \\[^pPLRXhHKGmM] )
      | (?P<escape> \\[pPLRXhHKGmM] )
      | (?P<posix> \[\^?\[: | \[:\^?\w+:\] )
      | (?P<fuzzy> \{ [^{}]* [<=] [^{}]* \} | \{ [eids] [^{}]* \} )
      | (?P<group> \(\?(?: \| | R\) | \d | & | P> | [a-zA-Z0-9-]*[befprwxV0-9][a-zA-Z0-9-]*[:)] | \() )""",
    re.VERBOSE,
)
error = re.error


class Pattern:
    """A compiled expression, with the two methods that are used."""

    def __init__(self, written: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of what a later version of `re` may read differently
            self._compiled = re.compile(written)

    def search(self, text: str, timeout: float | None = None) -> re.Match[str] | None:
        """The first match anywhere in the text. `timeout` has no effect."""
        return self._compiled.search(text)

    def fullmatch(self, text: str, timeout: float | None = None) -> re.Match[str] | None:
        """The match from end to end. `timeout` has no effect."""
        return self._compiled.fullmatch(text)


def compile(written: str) -> Pattern:  # noqa: A001  the library's name
    """The compiled expression. Raises Unavailable for one that only the library reads."""
    for found in _OTHERWISE_READ.finditer(written):
        if found.lastgroup != "skipped":
            refuse(f"`{found[0]}` in a regular expression is read by the library regex")
    try:
        return Pattern(written)
    except Warning as doubt:
        refuse(f"a regular expression ({doubt}) is read by the library regex")
    except re.error as fault:
        if "look-behind" in str(fault) or "bad escape" in str(fault):
            refuse(f"a regular expression ({fault}) is read by the library regex")
        raise
