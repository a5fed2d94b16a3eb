"""The models of a session, each made ready once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Backend, ModelUnavailable, throughput_of
from pytest_fcall.core.digests import canonical
from pytest_fcall.session.ask.types import Source
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.models import NamedModel

if TYPE_CHECKING:
    from pytest_fcall.core.extension import BackendFactory
    from pytest_fcall.session.ask.costs import SpendingLimit
    from pytest_fcall.session.ask.proxy_endpoint import ProxyVariables
    from pytest_fcall.session.settings import Settings


class Sources:
    """Makes the backends of models, within the limits of the run."""

    def __init__(
        self,
        settings: Settings,
        factories: Mapping[str, BackendFactory],
        spending: SpendingLimit,
        variables: ProxyVariables,
    ) -> None:
        self._settings = settings
        self._factories = factories
        self._spending = spending
        self._variables = variables
        self._made: dict[tuple[str, str, bool], Source] = {}
        self._last: tuple[NamedModel, Source] | None = None
        """The model that was asked for last, as by most cases, whose options need not be written out again."""

    def of(self, named: NamedModel) -> Source:
        """The source of a model. Raises CaseError where its settings cannot be used."""
        if self._last is not None and self._last[0] is named:
            return self._last[1]
        key = named.model.id, canonical({**named.model.options}), named.live
        if key not in self._made:
            self._made[key] = Source(named, self._backend(named))
        self._last = named, self._made[key]
        return self._made[key]

    def backend(self, source: Source) -> Backend:
        """The backend of a source. Raises CaseError where there is none for models of its kind."""
        if source.backend is None:
            kind, known = source.named.model.kind, ", ".join(sorted(self._factories))
            raise CaseError(f"{source.id}: no backend for models of kind {kind!r}; available: {known}")
        return source.backend

    def apps(self) -> list[Backend]:
        """The backends that are called in this process, outside the dispatcher."""
        return [source.backend for source in self._made.values() if source.backend is not None and source.is_app]

    def throughputs(self) -> dict[str, tuple[int, str]]:
        """Speed of each model that runs on this machine, and the number of requests that it was measured on."""
        found = {source.id: throughput_of(source.backend) for source in self._made.values() if source.backend}
        return {model: throughput for model, throughput in found.items() if throughput}

    def _backend(self, named: NamedModel) -> Backend | None:
        make = self._factories.get(named.model.kind)
        if make is None:
            return None
        with self._variables.without_proxy():  # backends read their addresses from those that lead apps to the proxy
            try:
                backend = self._spending.metered(named.model, make(named.model, self._settings.root))
            except ModelUnavailable as unavailable:
                raise CaseError(str(unavailable)) from None
        return backend
