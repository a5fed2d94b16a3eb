"""The system calls that Python functions need, with their numbers, grouped by what they are for.

They were found by running the parts of the standard library that need no rights, numpy, pandas and common programs
under strace. Older and newer calls that a C library uses in their place stand beside them. What is not here is refused.

Numbers: Linux's `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`, -1 where there is no
such call. All calls since 424 have the same number everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

CallNumbers: TypeAlias = tuple[int, int]
"""On x86-64 and on 64-bit ARM."""
CallTable: TypeAlias = Mapping[str, CallNumbers]

NEWEST: Final = 462
"""The last call that this table was made with. Libraries do without newer ones on older kernels."""

FILES: Final[CallTable] = MappingProxyType(
    {
        "open": (2, -1),
        "openat": (257, 56),
        "openat2": (437, 437),
        "creat": (85, -1),
        "close": (3, 57),
        "close_range": (436, 436),
        "dup": (32, 23),
        "dup2": (33, -1),
        "dup3": (292, 24),
        "read": (0, 63),
        "write": (1, 64),
        "pread64": (17, 67),
        "pwrite64": (18, 68),
        "readv": (19, 65),
        "writev": (20, 66),
        "preadv": (295, 69),
        "pwritev": (296, 70),
        "preadv2": (327, 286),
        "pwritev2": (328, 287),
        "lseek": (8, 62),
        "fadvise64": (221, 223),
        "fallocate": (285, 47),
        "truncate": (76, 45),
        "ftruncate": (77, 46),
        "fsync": (74, 82),
        "fdatasync": (75, 83),
        "sync_file_range": (277, 84),
        "sendfile": (40, 71),
        "splice": (275, 76),
        "tee": (276, 77),
        "vmsplice": (278, 75),
        "copy_file_range": (326, 285),
        "flock": (73, 32),
        "stat": (4, -1),
        "lstat": (6, -1),
        "fstat": (5, 80),
        "newfstatat": (262, 79),
        "statx": (332, 291),
        "statfs": (137, 43),
        "fstatfs": (138, 44),
        "access": (21, -1),
        "faccessat": (269, 48),
        "faccessat2": (439, 439),
        "getdents": (78, -1),
        "getdents64": (217, 61),
        "getcwd": (79, 17),
        "chdir": (80, 49),
        "fchdir": (81, 50),
        "mkdir": (83, -1),
        "mkdirat": (258, 34),
        "rmdir": (84, -1),
        "unlink": (87, -1),
        "unlinkat": (263, 35),
        "rename": (82, -1),
        "renameat": (264, 38),
        "renameat2": (316, 276),
        "link": (86, -1),
        "linkat": (265, 37),
        "symlink": (88, -1),
        "symlinkat": (266, 36),
        "readlink": (89, -1),
        "readlinkat": (267, 78),
        "mknod": (133, -1),
        "mknodat": (259, 33),
        "umask": (95, 166),
        "pipe": (22, -1),
        "pipe2": (293, 59),
    }
)
"""Files: which of them, Landlock says."""
ATTRIBUTES: Final[CallTable] = MappingProxyType(
    {
        "chmod": (90, -1),
        "fchmod": (91, 52),
        "fchmodat": (268, 53),
        "fchmodat2": (452, 452),
        "chown": (92, -1),
        "lchown": (94, -1),
        "fchown": (93, 55),
        "fchownat": (260, 54),
        "utime": (132, -1),
        "utimes": (235, -1),
        "futimesat": (261, -1),
        "utimensat": (280, 88),
    }
)
"""Mode, owner and times of files. They name any file that the user owns: no part of Landlock holds them."""
EXTENDED_ATTRIBUTES: Final[CallTable] = MappingProxyType(
    {
        "setxattr": (188, 5),
        "lsetxattr": (189, 6),
        "fsetxattr": (190, 7),
        "getxattr": (191, 8),
        "lgetxattr": (192, 9),
        "fgetxattr": (193, 10),
        "listxattr": (194, 11),
        "llistxattr": (195, 12),
        "flistxattr": (196, 13),
        "removexattr": (197, 14),
        "lremovexattr": (198, 15),
        "fremovexattr": (199, 16),
    }
)
"""These answer as on a file system without them, which libraries are used to."""
MEMORY: Final[CallTable] = MappingProxyType(
    {
        "brk": (12, 214),
        "mmap": (9, 222),
        "munmap": (11, 215),
        "mremap": (25, 216),
        "mprotect": (10, 226),
        "madvise": (28, 233),
        "msync": (26, 227),
        "mincore": (27, 232),
        "membarrier": (324, 283),
        "mbind": (237, 235),
        "get_mempolicy": (239, 236),
        "set_mempolicy": (238, 237),
        "mseal": (462, 462),
        "map_shadow_stack": (453, 453),
        "pkey_alloc": (330, 289),
        "pkey_free": (331, 290),
        "pkey_mprotect": (329, 288),
    }
)
"""Memory of the process."""
THREADS: Final[CallTable] = MappingProxyType(
    {
        "futex": (202, 98),
        "futex_waitv": (449, 449),
        "futex_wake": (454, 454),
        "futex_wait": (455, 455),
        "futex_requeue": (456, 456),
        "set_robust_list": (273, 99),
        "set_tid_address": (218, 96),
        "rseq": (334, 293),
        "gettid": (186, 178),
        "sched_yield": (24, 124),
        "sched_getaffinity": (204, 123),
        "sched_getparam": (143, 121),
        "sched_getscheduler": (145, 120),
        "sched_get_priority_max": (146, 125),
        "sched_get_priority_min": (147, 126),
        "arch_prctl": (158, -1),
        "restart_syscall": (219, 128),
        "exit": (60, 93),
        "exit_group": (231, 94),
    }
)
"""Threads, and the end of the process."""
WAITING: Final[CallTable] = MappingProxyType(
    {
        "poll": (7, -1),
        "ppoll": (271, 73),
        "select": (23, -1),
        "pselect6": (270, 72),
        "epoll_create": (213, -1),
        "epoll_create1": (291, 20),
        "epoll_ctl": (233, 21),
        "epoll_wait": (232, -1),
        "epoll_pwait": (281, 22),
        "epoll_pwait2": (441, 441),
        "eventfd": (284, -1),
        "eventfd2": (290, 19),
        "signalfd": (282, -1),
        "signalfd4": (289, 74),
        "pause": (34, -1),
        "wait4": (61, 260),
        "waitid": (247, 95),
    }
)
"""Waiting for descriptors and children."""
TIME: Final[CallTable] = MappingProxyType(
    {
        "time": (201, -1),
        "gettimeofday": (96, 169),
        "clock_gettime": (228, 113),
        "clock_getres": (229, 114),
        "clock_nanosleep": (230, 115),
        "nanosleep": (35, 101),
        "times": (100, 153),
        "alarm": (37, -1),
        "getitimer": (36, 102),
        "setitimer": (38, 103),
        "timer_create": (222, 107),
        "timer_settime": (223, 110),
        "timer_gettime": (224, 108),
        "timer_getoverrun": (225, 109),
        "timer_delete": (226, 111),
        "timerfd_create": (283, 85),
        "timerfd_settime": (286, 86),
        "timerfd_gettime": (287, 87),
    }
)
"""Clocks and timers."""
SIGNALS: Final[CallTable] = MappingProxyType(
    {
        "rt_sigaction": (13, 134),
        "rt_sigprocmask": (14, 135),
        "rt_sigreturn": (15, 139),
        "rt_sigpending": (127, 136),
        "rt_sigsuspend": (130, 133),
        "rt_sigtimedwait": (128, 137),
        "sigaltstack": (131, 132),
    }
)
"""Signals that the process takes."""
ABOUT_ITSELF: Final[CallTable] = MappingProxyType(
    {
        "getpid": (39, 172),
        "getppid": (110, 173),
        "getpgid": (121, 155),
        "getpgrp": (111, -1),
        "getsid": (124, 156),
        "getuid": (102, 174),
        "geteuid": (107, 175),
        "getgid": (104, 176),
        "getegid": (108, 177),
        "getgroups": (115, 158),
        "getresuid": (118, 148),
        "getresgid": (120, 150),
        "capget": (125, 90),
        "getrlimit": (97, 163),
        "getrusage": (98, 165),
        "getrandom": (318, 278),
        "getcpu": (309, 168),
        "uname": (63, 160),
        "sysinfo": (99, 179),
        "getpriority": (140, 141),
    }
)
"""Calls by which a process asks about itself and its machine."""
CONNECTED_SOCKETS: Final[CallTable] = MappingProxyType(
    {
        "recvfrom": (45, 207),
        "sendmsg": (46, 211),
        "recvmsg": (47, 212),
        "shutdown": (48, 210),
        "getsockname": (51, 204),
        "getpeername": (52, 205),
        "getsockopt": (55, 209),
        "setsockopt": (54, 208),
    }
)
"""Sockets that are connected already: without the network, pairs of streams are all that there is."""
NETWORK: Final[CallTable] = MappingProxyType(
    {
        "bind": (49, 200),
        "listen": (50, 201),
        "connect": (42, 203),
        "accept": (43, 202),
        "accept4": (288, 242),
        "sendmmsg": (307, 269),
        "recvmmsg": (299, 243),
    }
)
"""Connections to others."""
PROGRAMS: Final[CallTable] = MappingProxyType(
    {
        "fork": (57, -1),
        "vfork": (58, -1),
        "execve": (59, 221),
        "execveat": (322, 281),
        "pidfd_open": (434, 434),
    }
)
"""Other programs, and signals to them."""
LOOKED_AT: Final[CallTable] = MappingProxyType(
    {
        "clone": (56, 220),
        "clone3": (435, 435),
        "socket": (41, 198),
        "socketpair": (53, 199),
        "sendto": (44, 206),
        "kill": (62, 129),
        "tkill": (200, 130),
        "tgkill": (234, 131),
        "prlimit64": (302, 261),
        "setpriority": (141, 140),
        "sched_setaffinity": (203, 122),
        "fcntl": (72, 25),
        "ioctl": (16, 29),
        "prctl": (157, 167),
    }
)
"""Calls that `call_filter` allows for some arguments only."""
