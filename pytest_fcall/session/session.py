"""The objects that live as long as a run: settings, extensions, and the parts that ask models and compare verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_fcall.session.ask.costs import Costs
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.replies import Replies
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.judge.baselines import Baselines
from pytest_fcall.session.judge.doubt import Doubt

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.core.case import Case
    from pytest_fcall.core.variants import Relation
    from pytest_fcall.session.ask.proxy_endpoint import ProxyEndpoint
    from pytest_fcall.session.ask.transport import ProgressDisplayFactory
    from pytest_fcall.session.ask.types import Asker
    from pytest_fcall.session.extensions import Registry
    from pytest_fcall.session.judge.former_questions import FormerQuestions
    from pytest_fcall.session.judge.llm_judge import JudgeOpinions
    from pytest_fcall.session.models import NamedModel
    from pytest_fcall.session.settings import Settings
    from pytest_fcall.tracking.run_accounts import ToolSetWriter
    from pytest_fcall.variants.kept_texts import KeptText, TextKey


class Session:
    """One run; `new_display` shows people its progress. Raises SettingError for a baseline that cannot be found.

    `endpoint` is the way of apps to the proxy, where it has been there since before the session.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        new_display: ProgressDisplayFactory,
        endpoint: ProxyEndpoint | None = None,
    ) -> None:
        self.settings = settings
        self.registry = registry
        self.replies = Replies(settings, registry, new_display, endpoint)
        self.costs = Costs(settings)
        self.baselines = Baselines(settings.baseline, settings.root)
        self.doubt = Doubt(settings, self.baselines)
        self._texts: dict[Path, Mapping[TextKey, KeptText]] = {}

    def kept_texts(self, file: Path) -> Mapping[TextKey, KeptText]:
        """The texts of variants that models have written for the cases of a file."""
        if file not in self._texts:
            from pytest_fcall.session.judge.variants import read_kept

            self._texts[file] = read_kept(file)
        return self._texts[file]

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        """The relations by which cases can be varied."""
        from pytest_fcall.variants.relations.table import BUILT_IN

        return {**BUILT_IN, **self.registry.relations}

    @property
    def unknown_relation(self) -> str:
        """The fault of a setting that names an unknown relation; empty where all are known."""
        if self.settings.vary is None:
            return ""
        from pytest_fcall.session.judge.variants import unknown_relation

        return unknown_relation(self.settings.vary, self.relations)

    @cached_property
    def former_questions(self) -> FormerQuestions:
        """The system prompts, prompts and tools of earlier runs."""
        from pytest_fcall.session.judge.former_questions import FormerQuestions

        return FormerQuestions(self.settings.root)

    @cached_property
    def offered_tools(self) -> ToolSetWriter:
        """The tools that cases offer, as accounts name them."""
        from pytest_fcall.tracking.run_accounts import ToolSetWriter

        return ToolSetWriter()

    def model(self, named: NamedModel | None, asker: Asker) -> AskModel:
        """The model as this test asks it. Raises CaseError where its settings cannot be used."""
        return AskModel(self.replies.source(named) if named else None, self.replies, asker)

    def judge(self, asker: Asker) -> AskModel:
        """The model that judges. Of its questions nothing is left out of the key: they hold the answers it judges."""
        return self.model(self.settings.judge, asker._replace(volatile={}, wants_spans=False))

    def opinions(self, case: Case, asker: Asker) -> JudgeOpinions:
        """The opinions of the model that judges, for a case with `$judge`. Raises CaseError where none is named."""
        from pytest_fcall.session.judge.llm_judge import HOW_TO_NAME_A_JUDGE, JudgeOpinions, case_prompt

        if self.settings.judge is None:
            raise CaseError(HOW_TO_NAME_A_JUDGE)
        return JudgeOpinions(self.judge(asker), case_prompt(case))

    def close(self) -> None:
        """End all that runs, and write what is still to be recorded."""
        self.replies.close()
