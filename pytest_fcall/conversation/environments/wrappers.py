"""Environments around another one: started when it is needed, with recorded results, or with offered tools only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from pytest_fcall.conversation.environments.recorded_results import ResultRecorder, ResultStore, StoredResults
from pytest_fcall.core import CallResult, Environment, Json


class EnvironmentWrapper:
    """Passes everything on to another environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        return await self._environment.call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._environment.state(names)

    async def close(self) -> None:
        """Close the environment."""
        await self._environment.close()


class OfferedTools(EnvironmentWrapper):
    """Only offered tools can be called; `names` maps their names to those within the environment."""

    def __init__(self, names: Mapping[str, str], environment: Environment) -> None:
        super().__init__(environment)
        self._names = names

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call; the error says where the tool was not offered."""
        if tool not in self._names:
            return CallResult(error=f"there is no tool `{tool[:100]}`")
        return await super().call(self._names[tool], arguments)


class LazyEnvironment:
    """An environment that is started by the first use. What `start` raises is raised there."""

    def __init__(self, start: Callable[[], Awaitable[Environment]]) -> None:
        self._start = start
        self._environment: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        return await (await self._started()).call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await (await self._started()).state(names)

    async def close(self) -> None:
        """Close the environment, if it was started."""
        if self._environment is not None:
            await self._environment.close()

    async def _started(self) -> Environment:
        if self._environment is None:
            self._environment = await self._start()
        return self._environment


class CachedEnvironment(EnvironmentWrapper):
    """Makes each call once: an equal call of any conversation has the same result.

    A run can be replayed where the data that the functions read is missing. `name` identifies the functions.
    """

    def __init__(self, name: str, start: Callable[[], Awaitable[Environment]], store: ResultStore) -> None:
        super().__init__(LazyEnvironment(start))
        self._results = StoredResults({"environment": name}, store)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """The stored result of the call, else that of the environment. Raises what starting it raises."""
        try:
            found = self._results.find(tool, arguments)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments are not JSON: {error}")
        if found is not None:
            return found
        result = await super().call(tool, arguments)
        self._results.keep(tool, arguments, result)
        return result


class ReplayedEnvironment(EnvironmentWrapper):
    """Records the results of one conversation, and offline replays them.

    A run can be replayed where the functions are not installed. `identity` describes the functions and their setup.
    """

    def __init__(
        self, identity: Mapping[str, Json], start: Callable[[], Awaitable[Environment]], store: ResultStore
    ) -> None:
        super().__init__(LazyEnvironment(start))
        self._identity = identity
        self._recorder = ResultRecorder(store, begin=store.conversation_key)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out or replay one call. Raises ResultNotRecorded, and what starting the environment raises."""
        call: dict[str, Json] = {**self._identity, "tool": tool, "arguments": arguments}
        return await self._recorder.result(tool, call, lambda: self._environment.call(tool, arguments))

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read or replay the state. Raises as `call` does."""
        call: dict[str, Json] = {**self._identity, "state": names}
        return await self._recorder.result(None, call, lambda: self._environment.state(names))
