"""Functions of the project, called in a process of their own.

`limits` specifies the environment and its limits; `tool_process` starts the process and calls; `child` runs inside.

A model chooses names and arguments of the calls. Therefore a call
* ends in time, with all that it started; the process ends even if its parent is killed;
* gives a bounded result, whatever it returns, raises, prints or does to its process;
* sees only those environment variables of the parent that describe the system, and none of its open files;
* uses bounded memory;
* writes only in a folder of its own, and reads only files of Python, of the system and of the project;
* cannot use the network, start programs or send signals to other processes.

On Linux the kernel enforces all this: resource limits, Landlock (5.13) and, on x86-64 and 64-bit ARM, seccomp. On other
systems the last two points are enforced by Python's audit hook, which code outside Python, such as a library written in
C, can avoid. On Windows memory is not limited, either.

Not prevented are
* reading the project's own files: a secret in a file such as `.env` can be read;
* changing mode, owner or times of other files, by code outside Python: Landlock does not cover these;
* filling the disk with many files: only the size of each is limited;
* much of what started programs do, where they are allowed: each has the same limits for itself, a fork bomb runs until
  the call's time is over, and before Linux 6.12 they may signal other processes of the same user;
* holes in the kernel.
"""
