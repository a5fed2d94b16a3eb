"""`--fc-accept` and `--fc-prune`: the effect of a run on files, at its end and where reports arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_fcall.core.backend import Model
from pytest_fcall.core.files import path_from_root
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.plugin.collection_findings import collection_findings
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.results import Result, lacks_secret
from pytest_fcall.reporting.safe_text import safe_line, whole_line
from pytest_fcall.session.result.leftovers import Stale, leftover_folders, remove_leftover, stale_baselines
from pytest_fcall.session.settings import Accept

if TYPE_CHECKING:
    from pytest_fcall.tracking.stanza import Stanza


_NARROWING = {
    "keyword": "-k",
    "markexpr": "-m",
    "deselect": "--deselect",
    "lf": "--lf",
    "stepwise": "--stepwise",
    "ignore": "--ignore",
    "ignore_glob": "--ignore-glob",
    "fc_shard": "--fc-shard",
}
"""Options after which a run has not seen all cases."""


def stale_stanzas(config: pytest.Config) -> list[Stale]:
    """The stanzas of baselines whose cases are gone, in the folders that this run has read."""
    session = session_of(config)
    models = [named.model for named in session.settings.models]
    return stale_baselines(session.baselines, config.rootpath, collection_findings(config).cases, models)


def narrowing_options(config: pytest.Config) -> Iterator[str]:
    """The options of this run that leave out tests."""
    return (option for name, option in _NARROWING.items() if config.getoption(name, None))


def moved_lines(config: pytest.Config, stale: Sequence[Stale]) -> list[str]:
    """A line with a command for each of these cases that an equal one has come for. Files are read anew for that."""
    if not stale:
        return []
    from pytest_fcall.core.case import Case
    from pytest_fcall.session.result.renames import moved_case_lines

    root = config.rootpath
    files = [(path_from_root(file.path, root), file.read_again()) for file in collection_findings(config).files]
    cases = ((name, entry) for name, found in files if found for entry in found.entries if isinstance(entry, Case))
    return [safe_line(line) for line in moved_case_lines(stale, cases, root)]


def renamed_lines(session: pytest.Session) -> list[str]:
    """A line with a command for each parameter of a tool that is gone, while an equal one has come."""
    baselines = session_of(session.config).baselines
    if baselines.is_empty:
        return []
    from pytest_fcall.core.case import Case
    from pytest_fcall.plugin.item import CaseItem
    from pytest_fcall.session.result.renames import renamed_parameter_lines

    items = (item for item in session.items if isinstance(item, CaseItem))
    cases = ((item.path, item.named.model, item.case) for item in items if item.named and isinstance(item.case, Case))
    return [safe_line(line) for line in renamed_parameter_lines(baselines, cases)]


def narrowing_reason(config: pytest.Config) -> str | None:
    """The reason why this run has not seen all cases; None where it has."""
    if config.option.collectonly or config.getoption("fc_dry_run"):
        return "nothing was run"
    for option in narrowing_options(config):
        return f"the run was narrowed by {option}"
    narrow = [arg for arg in config.args if not Path(config.invocation_params.dir, arg).is_dir()]
    return f"the run was narrowed to {narrow[0]}" if narrow else None


class BaselineWriter:
    """Writes the accepted verdicts of a run into baselines, once, when all results are there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stale: list[Stale] | None = None
        self._moved: list[str] = []
        self._renamed: list[str] = []
        self._leftovers = _Leftovers()
        self.lines: list[str] = []
        """Lines for people on what was written."""
        self.failed = False
        """Whether something could not be written."""

    @property
    def stale(self) -> tuple[tuple[str, str], ...]:
        """The path of its baseline and the case, of each accepted answer whose case is gone."""
        return tuple((stale.path, case) for stale in self._stale or () for case in stale.cases)

    def add_stale(self, output: Mapping[str, Any]) -> None:
        """Take the stale stanzas that a worker has found; all workers find the same."""
        if "fcall_stale" in output:
            self._stale = [Stale(*each) for each in output["fcall_stale"]]
            self._moved = output["fcall_moved"]
            self._renamed = output["fcall_renamed"]
            self._leftovers = _leftovers_from(output["fcall_leftovers"])

    def finish(self, session: pytest.Session, results: Sequence[Result], started: float) -> None:
        """Write what is to be accepted, and remove what is to be pruned."""
        if self._stale is None:
            self._stale = stale_stanzas(self._config)
            self._moved = moved_lines(self._config, self._stale)
            self._renamed = renamed_lines(session)
            self._leftovers = find_leftovers(session)
        settings = session_of(self._config).settings.baseline
        if settings.accept:
            with gc_paused():  # stanzas and lines of files hold no cycles
                self.lines += self._accept(results, settings.accept, started)
        if any(result.outcome for result in results) and not settings.accept:
            from pytest_fcall.session.result.renames import renamed_tool_lines

            renamed = renamed_tool_lines(session_of(self._config).baselines, results, self._config.rootpath)
            self.lines += map(safe_line, renamed)
        if not settings.accept:
            self.lines += self._renamed
        whole = narrowing_reason(self._config) is None
        self._leftovers = self._leftovers.without_tested(results) if whole else _Leftovers()
        if self._stale or self._leftovers.folders:
            self.lines += self._prune(session) if settings.prune else self._stale_lines()

    def _accept(self, results: Sequence[Result], which: Accept, started: float) -> Iterator[str]:
        from importlib.metadata import version

        from pytest_fcall.reporting.result_json import ResultRows
        from pytest_fcall.tracking.acceptance import Acceptance, DamagedBaseline, RunMeasurement, accept
        from pytest_fcall.tracking.run_file import RunFile, run_id

        root = self._config.rootpath
        acceptance = Acceptance.now(root, version("pytest-fcall"))
        rows = {"results": ResultRows(results)}
        run = RunFile(run_id(started), "", rows, provenance=acceptance.provenance)
        written = same = measured = 0
        accepted: dict[Path, set[str]] = {}
        for path, own in self._by_baseline(results).items():
            if not any(_acceptable(result, which) for result in own):
                continue
            cases = set[str]()
            try:
                changed = accept(path, _chosen(own, which, cases), acceptance)
            except (DamagedBaseline, OSError) as error:
                self.failed = True
                yield safe_line(f"not accepted: {path.name}: {error}")
                continue
            accepted[path] = cases
            written, same = written + len(changed), same + len(cases) - len(changed)
        measurement = RunMeasurement(root, run, session_of(self._config).doubt.history)
        for path, cases in accepted.items():
            try:
                measured += measurement.add_to(path, cases)
            except OSError as error:
                self.failed = True
                yield safe_line(f"not measured: {path.name}: {error}")
        yield f"accepted: {plural_text(written, 'case')}, {same:,} unchanged"
        if measured:
            yield f"measured: {plural_text(measured, 'case')} (bookkeeping, which needs no review)"
        yield from _not_accepted(results, which)

    def _by_baseline(self, results: Sequence[Result]) -> Mapping[Path, Sequence[Result]]:
        """The results that may have something to accept, by the path of their baseline."""
        from pytest_fcall.tracking.baseline_file import baseline_path

        by_file: dict[Path, list[Result]] = {}
        for result in results:
            if result.stanza:
                path = baseline_path(self._config.rootpath / result.file, Model.by_id(result.model))
                by_file.setdefault(path, []).append(result)
        return by_file

    def _prune(self, session: pytest.Session) -> Iterator[str]:
        from pytest_fcall.session.result.leftovers import forget_beside
        from pytest_fcall.tracking.acceptance import DamagedBaseline, remove_cases

        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not session.shouldfail
        if why := narrowing_reason(self._config) or ("" if ended else "the run was broken off"):
            yield f"not pruned, since {why}"
            yield from self._stale_lines()
            return
        kept = list[Stale]()
        for stale in self._stale or ():
            path = self._config.rootpath / stale.path
            try:
                forgotten = remove_cases(path, frozenset(stale.cases).__contains__)
                forget_beside(path, stale.cases)
            except (DamagedBaseline, OSError) as error:
                self.failed = True
                kept.append(stale)
                yield safe_line(f"not pruned: {stale.path}: {error}")
            else:
                yield f"pruned: {whole_line(list_text(forgotten))} ({safe_line(stale.path)})"
        self._stale = kept
        try:
            yield from self._leftovers.remove(self._config.rootpath)
        except OSError as error:
            self.failed = True
            yield safe_line(f"not pruned: {error}")

    def _stale_lines(self) -> Iterator[str]:
        yield from self._moved
        for stale in self._stale or ():
            gone = f"{whole_line(list_text(stale.cases))} ({safe_line(stale.path)})"
            yield f"accepted, and gone: {gone}; --fc-prune forgets them"
        yield from self._leftovers.lines()


def _chosen(results: Sequence[Result], which: Accept, cases: set[str]) -> Iterator[Stanza]:
    """The stanzas to be written, one by one: of 100,000 cases they take as much as all results. Notes their cases."""
    for result in results:
        stanza = _acceptable(result, which)
        if stanza and not _is_chance(result):
            cases.add(stanza.case)
            yield stanza


def _acceptable(result: Result, which: Accept) -> Stanza | None:
    """The stanza of a result, if it may be accepted."""
    from pytest_fcall.tracking.stanza import parse_stanza

    stanza = parse_stanza(result.stanza) if result.stanza else None
    if stanza is None or not (stanza.valid or which == "all") or lacks_secret(result):
        return None
    return None if stanza.has_forbidden_call or result.has_forbidden_call else stanza


def _not_accepted(results: Sequence[Result], which: Accept) -> Iterator[str]:
    """Lines on results that are not accepted, and why."""
    if forbidden := [each.case for each in results if each.has_forbidden_call]:
        yield f"not accepted, since a forbidden call is never excused: {whole_line(list_text(forbidden))}"
    if unsayable := [each.case for each in results if each.answered and each.stanza is None]:
        yield f"not accepted, since JSON cannot say the calls: {whole_line(list_text(unsayable))}"
    if incomplete := [each.case for each in results if lacks_secret(each)]:
        yield f"not accepted, since a secret had to be left out of the answer: {whole_line(list_text(incomplete))}"
    if which == "all" and (doubtful := [each.case for each in results if each.answered and _is_chance(each)]):
        yield f"not accepted, since they may be wrong by chance: {whole_line(list_text(doubtful))}"
    if which == "valid" and (failures := [each.case for each in results if _is_refused(each)]):
        yield f"not accepted, since they fail: {whole_line(list_text(failures))}"


def _is_chance(result: Result) -> bool:
    """Whether a result is wrong, but may be right the next time, so that it is not accepted as a known failure."""
    was_right = result.before is not None and result.before[0] > 0
    undecided = result.outcome is Outcome.UNDECIDED and was_right
    return not result.right and (result.outcome is Outcome.FLAKY or undecided)


def _is_refused(result: Result) -> bool:
    """Whether a result is wrong, and neither a known failure nor wrong by chance."""
    excused = result.outcome in (Outcome.KNOWN_FAILURE, Outcome.FLAKY)
    return result.answered and not result.right and not excused


class _Leftovers(NamedTuple):
    """The files of models that no run names any more. Other processes get them as a list."""

    folders: Sequence[str] = ()
    """The paths from the root of the folders."""
    renamed: str = ""
    """A line with a command, where a model of the configuration is likely to be the same under another name."""

    def without_tested(self, results: Sequence[Result]) -> _Leftovers:
        """The files that are left, but for models that a fixture named."""
        tested = {Model.by_id(result.model).folder for result in results}
        folders = [path for path in self.folders if Path(path).name not in tested]
        return _Leftovers(folders, self.renamed if folders == [*self.folders] else "")

    def lines(self) -> Iterator[str]:
        """Lines that name the folders; none where nothing is left."""
        if self.renamed:
            yield safe_line(self.renamed)
        if self.folders:
            named = whole_line(list_text(self.folders))
            yield f"kept of models that fc_model does not name: {named}; --fc-prune forgets it"

    def remove(self, root: Path) -> Iterator[str]:
        """Remove the files, and name the folders. Raises OSError."""
        for path in self.folders:
            remove_leftover(root / path)
            yield f"pruned: {safe_line(path)}"


def _leftovers_from(data: Any) -> _Leftovers:
    """The findings of a worker."""
    return _Leftovers(*data)


def find_leftovers(session: pytest.Session) -> _Leftovers:
    """The files beside those that this process has collected; none where the models are not the project's."""
    config = session.config
    if not _is_configured(config):
        return _Leftovers()
    ours, root = session_of(config), config.rootpath
    named = [each.model for each in (*ours.settings.models, *filter(None, [ours.settings.judge]))]
    read_files = {*collection_findings(config).cases, *(item.path for item in session.items)}
    found = leftover_folders(root, read_files, named)
    paths = [path.relative_to(root).as_posix() for path in found if path.is_relative_to(root)]
    return _Leftovers(paths, _renamed(session, found) if paths else "")


def _is_configured(config: pytest.Config) -> bool:
    """Whether the models of this run are those of the project's configuration, which no option of this run changes."""
    changed = any(config.getoption(name, None) for name in ("fc_model", "fc_baseline", "override_ini", "inifilename"))
    return bool(config.getini("fc_model")) and not changed


def _renamed(session: pytest.Session, folders: Sequence[Path]) -> str:
    """A line with a command, where one model has nothing, and the one that is left has answers to all its cases."""
    from pytest_fcall.backends.store import store_path
    from pytest_fcall.core.case import Case
    from pytest_fcall.session.result.renames import renamed_model_line

    config = session.config
    files = collection_findings(config).files
    settings = session_of(config).settings
    models = [named.model for named in settings.models]
    fresh = [model for model in models if not any(any((path.parent / model.folder).glob("*")) for path in folders)]
    if len(fresh) != 1 or len({path.name for path in folders}) != 1:
        return ""
    cases = ((file.path, entry) for file in files if (read := file.read_again()) for entry in read.entries)
    whole = [(path, entry) for path, entry in cases if isinstance(entry, Case)]
    store = settings.store or store_path(config.rootpath)
    return renamed_model_line(config.rootpath, store, folders[0].name, fresh[0], whole)


def keep_texts(lines: Mapping[str, Sequence[str]], root: Path) -> Iterator[str]:
    """Write the texts that models wrote for variants beside their case files, and say what to review."""
    from pytest_fcall.variants.kept_texts import parse_text, texts_path, write_texts

    for file, written in lines.items():
        path = texts_path(root / file)
        texts = [text for line in written if (text := parse_text(line)) is not None]
        shown = path_from_root(path, root)
        count = plural_text(len(texts), "text")
        try:
            write_texts(path, texts)
        except OSError as error:
            yield safe_line(f"{count} for variants could not be kept in {shown}: {error.strerror}")
        else:
            models = ", ".join(dict.fromkeys(text.by for text in texts))
            yield safe_line(f"{models} wrote {count} for variants, to be reviewed: {shown}")
