"""A cluster of three nodes on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from tests.servers import Server
from tests.servers.fixture import server

__all__ = ["server"]
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}


@pytest.fixture(scope="session", autouse=True)
def _no_reports() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        patch.setenv("OPENAI_API_KEY", "sk-test")
        patch.setenv("PYTHONPATH", os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")]))  # noqa: PTH109
        yield


def started() -> Cluster:
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    return cluster


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Cluster]:
    """A cluster for all tests that leave it as it is."""
    cluster = started()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster for one test."""
    own = started()
    yield own
    ray.shutdown()
    own.shutdown()


@pytest.fixture
def other_cluster(cluster: Cluster) -> Iterator[Cluster]:
    """A second cluster, to go on with where `cluster` has died."""
    own = Cluster(initialize_head=True, head_node_args=NODE)
    yield own
    own.shutdown()


def counts(server: Server) -> dict[str, int]:
    """How often each question arrived, by what the user said last."""
    found: dict[str, int] = {}
    for asked in [*server.asked]:
        said = asked.json["messages"][-1]["content"]
        found[said] = found.get(said, 0) + 1
    return found


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, without the variables of the run of pytest that this is."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=plain | environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
