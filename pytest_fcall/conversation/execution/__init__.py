"""Called functions, run in a process of their own: what the arguments make them do ends there.

`limits` says what is called and how far it may go; `worker` starts the process and calls. What runs inside (`child`)
imports as little as it can, since every conversation with an environment waits for it.

The functions are those of the project, and a model chooses names and arguments. So it must hold that a call
* ends in time, and with it all that it started; the process ends, too, should the parent be killed;
* gives a bounded result, whatever it returns, raises, prints or does to its process;
* sees none of the parent's environment variables but those that say how a system is set up, and no open file of it;
* takes bounded memory;
* writes only in a folder of its own, reads only Python's files, the system's and the project's, and neither reaches
  the network, nor starts programs, nor signals other processes.

On Linux the kernel sees to all this: resource limits, Landlock (5.13) and, on x86-64 and 64-bit ARM, seccomp. On other
systems the last point is Python's own (an audit hook), which code that goes around Python, such as a library written
in C, need not heed; on Windows there are no limits on memory, either.

It does not hold off
* reading the project's own files: a secret that lies there, in `.env` perhaps, can be read;
* changing the mode, owner or times of files outside, for code that goes around Python: Landlock leaves these out;
* filling the disk with many files: only the size of each is bounded;
* much of what started programs do, where that is allowed: each has the same limits for itself, a bomb of them goes on
  until the call's time is over, and before Linux 6.12 they may signal other processes of the same user;
* a hole in the kernel.
"""
