"""Functions of the project, called in a process of their own.

`limits` specifies the environment and its limits; `tool_process` starts the process and calls; `child` runs inside, and
enters `sandbox` first, which has its parts from `kernel_sandbox`, `call_filter` and `watcher`.

A model chooses names and arguments of the calls. What holds of them, who sees to it, and what does not hold is told to
users in `docs/explanation/safe-execution.md`.
"""
