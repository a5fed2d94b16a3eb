"""A cluster of Ray, and plans that its actors answer. Ray is imported when a cluster is first used."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.backends.cluster.answerer import RowAnswerer
from pytest_fcall.backends.cluster.coordinator import Coordinator, CoordinatorClient
from pytest_fcall.backends.local.vllm import RequestsToTokens, TokensToReplies, from_engine, to_engine
from pytest_fcall.cli.ray_library import ClusterError, cluster_of, is_elsewhere, ray_errors
from pytest_fcall.core.parquet import GROUP_ROWS

if TYPE_CHECKING:
    from pytest_fcall.backends.cluster.answerer import Assignment
    from pytest_fcall.backends.local.vllm import VllmRows
    from pytest_fcall.core.values import Json
    from pytest_fcall.session.settings import Settings

_ROWS: Final = 256
"""The most rows that an actor is given at a time."""
_CALLS: Final = 2
"""Portions that an actor answers at a time, so that a slow request of one does not leave it idle."""
_WAITING: Final = 2
"""Times as many portions as it answers may wait at an actor. Ray adds actors only where more wait than 1.75 times."""
_VLLM_BATCH: Final = 64
_AFTERWARDS: Final = "the replies until now are kept, and the same command goes on when the cluster is there"
_NOT_SHIPPED: Final = (".fcall", ".git", ".venv*", "node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class ActorPool:
    """The actors that answer."""

    least: int
    most: int
    cpus: float
    gpus: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that is connected."""

    pool: ActorPool
    is_elsewhere: bool
    """Whether it was there before, so that its nodes may be other machines."""
    coordinator: Any

    @property
    def client(self) -> CoordinatorClient:
        """The coordinator."""
        return CoordinatorClient(self.coordinator)

    def answered(self, plan: str, requests: int, assignment: Assignment) -> Iterator[int]:
        """Have actors answer the rows of a plan; yields when a portion of them is done. Raises ClusterError.

        Actors read the rows themselves: tasks that read would wait for a CPU of their own, which nodes full of actors
        do not have.
        """
        import ray

        pool = ray.data.ActorPoolStrategy(
            min_size=self.pool.least,
            max_size=self.pool.most,
            max_concurrent_calls_per_actor=_CALLS,
            max_tasks_in_flight_per_actor=_CALLS * _WAITING,
            enable_true_multi_threading=True,
        )
        done = self._portions(plan, requests).map_batches(
            RowAnswerer,
            fn_constructor_args=([ray.put(assignment)], self.coordinator),
            batch_size=None,
            batch_format="pyarrow",
            compute=pool,
            num_cpus=self.pool.cpus,
            num_gpus=self.pool.gpus,
            zero_copy_batch=True,
        )
        with ray_errors():
            for batch in done.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                yield batch.num_rows

    def answered_by_vllm(
        self, plan: str, requests: int, assignment: Assignment, rows: VllmRows, options: Mapping[str, Json]
    ) -> Iterator[int]:
        """Have vLLM answer the rows of a plan, by `ray.data.llm`; as `answered` otherwise."""
        import ray

        given: dict[str, Any] = {
            "fn_constructor_args": ([ray.put(assignment)], self.coordinator, rows),
            "batch_format": "pyarrow",
            "num_cpus": self.pool.cpus,
            "compute": ray.data.ActorPoolStrategy(min_size=1, max_size=self.pool.most),
        }
        prompts = self._portions(plan, requests).map_batches(RequestsToTokens, batch_size=1, **given)
        with ray_errors():
            answers = vllm_processor(rows, self.pool, options)(prompts)
            done = answers.map_batches(TokensToReplies, batch_size=_ROWS, **given)
            for batch in done.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                yield sum(batch["rows"].to_pylist())

    def _portions(self, plan: str, requests: int) -> Any:
        """The portions of a plan as a dataset, of which each actor gets several."""
        import pyarrow as pa
        import ray

        most = max(1, min(_ROWS, -(-requests // (self.pool.most * _CALLS * _WAITING * 2))))
        return ray.data.from_arrow(
            [pa.table({name: [value] for name, value in each.items()}) for each in _portions_of(plan, requests, most)]
        )


def vllm_processor(rows: VllmRows, pool: ActorPool, options: Mapping[str, Json]) -> Any:
    """The processor of `ray.data.llm`: our own prompts go in as tokens, and tokens come out. Raises ClusterError."""
    try:
        from ray.data.llm import build_processor, vLLMEngineProcessorConfig
    except ImportError as error:
        raise ClusterError(f'--vllm needs ray.data.llm ({error}); pip install "ray[data,llm]" on all nodes') from None
    config = vLLMEngineProcessorConfig(
        model_source=rows.model_source,
        engine_kwargs=rows.engine_arguments(options),
        concurrency=(pool.least, pool.most),
        batch_size=_VLLM_BATCH,
        should_continue_on_error=True,
        chat_template_stage=False,
        tokenize_stage=False,
        detokenize_stage=False,
        log_engine_metrics=False,
    )
    return build_processor(config, preprocess=to_engine, postprocess=from_engine)


@contextmanager
def connect_cluster(address: str | None, pool: ActorPool, settings: Settings) -> Iterator[Cluster]:
    """Connect to a cluster, or start one on this machine; it is left, or stopped, afterwards. Raises ClusterError."""
    shipped: dict[str, Any] = {"working_dir": str(settings.root), "excludes": [*_NOT_SHIPPED]}
    with cluster_of(address, _AFTERWARDS, shipped) as ray:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        make = ray.remote(num_cpus=0, max_concurrency=10_000, scheduling_strategy=here)(Coordinator)
        limits = settings.requests_per_minute, settings.tokens_per_minute, settings.max_cost
        yield Cluster(pool, is_elsewhere(address), make.remote(*limits))


def _portions_of(plan: str, requests: int, most: int) -> Iterator[dict[str, Any]]:
    """The portions of a plan, each in one group of its file."""
    for group in range(0, requests, GROUP_ROWS):
        size = min(GROUP_ROWS, requests - group)
        for first in range(0, size, most):
            yield {"plan": plan, "group": group // GROUP_ROWS, "first": first, "rows": min(most, size - first)}


def node_count() -> int:
    """The number of nodes that the cluster has now."""
    import ray

    return sum(bool(node["Alive"]) for node in ray.nodes())


def ship_by_value(factories: Mapping[str, Callable[..., object]], root: Path) -> None:
    """Let makers of backends travel as code where they are defined in the project, such as in a conftest file."""
    import ray

    for made in factories.values():
        factory = made.func if isinstance(made, partial) else made
        module = sys.modules.get(getattr(factory, "__module__", ""))
        file = getattr(module, "__file__", None)
        if module and file and Path(file).is_relative_to(root) and not module.__name__.startswith("pytest_fcall"):
            ray.cloudpickle.register_pickle_by_value(module)
