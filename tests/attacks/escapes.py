"""What called functions may try to reach something outside, by system calls, one function for each attempt.

Each runs inside of the walls and is given what there is outside. It returns where it was let through, and raises
OSError where it was not. None would hurt the machine if the walls fell: what stops, names or slows down a machine is
asked to leave things as they are. The numbers of calls are from the tables that `system_calls` in the package names.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import signal
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

Outside: TypeAlias = dict[str, Any]
"""Paths, ports and numbers of what is outside."""
Attempt: TypeAlias = Callable[[Outside], object]

_LIBC = ctypes.CDLL(None, use_errno=True)
_COLUMN = ("x86_64", "aarch64").index(platform.machine()) if platform.machine() in {"x86_64", "aarch64"} else 0
_TABLE = """
open:2:-1 openat:257:56 openat2:437:437 creat:85:-1 link:86:-1 linkat:265:37 rename:82:-1 renameat2:316:276
truncate:76:45 unlinkat:263:35 mkdirat:258:34 mknodat:259:33 symlinkat:266:36 getdents64:217:61 chmod:90:-1
fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92:-1 lchown:94:-1 fchown:93:55 fchownat:260:54 utime:132:-1
utimes:235:-1 futimesat:261:-1 utimensat:280:88 setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 getxattr:191:8
listxattr:194:11 removexattr:197:14 fremovexattr:199:16 setxattrat:463:463 file_setattr:469:469
name_to_handle_at:303:264 open_by_handle_at:304:265 inotify_init:253:-1 inotify_init1:294:26 fanotify_init:300:262
quotactl:179:60 quotactl_fd:443:443 acct:163:89 syslog:103:116 sync:162:81 syncfs:306:267 cachestat:451:451
readahead:187:213 socket:41:198 socketpair:53:199 connect:42:203 bind:49:200 listen:50:201 sendto:44:206
sendmmsg:307:269 io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 io_setup:206:0 shmget:29:194
shmat:30:196 shmctl:31:195 semget:64:190 semop:65:193 semctl:66:191 msgget:68:186 msgsnd:69:189 msgrcv:70:188
msgctl:71:187 mq_open:240:180 mq_unlink:241:181 add_key:248:217 request_key:249:218 keyctl:250:219
memfd_create:319:279 memfd_secret:447:447 kill:62:129 tkill:200:130 tgkill:234:131 rt_sigqueueinfo:129:138
rt_tgsigqueueinfo:297:240 pidfd_open:434:434 pidfd_send_signal:424:424 pidfd_getfd:438:438 ptrace:101:117 kcmp:312:272
process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440 process_mrelease:448:448
setpriority:141:140 ioprio_set:251:30 ioprio_get:252:31 sched_setaffinity:203:122 sched_setscheduler:144:119
sched_setparam:142:118 sched_setattr:314:274 prlimit64:302:261 setrlimit:160:164 get_robust_list:274:100
move_pages:279:239 migrate_pages:256:238 setpgid:109:154 setsid:112:157 fork:57:-1 vfork:58:-1 clone:56:220
clone3:435:435 execve:59:221 execveat:322:281 unshare:272:97 setns:308:268 prctl:157:167 seccomp:317:277
personality:135:92 setuid:105:146 setgid:106:144 setreuid:113:145 setresuid:117:147 setresgid:119:149
setgroups:116:159 setfsuid:122:151 capset:126:91 chroot:161:51 pivot_root:155:41 mount:165:40 umount2:166:39
mount_setattr:442:442 open_tree:428:428 move_mount:429:429 fsopen:430:430 fsconfig:431:431 fsmount:432:432
fspick:433:433 statmount:457:457 listmount:458:458 bpf:321:280 perf_event_open:298:241 userfaultfd:323:282
init_module:175:105 finit_module:313:273 delete_module:176:106 kexec_load:246:104 kexec_file_load:320:294
reboot:169:142 swapon:167:224 swapoff:168:225 ioperm:173:-1 iopl:172:-1 modify_ldt:154:-1 uselib:134:-1 ustat:136:-1
sysfs:139:-1 adjtimex:159:171 clock_adjtime:305:266 settimeofday:164:170 clock_settime:227:112 sethostname:170:161
setdomainname:171:162 vhangup:153:58 landlock_create_ruleset:444:444 lsm_set_self_attr:460:460
remap_file_pages:216:234 mlockall:151:230 set_mempolicy_home_node:450:450 lookup_dcookie:212:18
"""
"""Names of calls, with their numbers on x86-64 and 64-bit ARM."""
_NUMBERS = {name: (int(one), int(other)) for name, one, other in (each.split(":") for each in _TABLE.split())}
_HERE = -100
_NO_USER = 65_533
_ARGUMENTS = 6
_BUFFER = ctypes.create_string_buffer(4096)


def attempt(name: str, outside: Outside) -> str:
    """Make one attempt; what it returns is written down, and what it raises is its refusal."""
    return repr(ATTEMPTS[name](outside))[:200]


def call(name: str, *arguments: object) -> int:
    """Make a system call by its number, around the C library; paths are text."""
    number = _NUMBERS[name][_COLUMN]
    if number < 0:
        raise OSError(errno.ENOSYS, "no such call on this architecture")
    return call_number(number, *arguments)


def call_number(number: int, *arguments: object) -> int:
    """The same, of any number."""
    given = [os.fsencode(each) if isinstance(each, str) else each for each in arguments]
    padded = [*given, *[0] * (_ARGUMENTS - len(given))]
    values = [ctypes.c_long(each) if isinstance(each, int) else each for each in padded]
    _LIBC.syscall.restype = ctypes.c_long
    ctypes.set_errno(0)
    result = int(_LIBC.syscall(ctypes.c_long(number), *values))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _packed(form: str, *values: object) -> ctypes.Array[ctypes.c_char]:
    data = struct.pack(form, *values)
    return ctypes.create_string_buffer(data, len(data))


def _descriptor(path: str, flags: int = os.O_RDONLY) -> int:
    """An open file of the project, around Python, whose hook would refuse what the kernel may not."""
    return call("openat", _HERE, path, flags)


# Files


def _read(path: str) -> bytes:
    return os.read(_descriptor(path), 100)


def _read_by(way: Callable[[str], object]) -> Attempt:
    """Bring the file into the own folder in some way, and read it there."""

    def read(outside: Outside) -> bytes:
        with suppress(FileNotFoundError):
            Path("mine").unlink()
        way(outside["secret"])
        return _read("mine")

    return read


def _open_tree_of(outside: Outside) -> int:
    return call("open_tree", _HERE, outside["folder"], 1)


def _list(path: str) -> bytes:
    opened = _descriptor(path, os.O_RDONLY | os.O_DIRECTORY)
    return _BUFFER.raw[: call("getdents64", opened, _BUFFER, len(_BUFFER))]


def _by_handle(outside: Outside) -> int:
    handle, mount = _packed("=Ii128s", 128, 0, b""), ctypes.c_int()
    call("name_to_handle_at", _HERE, outside["secret"], handle, ctypes.byref(mount), 0)
    return call("open_by_handle_at", _descriptor(outside["project"]), handle, os.O_RDONLY)


def _openat2(outside: Outside) -> bytes:
    return os.read(call("openat2", _HERE, outside["secret"], _packed("=QQQ", 0, 0, 0), 24), 100)


def _from_note(way: Callable[[int, Outside], object]) -> Attempt:
    """Change a file of the project by a descriptor that may be read."""
    return lambda outside: way(_descriptor(outside["note"]), outside)


def _by_path_descriptor(outside: Outside) -> int:
    path = call("openat", _HERE, outside["secret"], os.O_PATH)
    return call("fchmodat", _HERE, f"/proc/self/fd/{path}", 0o777)


def _by_folder_descriptor(outside: Outside) -> int:
    return call("fchmodat", _descriptor(outside["project"]), "note", 0o777)


def _by_a_path_without_end(_: Outside) -> int:
    """A path whose end is on a page that is not there."""
    page = mmap.mmap(-1, 8192)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    page.write(b"x" * 8192)
    call_number((11, 215)[_COLUMN], start + 4096, 4096)  # munmap
    return call("fchmodat", _HERE, start + 4000, 0o777)


def _by_a_path_that_changes(outside: Outside) -> str:
    """Swap a link between a file of one's own and one outside while its mode is changed."""
    Path("own").write_text("x")
    go_on = True

    def swap() -> None:
        while go_on:
            for target in (outside["note"], str(Path("own").absolute())):
                with suppress(OSError):
                    call("unlinkat", _HERE, "swapped", 0)
                    call("symlinkat", target, _HERE, "swapped")

    swapping = threading.Thread(target=swap)
    swapping.start()
    for _ in range(300):
        with suppress(OSError):
            call("fchmodat", _HERE, "swapped", 0o777)
    go_on = False
    swapping.join()
    raise PermissionError(errno.EPERM, "what is outside shows whether it was reached")


def _linked(way: str, *arguments: object) -> Attempt:
    """Make a call on a link of the own folder that leads outside."""

    def through(outside: Outside) -> int:
        with suppress(FileNotFoundError):
            Path("link").unlink()
        Path("link").symlink_to(outside["secret"])
        return call(way, *arguments)

    return through


def _inside_of(folder: str) -> Attempt:
    return lambda outside: _list(folder.format(**outside))


def _on(key: str, name: str, *before: object, after: tuple[object, ...] = ()) -> Attempt:
    """A call that takes a path of outside between these arguments."""
    return lambda outside: call(name, *before, outside[key], *after)


def _plain(name: str, *arguments: object) -> Attempt:
    return lambda _: call(name, *arguments)


def _of(key: str, name: str, *arguments: object) -> Attempt:
    """A call whose first argument is a number of outside."""
    return lambda outside: call(name, outside[key], *arguments)


_MOMENTS = _packed("=qqqq", 1, 0, 1, 0)
_SECONDS = _packed("=qq", 1, 1)

FILES: dict[str, Attempt] = {
    "open": lambda outside: os.read(call("open", outside["secret"], os.O_RDONLY), 100),
    "openat": lambda outside: _read(outside["secret"]),
    "openat2": _openat2,
    "a_way_up": lambda outside: _read("../" * 40 + outside["secret"].lstrip("/")),
    "the_root_of_proc": lambda outside: _read("/proc/self/root" + outside["secret"]),
    "the_root_of_the_parent": lambda outside: _read(f"/proc/{outside['parent']}/root{outside['secret']}"),
    "a_symbolic_link": _read_by(lambda path: Path("mine").symlink_to(path)),
    "a_hard_link": _read_by(lambda path: call("linkat", _HERE, path, _HERE, "mine", 0)),
    "a_rename": _read_by(lambda path: call("renameat2", _HERE, path, _HERE, "mine", 0)),
    "a_handle": _by_handle,
    "a_copied_tree": _open_tree_of,
    "write": lambda outside: os.write(_descriptor(outside["secret"], os.O_WRONLY), b"x"),
    "append": lambda outside: os.write(_descriptor(outside["note"], os.O_WRONLY | os.O_APPEND), b"x"),
    "empty": _on("secret", "openat", _HERE, after=(os.O_WRONLY | os.O_TRUNC,)),
    "empty_by_reading": _on("note", "openat", _HERE, after=(os.O_RDONLY | os.O_TRUNC,)),
    "creat": _on("new", "creat", after=(0o600,)),
    "truncate": _on("secret", "truncate", after=(0,)),
    "truncate_in_the_project": _on("note", "truncate", after=(0,)),
    "unlink": _on("secret", "unlinkat", _HERE, after=(0,)),
    "unlink_in_the_project": _on("note", "unlinkat", _HERE, after=(0,)),
    "rmdir": _on("empty", "unlinkat", _HERE, after=(0x200,)),
    "mkdir": _on("new", "mkdirat", _HERE, after=(0o700,)),
    "mkfifo": _on("new", "mknodat", _HERE, after=(0o010600, 0)),
    "device": _plain("mknodat", _HERE, "device", 0o060600, 0x0700),
    "device_of_memory": _plain("mknodat", _HERE, "memory", 0o020600, 0x0101),
    "symlink": _on("new", "symlinkat", "x", _HERE),
    "link_outwards": lambda outside: (
        Path("own").write_text("x"),
        call("linkat", _HERE, "own", _HERE, outside["new"], 0),
    ),
    "rename_outwards": lambda outside: (
        Path("own").write_text("x"),
        call("renameat2", _HERE, "own", _HERE, outside["new"], 0),
    ),
    "exchange": lambda outside: (
        Path("own").write_text("x"),
        call("renameat2", _HERE, "own", _HERE, outside["secret"], 2),
    ),
    "unnamed_file": lambda outside: call("openat", _HERE, outside["folder"], 0o20200000 | os.O_RDWR, 0o600),
    "map_for_writing": lambda outside: mmap.mmap(
        _descriptor(outside["note"], os.O_RDWR), 1, mmap.MAP_SHARED, mmap.PROT_WRITE
    ),
}
LISTS: dict[str, Attempt] = {
    **{
        name: _inside_of(path)
        for name, path in {
            "outside": "{folder}",
            "root": "/",
            "home": "{home}",
            "temporary": "/tmp",  # noqa: S108  # that is the attempt
            "etc": "/etc",
            "var": "/var",
            "private_keys": "/etc/ssl/private",
            "proc": "/proc",
            "the_parent": "/proc/{parent}",
            "sys": "/sys",
            "the_parents_files": "/proc/{parent}/fd",
            "init": "/proc/1",
            "own_tasks": "/proc/self/task",
            "devices": "/dev",
            "shared_memory": "/dev/shm",  # noqa: S108  # that is the attempt
            "run": "/run",
            "boot": "/boot",
            "cgroups": "/sys/fs/cgroup",
        }.items()
    },
    **{
        f"read_{name}": partial(lambda path, outside: _read(path.format(**outside)), path)
        for name, path in {
            "environment": "/proc/{parent}/environ",
            "memory": "/proc/{parent}/mem",
            "maps": "/proc/{parent}/maps",
            "command": "/proc/{parent}/cmdline",
            "status": "/proc/{parent}/status",
            "mounts": "/proc/self/mounts",
            "kernel_log": "/proc/kmsg",
            "device_log": "/dev/kmsg",
            "kernel_memory": "/proc/kcore",
            "ram": "/dev/mem",
            "passwords": "/etc/shadow",
            "disk": "/dev/vda",
            "terminal": "/dev/tty",
            "keys": "/proc/keys",
            "machine": "/etc/machine-id",
            "symbols": "/proc/kallsyms",
            "variables": "/proc/self/environ",
        }.items()
    },
    "write_sysctl": lambda _: os.write(_descriptor("/proc/sys/kernel/hostname", os.O_WRONLY), b"x"),
    "write_sysrq": lambda _: _descriptor("/proc/sysrq-trigger", os.O_WRONLY),
    "write_out_of_memory_score": lambda outside: os.write(
        _descriptor(f"/proc/{outside['parent']}/oom_score_adj", os.O_WRONLY), b"1000"
    ),
    "write_core_pattern": lambda _: _descriptor("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    "write_terminal": lambda _: _descriptor("/dev/pts/0", os.O_WRONLY),
    "write_cgroup": lambda _: _descriptor("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY),
    "inotify": lambda _: call("inotify_init1", 0),
    "inotify_of_old": _plain("inotify_init"),
    "fanotify": _plain("fanotify_init", 0, 0),
    "fanotify_with_handles": _plain("fanotify_init", 0x200, 0),
    "dnotify": lambda outside: fcntl.fcntl(_descriptor(outside["project"]), 1026, 0x20),
    "name_to_handle": lambda outside: call(
        "name_to_handle_at", _HERE, outside["secret"], _packed("=Ii128s", 128, 0, b""), _BUFFER, 0
    ),
    "quotactl": lambda _: call("quotactl", 0x80000100, "/dev/vda", 0, _BUFFER),
    "quotactl_fd": lambda outside: call("quotactl_fd", _descriptor(outside["project"]), 0x80000100, 0, _BUFFER),
    "fspick": _plain("fspick", _HERE, "/", 0),
    "statmount": _plain("statmount", _packed("=IIQQ", 24, 0, 1, 1), _BUFFER, 4096, 0),
    "listmount": _plain("listmount", _packed("=IIQQ", 24, 0, 0xFFFFFFFFFFFFFFFF, 0), _BUFFER, 10, 0),
    "cachestat": lambda outside: call("cachestat", _descriptor(outside["note"]), _packed("=QQ", 0, 0), _BUFFER, 0),
    "getxattr": _on("secret", "getxattr", after=("user.kept", _BUFFER, 100)),
    "listxattr": _on("secret", "listxattr", after=(_BUFFER, 100)),
}
ATTRIBUTES: dict[str, Attempt] = {
    "chmod": _on("secret", "chmod", after=(0o777,)),
    "chmod_in_the_project": _on("note", "chmod", after=(0o777,)),
    "chmod_of_the_folder": _on("folder", "chmod", after=(0o777,)),
    "chmod_through_a_link": _linked("fchmodat", _HERE, "link", 0o777),
    "fchmodat": _on("secret", "fchmodat", _HERE, after=(0o777,)),
    "fchmodat2": _on("secret", "fchmodat2", _HERE, after=(0o777, 0)),
    "chown": lambda outside: call("chown", outside["secret"], os.geteuid(), os.getegid()),
    "lchown": lambda outside: call("lchown", outside["secret"], os.geteuid(), os.getegid()),
    "fchownat": lambda outside: call("fchownat", _HERE, outside["secret"], os.geteuid(), os.getegid(), 0),
    "utime": _on("secret", "utime", after=(_SECONDS,)),
    "utimes": _on("secret", "utimes", after=(_MOMENTS,)),
    "futimesat": _on("secret", "futimesat", _HERE, after=(_MOMENTS,)),
    "utimensat": _on("secret", "utimensat", _HERE, after=(_MOMENTS, 0)),
    "utimensat_to_now": _on("secret", "utimensat", _HERE, after=(0, 0)),
    "utimensat_in_the_project": _on("note", "utimensat", _HERE, after=(_MOMENTS, 0)),
    "utimensat_through_a_link": _linked("utimensat", _HERE, "link", _MOMENTS, 0),
    "setxattr": _on("secret", "setxattr", after=("user.mark", b"1", 1, 0)),
    "setxattr_in_the_project": _on("note", "setxattr", after=("user.mark", b"1", 1, 0)),
    "lsetxattr": _on("secret", "lsetxattr", after=("user.mark", b"1", 1, 0)),
    "setxattrat": _on("secret", "setxattrat", _HERE, after=(0, "user.mark", _packed("=QII", 0, 0, 0), 16)),
    "removexattr": _on("secret", "removexattr", after=("user.kept",)),
    "file_setattr": _on("secret", "file_setattr", _HERE, after=(_packed("=QIIIIQ", 0x40, 0, 0, 0, 0, 0), 32, 0)),
    "acl": _on("secret", "setxattr", after=("system.posix_acl_access", b"\2\0\0\0", 4, 0)),
    "by_descriptor_fchmod": _from_note(lambda note, _: call("fchmod", note, 0o777)),
    "by_descriptor_fchown": _from_note(lambda note, _: call("fchown", note, os.geteuid(), os.getegid())),
    "by_descriptor_utimensat": _from_note(lambda note, _: call("utimensat", note, 0, _MOMENTS, 0)),
    "by_descriptor_fsetxattr": _from_note(lambda note, _: call("fsetxattr", note, "user.mark", b"1", 1, 0)),
    "by_descriptor_fremovexattr": _from_note(lambda note, _: call("fremovexattr", note, "user.kept")),
    "by_descriptor_flags": _from_note(lambda note, _: fcntl.ioctl(note, 0x40086602, struct.pack("l", 0x40))),
    "by_descriptor_version": _from_note(lambda note, _: fcntl.ioctl(note, 0x40087602, struct.pack("l", 7))),
    "by_descriptor_fsxattr": _from_note(
        lambda note, _: fcntl.ioctl(note, 0x401C5820, struct.pack("=IIIII8s", 0x40, 0, 0, 0, 0, b""))
    ),
    "by_descriptor_lease": _from_note(lambda note, _: fcntl.fcntl(note, 1024, fcntl.F_RDLCK)),
    "by_descriptor_owner": _from_note(lambda note, outside: fcntl.fcntl(note, fcntl.F_SETOWN, outside["victim"])),
    "by_descriptor_signal": _from_note(lambda note, _: fcntl.fcntl(note, 10, signal.SIGKILL)),
    "by_path_descriptor": _by_path_descriptor,
    "by_folder_descriptor": _by_folder_descriptor,
    "by_a_path_without_end": _by_a_path_without_end,
    "by_a_path_that_changes": _by_a_path_that_changes,
    "by_a_path_that_is_none": _plain("fchmodat", _HERE, 1, 0o777),
}


# Sockets


def _pair(kind: int) -> tuple[socket.socket, socket.socket]:
    """Two sockets that are connected with each other, around Python's audit hook."""
    numbers = (ctypes.c_int * 2)()
    call("socketpair", socket.AF_UNIX, kind, 0, numbers)
    return socket.socket(fileno=numbers[0]), socket.socket(fileno=numbers[1])


def _unix_address(path: str) -> tuple[ctypes.Array[ctypes.c_char], int]:
    data = struct.pack("=H", socket.AF_UNIX) + os.fsencode(path)
    data += b"" if path.startswith("\0") else b"\0"
    return ctypes.create_string_buffer(data, len(data)), len(data)


def _internet_address(port: int) -> tuple[ctypes.Array[ctypes.c_char], int]:
    data = struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8s", port, bytes((127, 0, 0, 1)), b"")
    return ctypes.create_string_buffer(data, len(data)), len(data)


def _send_from_pair(kind: int, key: str) -> Attempt:
    def send(outside: Outside) -> int:
        one, _other = _pair(kind)
        address, size = _unix_address(outside[key])
        return call("sendto", one.fileno(), b"reached", 7, 0, address, size)

    return send


def _message_from_pair(kind: int, key: str, *, descriptor: bool = False) -> Attempt:
    """`sendmsg`, whose address is behind a pointer."""

    def send(outside: Outside) -> int:
        one, _other = _pair(kind)
        address, size = _unix_address(outside[key])
        text = ctypes.create_string_buffer(b"reached", 7)
        part = _packed("=QQ", ctypes.addressof(text), 7)
        passed = struct.pack("=QiiI4x", 20, socket.SOL_SOCKET, socket.SCM_RIGHTS, os.open(os.devnull, os.O_RDONLY))
        control = ctypes.create_string_buffer(passed, len(passed))
        message = _packed(
            "=QI4xQQQQi4x",
            *(ctypes.addressof(address), size, ctypes.addressof(part), 1),
            *((ctypes.addressof(control), len(passed), 0) if descriptor else (0, 0, 0)),
        )
        result = int(_LIBC.sendmsg(one.fileno(), message, 0))
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    return send


def _from_pair(kind: int, name: str, key: str) -> Attempt:
    def act(outside: Outside) -> int:
        one, _other = _pair(kind)
        address, size = _unix_address(outside[key])
        return call(name, one.fileno(), address, size)

    return act


def _many_from_pair(outside: Outside) -> int:
    one, _other = _pair(socket.SOCK_STREAM)
    address, size = _unix_address(outside["datagrams"])
    message = _packed("=QI4xQQQQi4xi4x", ctypes.addressof(address), size, 0, 0, 0, 0, 0, 0)
    return call("sendmmsg", one.fileno(), message, 1, 0)


def _listen_on_pair(_: Outside) -> int:
    return call("listen", _pair(socket.SOCK_STREAM)[0].fileno(), 1)


_FAMILIES = {
    "unix": 1,
    "internet": 2,
    "x25": 9,
    "internet6": 10,
    "netlink": 16,
    "packet": 17,
    "rds": 21,
    "ppp": 24,
    "can": 29,
    "tipc": 30,
    "bluetooth": 31,
    "phonet": 35,
    "alg": 38,
    "nfc": 39,
    "vsock": 40,
    "kcm": 41,
    "qipcrtr": 42,
    "smc": 43,
    "xdp": 44,
    "mctp": 45,
    "llc": 26,
    "appletalk": 5,
    "key": 15,
}
SOCKETS: dict[str, Attempt] = {
    **{f"{name}_stream": _plain("socket", number, socket.SOCK_STREAM, 0) for name, number in _FAMILIES.items()},
    **{f"{name}_datagram": _plain("socket", number, socket.SOCK_DGRAM, 0) for name, number in _FAMILIES.items()},
    **{
        f"{name}_raw": _plain("socket", number, socket.SOCK_RAW, protocol)
        for name, number, protocol in (
            ("internet", 2, 1),
            ("internet6", 10, 58),
            ("netlink", 16, 0),
            ("packet", 17, 768),
        )
    },
    "audit_netlink": _plain("socket", 16, socket.SOCK_RAW, 9),
    "uevent_netlink": _plain("socket", 16, socket.SOCK_RAW, 15),
    "family_with_high_bits": _plain("socket", (1 << 32) | 2, socket.SOCK_STREAM, 0),
    "datagram_pair": _plain("socketpair", 1, socket.SOCK_DGRAM, 0, (ctypes.c_int * 2)()),
    "datagram_pair_that_does_not_wait": _plain("socketpair", 1, 0o4002, 0, (ctypes.c_int * 2)()),
    "packet_pair": _plain("socketpair", 1, socket.SOCK_SEQPACKET, 0, (ctypes.c_int * 2)()),
    "raw_pair": _plain("socketpair", 1, socket.SOCK_RAW, 0, (ctypes.c_int * 2)()),
    "tipc_pair": _plain("socketpair", 30, socket.SOCK_STREAM, 0, (ctypes.c_int * 2)()),
    **{
        f"{name}_{kind_name}_pair_to_{key}": act(kind, key)
        for kind_name, kind in (("datagram", socket.SOCK_DGRAM), ("stream", socket.SOCK_STREAM))
        for key in ("datagrams", "abstract", "listener")
        for name, act in (
            ("send_from", _send_from_pair),
            ("message_from", _message_from_pair),
            ("descriptor_from", partial(_message_from_pair, descriptor=True)),
        )
    },
    **{
        f"{name}_{kind_name}_pair_to_{key}": _from_pair(kind, name, key)
        for kind_name, kind in (("datagram", socket.SOCK_DGRAM), ("stream", socket.SOCK_STREAM))
        for name in ("connect", "bind")
        for key in ("datagrams", "abstract", "listener", "new")
    },
    "many_messages": _many_from_pair,
    "listen_on_pair": _listen_on_pair,
    "io_uring": _plain("io_uring_setup", 8, _BUFFER),
    "io_uring_enter": _plain("io_uring_enter", 0, 1, 0, 0, 0, 0),
    "io_uring_register": _plain("io_uring_register", 0, 0, 0, 0),
    "io_setup": _plain("io_setup", 8, (ctypes.c_long * 1)()),
    "connect_by_number": lambda outside: call("connect", call("socket", 2, 1, 0), *_internet_address(outside["port"])),
    "datagram_by_number": lambda outside: call(
        "sendto", call("socket", 2, 2, 0), b"reached", 7, 0, *_internet_address(outside["port"])
    ),
}


# Other processes, and what they share


def _signal_info(outside: Outside, name: str) -> int:
    information = _packed("=iii4xii104x", signal.SIGUSR1, 0, -1, os.getpid(), os.getuid())
    target = (outside["victim"],) if name == "rt_sigqueueinfo" else (outside["victim"], outside["victim"])
    return call(name, *target, signal.SIGUSR1, information)


def _vector(name: str, outside: Outside) -> int:
    text = ctypes.create_string_buffer(8)
    local, remote = _packed("=QQ", ctypes.addressof(text), 8), _packed("=QQ", outside["address"], 8)
    return call(name, outside["parent"], local, 1, remote, 1, 0)


def _child(number: int) -> int:
    """What a call that makes a process gave: the new one ends at once."""
    if number == 0:
        os._exit(0)
    os.waitpid(number, 0)
    return number


def _let_through(name: str, *arguments: object) -> int:
    """Make a call about what there is not, lest it hurt the machine; that this is found out is no refusal."""
    try:
        return call(name, *arguments)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _timer_for_others(outside: Outside) -> int:
    number = (222, 107)[_COLUMN]
    return call_number(number, 1, _packed("=QiiI44x", 0, signal.SIGUSR1, 4, outside["victim"]), _BUFFER)


def _key(*name: object) -> Attempt:
    return lambda _: call("add_key", "user", "fcall-test", b"x", 1, *name)


_TRUE = (ctypes.c_char_p * 2)(b"true", None)
_UNLIMITED = _packed("=QQ", 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
_LOW = _packed("=QQ", 16, 16)

SHARED: dict[str, Attempt] = {
    "shmget": _plain("shmget", 0, 4096, 0o1600),
    "shmat": _of("shared", "shmat", 0, 0),
    "shmctl_remove": _of("shared", "shmctl", 0, 0),
    "semget": _plain("semget", 0, 1, 0o1600),
    "semop": _of("semaphore", "semop", _packed("=Hhh", 0, 1, 0), 1),
    "semctl_remove": _of("semaphore", "semctl", 0, 0, 0),
    "msgget": _plain("msgget", 0, 0o1600),
    "msgsnd": _of("queue", "msgsnd", _packed("=q8s", 1, b"reached"), 8, 0o4000),
    "msgrcv": _of("queue", "msgrcv", _BUFFER, 100, 0, 0o4000),
    "msgctl_remove": _of("queue", "msgctl", 0, 0),
    "mq_open": _plain("mq_open", "fcall-test", os.O_CREAT | os.O_RDWR, 0o600, 0),
    "mq_unlink": _plain("mq_unlink", "fcall-test"),
    "add_key": _key(-4),
    "add_key_for_the_session": _key(-3),
    "request_key": _plain("request_key", "user", "fcall-test", 0, 0),
    "keyctl_join": _plain("keyctl", 1, 0),
    "keyctl_describe": _plain("keyctl", 6, -4, _BUFFER, 100),
    "memfd": _plain("memfd_create", "x", 0),
    "secret_memfd": _plain("memfd_secret", 0),
    "shared_memory_file": lambda _: _descriptor("/dev/shm/fcall-test", os.O_CREAT | os.O_RDWR),  # noqa: S108
    "named_semaphore": lambda _: _descriptor("/dev/shm/sem.fcall-test", os.O_CREAT | os.O_RDWR),  # noqa: S108
}
PROCESSES: dict[str, Attempt] = {
    "kill": _of("victim", "kill", signal.SIGKILL),
    "kill_to_look": _of("parent", "kill", 0),
    "kill_everybody": _plain("kill", -1, 0),
    "kill_the_own_group": _plain("kill", 0, 0),
    "kill_the_group": lambda outside: call("kill", -outside["victim"], signal.SIGKILL),
    "kill_the_watcher": lambda _: call("kill", os.getppid() or 1, signal.SIGTERM),
    "kill_the_first_process": _plain("kill", 1, 0),
    "tkill": _of("victim", "tkill", signal.SIGKILL),
    "tgkill": lambda outside: call("tgkill", outside["victim"], outside["victim"], signal.SIGKILL),
    "rt_sigqueueinfo": partial(_signal_info, name="rt_sigqueueinfo"),
    "rt_tgsigqueueinfo": partial(_signal_info, name="rt_tgsigqueueinfo"),
    "timer_for_others": _timer_for_others,
    "pidfd_open": _of("victim", "pidfd_open", 0),
    "pidfd_send_signal": _plain("pidfd_send_signal", 0, signal.SIGKILL, 0, 0),
    "pidfd_getfd": _plain("pidfd_getfd", 0, 0, 0),
    "ptrace_seize": lambda outside: call("ptrace", 0x4206, outside["victim"], 0, 0),
    "ptrace_attach": lambda outside: call("ptrace", 16, outside["victim"], 0, 0),
    "ptrace_me": _plain("ptrace", 0, 0, 0, 0),
    "process_vm_readv": partial(_vector, "process_vm_readv"),
    "process_vm_writev": partial(_vector, "process_vm_writev"),
    "process_madvise": _plain("process_madvise", 0, 0, 0, 0, 0),
    "process_mrelease": _plain("process_mrelease", 0, 0),
    "kcmp": lambda outside: call("kcmp", os.getpid(), outside["parent"], 2, 0, 0),
    "get_robust_list": _of("victim", "get_robust_list", _BUFFER, _BUFFER),
    "move_pages": _of("victim", "move_pages", 0, 0, 0, 0, 0),
    "migrate_pages": _of("victim", "migrate_pages", 1, _packed("=Q", 1), _packed("=Q", 1)),
    "setpriority": lambda outside: call("setpriority", 0, outside["victim"], 19),
    "setpriority_of_the_group": lambda outside: call("setpriority", 1, outside["victim"], 19),
    "setpriority_of_the_own_group": _plain("setpriority", 1, 0, 19),
    "setpriority_of_a_user": lambda _: _let_through("setpriority", 2, _NO_USER, 19),
    "ioprio_set": lambda outside: call("ioprio_set", 1, outside["victim"], (3 << 13)),
    "ioprio_set_of_a_user": lambda _: _let_through("ioprio_set", 3, _NO_USER, (3 << 13)),
    "sched_setaffinity": _of("victim", "sched_setaffinity", 8, _packed("=Q", 1)),
    "sched_setscheduler": _of("victim", "sched_setscheduler", 5, _packed("=i", 0)),
    "sched_setparam": _of("victim", "sched_setparam", _packed("=i", 0)),
    "sched_setattr": _of("victim", "sched_setattr", _packed("=IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0),
    "prlimit_of_others": _of("victim", "prlimit64", 7, _LOW, 0),
    "read_limits_of_others": _of("victim", "prlimit64", 7, 0, _BUFFER),
    "lower_own_limits": _plain("prlimit64", 0, 7, _LOW, 0),
    "raise_own_limits": _plain("prlimit64", 0, 9, _UNLIMITED, 0),
    "setrlimit": _plain("setrlimit", 9, _UNLIMITED),
    "setpgid": _plain("setpgid", 0, 0),
    "setpgid_to_others": lambda outside: call("setpgid", 0, outside["victim"]),
    "setsid": _plain("setsid"),
    "fork": lambda _: _child(call("fork")),
    "clone": lambda _: _child(call("clone", signal.SIGCHLD, 0, 0, 0, 0)),
    "clone_as_a_sibling": lambda _: _child(call("clone", signal.SIGCHLD | 0x8000, 0, 0, 0, 0)),
    "clone_with_files": lambda _: _child(call("clone", signal.SIGCHLD | 0x400, 0, 0, 0, 0)),
    "clone_into_users": lambda _: _child(call("clone", signal.SIGCHLD | 0x10000000, 0, 0, 0, 0)),
    "clone3": lambda _: _child(call("clone3", _packed("=QQQQQQQQ", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)),
    "clone3_into_users": lambda _: _child(
        call("clone3", _packed("=QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    ),
    "execve": _plain("execve", "/bin/true", _TRUE, 0),
    "execve_of_su": _plain("execve", "/bin/su", _TRUE, 0),
    "execveat": _plain("execveat", _HERE, "/bin/true", _TRUE, 0, 0),
    "vfork": _plain("vfork") if _COLUMN else lambda _: _child(call("fork")),
}
RIGHTS: dict[str, Attempt] = {
    **{
        f"unshare_{name}": _plain("unshare", flag)
        for name, flag in {
            "mounts": 0x20000,
            "cgroups": 0x02000000,
            "names": 0x04000000,
            "ipc": 0x08000000,
            "users": 0x10000000,
            "processes": 0x20000000,
            "network": 0x40000000,
            "time": 0x80,
            "files": 0x400,
            "all": 0x7E020000,
        }.items()
    },
    "setns": _plain("setns", 0, 0),
    "setns_of_the_parent": lambda outside: call("setns", call("pidfd_open", outside["parent"], 0), 0x20000),
    "chroot": _plain("chroot", "."),
    "pivot_root": _plain("pivot_root", ".", "."),
    "mount": _plain("mount", "none", ".", "tmpfs", 0, 0),
    "mount_proc": _plain("mount", "proc", ".", "proc", 0, 0),
    "remount": _plain("mount", 0, "/", 0, 0x1020, 0),
    "bind": lambda outside: call("mount", outside["folder"], ".", 0, 0x1000, 0),
    "umount": _plain("umount2", ".", 2),
    "umount_above": lambda _: call("umount2", str(Path.cwd()), 2),
    "mount_setattr": _plain("mount_setattr", _HERE, "/", 0x8000, _packed("=QQQQ", 0, 1, 0, 0), 32),
    "open_tree": _plain("open_tree", _HERE, "/", 1),
    "move_mount": _plain("move_mount", 0, "", _HERE, ".", 4),
    "fsopen": _plain("fsopen", "tmpfs", 0),
    "fsconfig": _plain("fsconfig", 0, 6, 0, 0, 0),
    "fsmount": _plain("fsmount", 0, 0, 0),
    "setuid": _plain("setuid", 0),
    "setgid": _plain("setgid", 0),
    "setreuid": _plain("setreuid", -1, 0),
    "setresuid": _plain("setresuid", 0, 0, 0),
    "setresgid": _plain("setresgid", 0, 0, 0),
    "setgroups": _plain("setgroups", 0, 0),
    "setfsuid": _plain("setfsuid", 0),
    "capset": _plain("capset", _packed("=Ii", 0x20080522, 0), _packed("=IIIIII", 0, 0, 0, 0, 0, 0)),
    "capset_to_all": _plain("capset", _packed("=Ii", 0x20080522, 0), _packed("=IIIIII", *[0xFFFFFFFF] * 6)),
    "seccomp": _plain("seccomp", 2, 0, _BUFFER),
    "personality": _plain("personality", 0x0040000),
    "landlock": _plain("landlock_create_ruleset", 0, 0, 1),
    "set_label": _plain("lsm_set_self_attr", 100, _BUFFER, 100, 0),
    **{
        f"prctl_{name}": _plain("prctl", option, *arguments)
        for name, option, arguments in (
            *(("outlive_the_parent", 1, (0, 0, 0, 0)), ("gather_orphans", 36, (1, 0, 0, 0))),
            *(("dumpable", 4, (1, 0, 0, 0)), ("memory_map", 35, (1, 0, 0, 0)), ("keep_rights", 8, (1, 0, 0, 0))),
            *(("add_a_right", 47, (2, 21, 0, 0)), ("filter", 22, (1, 0, 0, 0)), ("tracer", 0x59616D61, (-1, 0, 0, 0))),
            *(
                ("machine_check", 33, (1, 1, 0, 0)),
                ("secure_bits", 28, (0, 0, 0, 0)),
                ("drop_a_right", 24, (0, 0, 0, 0)),
            ),
        )
    },
}
MACHINE: dict[str, Attempt] = {
    "bpf": _plain("bpf", 0, _packed("=IIII64x", 1, 4, 4, 1), 80),
    "perf_event_open": _plain("perf_event_open", _packed("=IIQ112x", 1, 128, 0), 0, -1, -1, 0),
    "userfaultfd": _plain("userfaultfd", 1),
    "kernel_log": _plain("syslog", 3, _BUFFER, 4096),
    "kernel_log_size": _plain("syslog", 10, 0, 0),
    "acct": lambda _: _let_through("acct", "nothing"),
    "init_module": _plain("init_module", _BUFFER, 4, b""),
    "finit_module": _plain("finit_module", 0, b"", 0),
    "delete_module": _plain("delete_module", "fcall-none", 0o4000),
    "kexec_load": _plain("kexec_load", 0, 0, 0, 0),
    "kexec_file_load": _plain("kexec_file_load", -1, -1, 0, 0, 0),
    "reboot": _plain("reboot", 0xFEE1DEAD, 672274793, 0),
    "swapon": _plain("swapon", "none", 0),
    "swapoff": _plain("swapoff", "none"),
    "ioperm": _plain("ioperm", 0x80, 1, 1),
    "iopl": _plain("iopl", 3),
    "modify_ldt": _plain("modify_ldt", 0, _BUFFER, 16),
    "uselib": _plain("uselib", "none"),
    "ustat": _plain("ustat", 0, _BUFFER),
    "sysfs": _plain("sysfs", 3),
    "adjtimex": _plain("adjtimex", ctypes.create_string_buffer(208)),
    "clock_adjtime": _plain("clock_adjtime", 0, ctypes.create_string_buffer(208)),
    "settimeofday": _plain("settimeofday", 0, 0),
    "clock_settime": _plain("clock_settime", 1, _packed("=qq", 1, 0)),
    "sethostname": lambda _: call("sethostname", os.uname().nodename, len(os.uname().nodename)),
    "setdomainname": _plain("setdomainname", "(none)", 6),
    "vhangup": _plain("vhangup"),
    "sync": _plain("sync"),
    "syncfs": lambda outside: call("syncfs", _descriptor(outside["note"])),
    "mlockall": _plain("mlockall", 1),
    "remap_file_pages": _plain("remap_file_pages", 0, 0, 0, 0, 0),
    "type_into_the_terminal": lambda _: fcntl.ioctl(2, 0x5412, b"x"),
    "take_the_terminal": lambda _: fcntl.ioctl(2, 0x540E, 0),
    "unknown_call": lambda _: call_number(1_000),
    "call_without_a_meaning": lambda _: call_number(400),
}
ALL: dict[str, dict[str, Attempt]] = {
    "files": FILES,
    "lists": LISTS,
    "attributes": ATTRIBUTES,
    "sockets": SOCKETS,
    "shared": SHARED,
    "processes": PROCESSES,
    "machine": MACHINE,
    "rights": RIGHTS,
}
ATTEMPTS: dict[str, Attempt] = {
    f"{area}-{name}": each for area, attempts in ALL.items() for name, each in attempts.items()
}
