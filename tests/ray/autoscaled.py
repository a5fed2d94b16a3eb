"""A cluster whose autoscaler starts nodes of one processor when they are wanted, and ends those that are idle.

Each node has a loopback address and a folder of its own, as hosts have. `ray.cluster_utils.AutoscalingCluster` does
without: nodes there take away each other's working folders, and it ends all of Ray that runs on the machine.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ray.autoscaler.node_provider import NodeProvider
from ray.autoscaler.tags import (
    NODE_KIND_HEAD,
    STATUS_UP_TO_DATE,
    TAG_RAY_NODE_KIND,
    TAG_RAY_NODE_NAME,
    TAG_RAY_NODE_STATUS,
    TAG_RAY_USER_NODE_TYPE,
)

_HEAD: Final = "127.0.0.2"  # Ray takes 127.0.0.1 for the address that others reach this machine at
_HEAD_TAGS: Final = {
    TAG_RAY_NODE_KIND: NODE_KIND_HEAD,
    TAG_RAY_USER_NODE_TYPE: "head",
    TAG_RAY_NODE_NAME: "head",
    TAG_RAY_NODE_STATUS: STATUS_UP_TO_DATE,
}
_MEMORY: Final = 100 << 20
_RAY: Final = str(Path(sys.executable).with_name("ray"))


class Nodes(NodeProvider):  # type: ignore[misc]
    """What the autoscaler starts and ends. A node is known by its address."""

    def __init__(self, provider_config: dict[str, Any], cluster_name: str) -> None:
        super().__init__(provider_config, cluster_name)
        self._tags = {_HEAD: _HEAD_TAGS}
        self._running = dict[str, subprocess.Popen[bytes]]()
        self._last = 2

    def non_terminated_nodes(self, tag_filters: Mapping[str, str]) -> list[str]:
        return [node for node, tags in self._tags.items() if tag_filters.items() <= tags.items()]

    def is_running(self, node_id: str) -> bool:
        return node_id in self._tags

    def is_terminated(self, node_id: str) -> bool:
        return node_id not in self._tags

    def node_tags(self, node_id: str) -> dict[str, str]:
        return self._tags[node_id]

    def internal_ip(self, node_id: str) -> str:
        return node_id

    external_ip = internal_ip

    def set_node_tags(self, node_id: str, tags: Mapping[str, str]) -> None:
        self._tags[node_id] = {**self._tags[node_id], **tags}

    def create_node(self, node_config: object, tags: Mapping[str, str], count: int) -> None:
        for _ in range(count):
            self._last += 1
            node = f"127.0.0.{self._last}"
            self._running[node] = subprocess.Popen(
                [*_start(node, self.provider_config["folder"]), f"--address={self.provider_config['head']}"]
            )
            self._tags[node] = {**tags, TAG_RAY_NODE_STATUS: STATUS_UP_TO_DATE}

    def terminate_node(self, node_id: str) -> None:
        del self._tags[node_id]
        self._running.pop(node_id).terminate()


@contextmanager
def autoscaled_cluster() -> Iterator[Mapping[str, str]]:
    """Start the head. Yields the variables with which a driver on this machine finds it."""
    with TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as short:
        folder, port = Path(short), _free_port()  # sockets lie in the folder, whose paths may have 107 characters
        configuration = folder / "cluster.json"
        configuration.write_text(json.dumps(_configuration(folder, f"{_HEAD}:{port}")), "utf-8")
        token = folder / "token"
        token.write_text("0123456789abcdef" * 4, "utf-8")
        driver = {"RAY_ADDRESS": f"{_HEAD}:{port}", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        command = [*_start(_HEAD, folder), "--head", f"--port={port}", "--include-dashboard=false"]
        with subprocess.Popen(
            [*command, f"--autoscaling-config={configuration}"],
            env={**os.environ, **driver, "AUTOSCALER_UPDATE_INTERVAL_S": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                assert running.stdout
                assert any("Ray runtime started" in line for line in running.stdout)
                yield driver
            finally:
                os.killpg(running.pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.create_server((_HEAD, 0)) as free:
        return int(free.getsockname()[1])


def _start(node: str, folder: Path | str) -> list[str]:
    """The command that starts a node."""
    command = [_RAY, "start", "--block", f"--node-ip-address={node}", "--num-cpus=1"]
    return [*command, f"--object-store-memory={_MEMORY}", f"--temp-dir={folder}/{node}"]


def _configuration(folder: Path, head: str) -> Mapping[str, Any]:
    return {
        "cluster_name": "one-machine",
        "max_workers": 2,
        "idle_timeout_minutes": 0.1,
        "provider": {
            "type": "external",
            "module": f"{__name__}.{Nodes.__name__}",
            "folder": str(folder),
            "head": head,
            "disable_node_updaters": True,
        },
        "available_node_types": {
            "head": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 0},
            "worker": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 2},
        },
        "head_node_type": "head",
        "auth": {},
        "file_mounts": {},
        "cluster_synced_files": [],
        **{f"{part}_commands": [] for part in ("initialization", "setup", "head_setup", "worker_setup")},
        **{f"{part}_start_ray_commands": [] for part in ("head", "worker")},
    }
