"""The pytest plugin of `fcall bisect`, which searches the edits of the collected cases instead of running them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, TextIO

import pytest

from pytest_fcall.cli.pytest_run import InProcessPlugin
from pytest_fcall.core.files import replace_file
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import shown, usage_error
from pytest_fcall.plugin.session import session_of
from pytest_fcall.plugin.suspects import NotBisected, OldSide, suspect_of
from pytest_fcall.reporting.bisection import BisectedCase, edit_lines, result_lines
from pytest_fcall.reporting.terminal import marks_for
from pytest_fcall.session.bisection.bisection import Bisection, cost_of_request, undo_lines
from pytest_fcall.session.bisection.suspect import Allowance, Suspect
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.models import NamedModel, parse_model

_FOUND: Final = 0
_NOTHING: Final = 1
_UNDECIDED: Final = 10


class BisectPlugin(InProcessPlugin):
    """Searches once the cases are collected, and prints to `out` as it goes on."""

    def __init__(self, options: Namespace, side: OldSide, out: TextIO, width: int) -> None:
        self._options = options
        self._side = side
        self._out = out
        self._width = width
        self.status: int | None = None
        """The exit status; None where nothing was collected."""
        self.failure: OSError | None = None
        """The reason why the result could not be written."""

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Search instead of running the items."""
        if session.testsfailed:
            return None
        items = [item for item in session.items if isinstance(item, CaseItem)]
        try:  # other plugins may have reordered them
            self.status = self._search(sorted(items, key=lambda item: item.place), session.config)
        except OSError as error:  # such as a closed pipe; pytest would print a traceback
            self.failure = error
        return True

    def _search(self, items: Sequence[CaseItem], config: pytest.Config) -> int:
        suspects, left_out = self._suspects(items, config)
        session, options = session_of(config), self._options
        self._print(config, left_out)
        if not suspects:
            return _NOTHING
        bisection = Bisection(suspects, options.each, partial(self._print_line, config))
        self._print(config, edit_lines(bisection.edits, len(suspects)))
        allowance = Allowance(0, may_ask=not session.settings.replay)
        found = bisection.run(allowance)
        if allowance.may_ask and bisection.wants_more(found):
            plan = bisection.plan(options.max_requests, partial(cost_of_request, session.costs), found)
            self._print(config, [plan.line, *filter(None, [session.costs.fault])])
            if options.dry_run:
                self._print(config, ["nothing was asked"])
                return _FOUND
            allowance = Allowance(options.max_requests, self._may_ask(config))
            found = bisection.run(allowance)
        self._print(config, self._found_lines(found, bisection, allowance, config))
        if any(each.status == "open" for each in found):
            return _UNDECIDED
        return _FOUND if any(each.status == "found" for each in found) else _NOTHING

    def _suspects(self, items: Iterable[CaseItem], config: pytest.Config) -> tuple[list[Suspect], list[str]]:
        """The cases that can be bisected, and why others cannot."""
        suspects: list[Suspect] = []
        left_out: list[str] = []
        for item in items:
            try:
                former = self._former(item, config)
                suspects.append(suspect_of(item, self._side, former, True if self._options.samples == "1" else None))
            except NotBisected as why:
                left_out.append(f"{item.nodeid}: not bisected: {why}")
        return suspects, left_out

    def _former(self, item: CaseItem, config: pytest.Config) -> NamedModel | None:
        if not self._options.from_model or item.named is None:
            return None
        try:
            model = parse_model(self._options.from_model, "--from-model", config.rootpath)
        except SettingError as error:
            raise usage_error(config, str(error)) from None
        return NamedModel(model, "command line", live=item.named.live, option="--from-model")

    def _may_ask(self, config: pytest.Config) -> bool:
        """Whether a person agrees; without a terminal only `--yes` does."""
        if self._options.yes:
            return True
        if not (sys.stdin and sys.stdin.isatty()):
            self._print(config, ["recordings alone are used: --yes has models asked"])
            return False
        self._out.write("ask now? [y/N] ")
        self._out.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def _found_lines(
        self, found: Sequence[BisectedCase], bisection: Bisection, allowance: Allowance, config: pytest.Config
    ) -> list[str]:
        lines = ["", *result_lines(found, bisection.edits, self._width, marks_for(self._out.encoding or "ascii"))]
        patch, notes = undo_lines(found, bisection.suspects, config.rootpath)
        if self._options.patch and patch:
            replace_file(self._options.patch, [patch.encode("utf-8", "surrogatepass")])
            notes = [f"the patch is in {self._options.patch}", *notes]
        elif patch:
            lines += ["", *patch.splitlines()]
        sent = f"{allowance.asked:,} requests were sent" if allowance.asked != 1 else "1 request was sent"
        return [
            *lines,
            *([""] if notes else []),
            *notes,
            "",
            f"fcall bisect: {sent if allowance.asked else 'nothing was asked'}",
        ]

    def _print_line(self, config: pytest.Config, line: str) -> None:
        self._print(config, [f"  {line}"])

    def _print(self, config: pytest.Config, lines: Iterable[str]) -> None:
        for line in lines:
            self._out.write(f"{shown(config, line)}\n")
        self._out.flush()
