"""Hosts that exist for the tests: each has a network, processes and a home of its own, and an SSH server.

A host lives in unnamed namespaces of the kernel, which are gone with the process that holds them, and so are its
end of the cable and ours. That process ends with the tests, however these end.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

SSHD: Final = "/usr/sbin/sshd"
_CHECKOUT: Final = Path(__file__).parents[2]
_PATIENCE: Final = 30
_BOOT: Final = """
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir /run/sshd
echo made
read -r _
ip link set lo up
ip link set "$2" up
ip addr add "$3" peer "$4" dev "$2"
exec "$5" -D -f "$1/sshd_config" -E "$1/log"
"""


def missing() -> str:
    """What keeps hosts from being made here; empty where nothing does."""
    if os.geteuid() != 0:
        return "hosts have networks of their own, which only root may make"
    programs = [name for name in (SSHD, "ssh", "ssh-keygen", "ip", "unshare") if shutil.which(name) is None]
    return f"there is no {programs[0]} here: apt-get install openssh-server openssh-client iproute2" if programs else ""


def driver() -> list[str]:
    """The folder that has PostgreSQL's driver, as `make test-hosts` names it."""
    return [path for path in sys.path if path.endswith(".venv-store")]


class Network:
    """Hosts `host1` and so on, on cables to this machine, which they all know by the same address."""

    def __init__(self, count: int = 2) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fcall-hosts-"))
        pid = os.getpid()
        prefix = f"10.{128 + pid % 100}.{pid // 100 % 256}"
        self.here = f"{prefix}.1"
        self.ssh_config = self.folder / "ssh_config"
        self._key = self.folder / "key"
        self.hosts = [
            Host(self, f"host{number}", f"{prefix}.{number + 1}", f"fc{pid % 100_000}-{number}")
            for number in range(1, count + 1)
        ]

    def __enter__(self) -> Self:
        make_key(self._key)
        self.ssh_config.write_text(
            "Host *\n User root\n BatchMode yes\n LogLevel ERROR\n ConnectTimeout 2\n"
            f" IdentityFile {self._key}\n IdentitiesOnly yes\n UserKnownHostsFile {self.folder}/known_hosts\n"
            " ServerAliveInterval 1\n ServerAliveCountMax 3\n"
            + "".join(f"Host {host.name}\n HostName {host.address}\n" for host in self.hosts)
        )
        try:
            for host in self.hosts:
                host.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for host in self.hosts:
            host.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def known(self, host: Host) -> None:
        """Have SSH know a host by its key."""
        with (self.folder / "known_hosts").open("a") as file:
            file.write(f"{host.address} {(host.folder / 'host_key.pub').read_text()}")

    @property
    def authorized(self) -> str:
        """The key that opens all hosts."""
        return self._key.with_suffix(".pub").read_text()


class Host:
    """One of the hosts. It sees the files of this machine, and `home` is the folder in which everything begins."""

    def __init__(self, network: Network, name: str, address: str, cable: str) -> None:
        self.name = name
        self.address = address
        self.folder = network.folder / name
        self.home = self.folder / "home"
        self._network = network
        self._cable = cable
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Plug the host in, and wait until its SSH server lets us in."""
        if not self.folder.exists():
            self._furnish()
        boot = ["sh", "-c", _BOOT, "host", str(self.folder), f"{self._cable}p", self.address, self._network.here, SSHD]
        apart = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL"]
        self._process = subprocess.Popen(
            [*apart, *boot],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_ends_with_parent,  # noqa: PLW1509  no other thread of ours holds a lock that this needs
        )
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stdout.readline() == "made\n", "the namespaces of a host cannot be made"
        _ip(
            "link",
            "add",
            self._cable,
            "type",
            "veth",
            "peer",
            "name",
            f"{self._cable}p",
            "netns",
            str(self._process.pid),
        )
        _ip("addr", "add", self._network.here, "peer", self.address, "dev", self._cable)
        _ip("link", "set", self._cable, "up")
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.run("true")

    def _furnish(self) -> None:
        self.home.mkdir(parents=True)
        make_key(self.folder / "host_key")
        self._network.known(self)
        (self.folder / "authorized_keys").write_text(self._network.authorized)
        shell = self.folder / "shell"
        shell.write_text(f'#!/bin/sh\nexport HOME={self.home}\ncd\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
        shell.chmod(0o755)
        (self.folder / "sshd_config").write_text(
            f"ListenAddress {self.address}\nHostKey {self.folder}/host_key\nPidFile none\nUsePAM no\n"
            "PermitRootLogin prohibit-password\nPasswordAuthentication no\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\nForceCommand {shell}\n"
        )
        self.interpreter("python")

    def interpreter(self, name: str, *, packages: Sequence[Path] = (), **variables: str) -> str:
        """A Python of the host's own, which finds these packages before those of the checkout; returns its name."""
        where = os.pathsep.join(map(str, (*packages, _CHECKOUT, *driver())))
        exports = "".join(f"export {key}='{value}'\n" for key, value in variables.items())
        file = self.home / name
        file.write_text(f"#!/bin/sh\n{exports}export PYTHONPATH='{where}'\nexec {sys.executable} \"$@\"\n")
        file.chmod(0o755)
        return str(file)

    def run(self, command: str) -> str:
        """What a command says that is run there by SSH."""
        ssh = ["ssh", "-F", str(self._network.ssh_config), "-o", "ConnectionAttempts=10", self.name, command]
        done = subprocess.run(ssh, capture_output=True, text=True, check=False, timeout=_PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kill(self) -> None:
        """End the host with all of its processes, as a machine that loses its power does. `start` brings it back."""
        if self._process is None:
            return
        main = self._process.pid
        for first in Path(f"/proc/{main}/task/{main}/children").read_text().split():  # all others end with it
            os.kill(int(first), signal.SIGKILL)
        self._process.kill()
        self._process.communicate()
        self._process = None
        subprocess.run(["ip", "link", "del", self._cable], capture_output=True, check=False)  # if it is still there


def make_key(path: Path) -> None:
    """Make a key, and its public part beside it."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, capture_output=True)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"


def _ends_with_parent() -> None:
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
