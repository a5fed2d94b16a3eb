"""The models of a session, each made ready once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Backend, Model, ModelUnavailable, throughput_of
from pytest_fcall.core.digests import canonical
from pytest_fcall.session.ask.types import Source
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.models import BUILT_IN_KINDS, NamedModel

if TYPE_CHECKING:
    from pytest_fcall.session.ask.costs import SpendingLimit
    from pytest_fcall.session.ask.proxy_endpoint import ProxyVariables
    from pytest_fcall.session.extensions import Registry
    from pytest_fcall.session.settings import Settings


class Sources:
    """Makes the backends of models, within the limits of the run."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        spending: SpendingLimit,
        variables: ProxyVariables,
    ) -> None:
        self._settings = settings
        self._registry = registry
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
            kind, known = source.named.model.kind, ", ".join(sorted(self._registry.backends))
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
        make = self._registry.backends.get(named.model.kind)
        if make is None:
            return None
        with self._variables.without_proxy():  # backends read their addresses from those that lead apps to the proxy
            try:
                backend = self._spending.metered(named.model, make(named.model, self._settings.root))
            except ModelUnavailable as unavailable:
                raise CaseError(str(unavailable)) from None
        self._check_decoder(named.model, backend)
        return backend

    def _check_decoder(self, model: Model, backend: Backend) -> None:
        """Raise CaseError for a decoder that nobody has; a setting of this name may mean another thing elsewhere."""
        name = backend.settings.get("decoder")
        if model.kind in BUILT_IN_KINDS and isinstance(name, str):
            from pytest_fcall.decoding.decoders import unknown_decoder

            if fault := unknown_decoder(name, self._registry.decoders):
                raise CaseError(f"{model.id}: {fault}")
