"""Files: opened only where they are regular, replaced as a whole, and private where nobody else may read them.

A case file may name any path, and any path may be a device, a named pipe or a file without an end. A folder `__fcall__`
beside case files is under version control; `.fcall` below the root folder, the folder of what runs keep, is private.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, Protocol

MOST_BYTES: Final = 64 * 2**20
"""The size of a file that people write: cases, tools, prompts, pictures, settings, locks."""
MOST_KEPT_BYTES: Final = 2**30
"""The size of a file that programs write and that is held in memory: recordings, baselines, runs."""
PRIVATE_FOLDER: Final = ".fcall"
"""The name of the folder of what runs keep, below the root folder."""
PRIVATE_MODE: Final = 0o600
"""The permissions of a private file."""

_PRIVATE_FOLDER_MODE: Final = 0o700
_SHARED_FOLDER: Final = "__fcall__"
_NEVER_ENTERED: Final = ("node_modules", "venv", "__pycache__")
_NAME_SHOWN: Final = 60
"""Characters of a file's name in that of its draft, which must not become too long."""
_ATTRIBUTES_TITLE: Final = (
    "# Written by pytest-fcall: lines of both branches are kept, and bookkeeping is not shown in diffs.\n"
)
_ATTRIBUTES: Final = """\
*.accepted merge=union
*.replies.jsonl merge=union
*.measured.jsonl merge=union -diff linguist-generated
*.recorded.jsonl merge=union -diff linguist-generated
"""

# Without these a named pipe waits for a writer, a terminal becomes that of the process, and Windows changes line ends.
_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class LineStream(Protocol):
    """The source of lines: a file, or its decompressor."""

    def readline(self, size: int, /) -> bytes:
        """Give the rest of the line, up to so many bytes."""


class UnfitFile(OSError):
    """Something else than a regular file, or one beyond the limit. `strerror` says so in words."""


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file. Raises OSError, and UnfitFile for anything else and for more than `most` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            content = file.read(size + 1)  # Python takes as much memory as it may have to read
            if len(content) > size:  # files of the system have content, and no size; others grow meanwhile
                content += file.read(most + 1 - len(content))
            if len(content) <= most:
                return content
    raise UnfitFile(errno.EFBIG, f"it is larger than {most // 2**20:,} MiB", str(path))


def open_regular(path: Path) -> BufferedReader:
    """A regular file of any size, for what reads it bit by bit. Raises OSError, and UnfitFile for anything else."""
    check_regular(path)  # before it is opened: merely to open some devices has an effect
    descriptor = os.open(path, _FLAGS)
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(path: Path) -> None:
    """Raise OSError for a file that is not there, and UnfitFile for what is no regular file."""
    _check_kind(path, path.stat().st_mode)


def bounded_lines(stream: LineStream, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The lines of a stream. Raises OSError, and UnfitFile for one of `most` bytes: what is compressed has any size."""
    for line in iter(partial(stream.readline, most), b""):
        if len(line) == most:
            raise UnfitFile(errno.EFBIG, f"a line is longer than {most // 2**20:,} MiB")
        yield line


def _check_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise UnfitFile(number, f"it is {kind}, not a regular file", str(path))


def shared_path(case_file: Path, model_folder: str, suffix: str) -> Path:
    """The file of a case file and a model that is under version control: `__fcall__/<model>/<case file><suffix>`."""
    return case_file.parent / _SHARED_FOLDER / model_folder / f"{case_file.name}{suffix}"


def case_file_of(path: Path, suffix: str) -> Path:
    """The case file of a file that `shared_path` names."""
    return path.parents[2] / path.name.removesuffix(suffix)


def path_from_root(path: Path, root: Path) -> str:
    """The path of a case file, or of what is kept of it, as runs, recordings and baselines name it, and pytest does.

    It has slashes, and begins with `..` where the file lies outside of the root folder. A relative path counts as one
    from there.
    """
    if not path.is_absolute():
        return path.as_posix()
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # another drive of Windows
        return path.as_posix()


def shared_folders(root: Path) -> Iterator[Path]:
    """The folders `__fcall__` of a project, in order."""
    return (folder for folder in project_folders(root) if folder.name == _SHARED_FOLDER)


def project_folders(root: Path) -> Iterator[Path]:
    """`root` and the folders below it, in order, but none below a folder `__fcall__`.

    Hidden folders and those of installed packages are left out.
    """
    for folder, folders, _ in os.walk(root):
        if Path(folder).name == _SHARED_FOLDER:
            folders.clear()
        folders[:] = sorted(name for name in folders if not (name.startswith(".") or name in _NEVER_ENTERED))
        yield Path(folder)


def replace_file(path: Path, portions: Iterable[bytes], mode: int = 0o666) -> None:
    """Write a file atomically: a reader finds the old content or the new. Raises OSError.

    A file that exists keeps its permissions, a new one has `mode`, as far as the umask allows. A folder `__fcall__` is
    made where it is missing, and no link leads out of it.
    """
    if refuse_link_out(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _draft(path, portions, mode) as draft:
        if path.exists():
            draft.chmod(path.stat().st_mode)
        draft.replace(path)


def create_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a new file atomically: it is there as a whole, or not at all. Raises OSError, such as FileExistsError."""
    with _draft(path, portions, 0o666) as draft:
        try:
            os.link(draft, path)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        except OSError:
            path.open("xb").close()  # the file system has no links; nobody else gets the name from here on
            draft.replace(path)


@contextmanager
def _draft(path: Path, portions: Iterable[bytes], mode: int) -> Iterator[Path]:
    """A file with this content beside `path`, which is removed unless it was moved."""
    draft = path.with_name(f".{path.name[:_NAME_SHOWN]}.{os.getpid()}")
    draft.unlink(missing_ok=True)  # of an earlier process with the same number that was killed
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.writelines(portions)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def refuse_link_out(path: Path) -> bool:
    """Whether a file is in a folder `__fcall__`. Raises OSError where a link leads out of what holds that folder.

    The author of the link would choose what is overwritten, and people get such folders with other people's projects.
    """
    own = next((folder for folder in path.parents if folder.name == _SHARED_FOLDER), None)
    if own is None:
        return False
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(own.parent)):
        message = f"a link in {own} leads elsewhere, and is not followed; put a folder there instead"
        raise OSError(errno.ELOOP, message, str(path))
    return True


def make_private_folder(folder: Path) -> None:
    """Create a folder that only this user can open; one that exists keeps its permissions. Raises OSError.

    `.fcall` is kept out of version control. It may be a link; a folder in it may not lead out of it.
    """
    if folder.parent.name == PRIVATE_FOLDER:
        make_private_folder(folder.parent)
        refuse_way_out(folder)
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER_MODE, parents=True, exist_ok=True)
    except FileExistsError:
        what = "a link that leads nowhere" if folder.is_symlink() else "a file where a folder should be"
        raise NotADirectoryError(errno.ENOTDIR, f"{folder.name} is {what}; move it away", str(folder)) from None
    if folder.name == PRIVATE_FOLDER:
        with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")


def place_elsewhere(root: Path) -> Path | None:
    """The target of `.fcall` if it is a link that leads out of the root folder; None otherwise."""
    place = Path(os.path.realpath(root / PRIVATE_FOLDER))
    return None if place.is_relative_to(os.path.realpath(root)) else place


def create_private(path: Path) -> None:
    """Create an empty file that only this user can read; one that exists keeps its permissions. Raises OSError.

    One that exists is not even opened: to close it would end all locks that this process has on it.
    """
    refuse_way_out(path)
    while True:
        try:
            os.close(os.open(os.path.realpath(path), os.O_RDONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))
        except FileExistsError:
            try:
                _check_readable(path)
            except FileNotFoundError:  # another process has moved it away meanwhile
                continue
        return


def _check_readable(path: Path) -> None:
    """Raise OSError, as to open the file would."""
    if stat.S_ISDIR(path.stat().st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path, os.R_OK):
        path.stat()  # raises FileNotFoundError where it is gone by now
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def open_private(path: Path) -> IO[bytes]:
    """Open a file that only this user can read, to write it anew. Raises OSError."""
    refuse_way_out(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_MODE), "wb")


def refuse_way_out(path: Path) -> None:
    """Raise OSError if a link leads out of the folder in which this file, or folder, seems to be."""
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent)):
        message = (
            f"{path.name} is a link to {path.readlink()}, and what is kept here must not be elsewhere; remove the link"
        )
        raise OSError(errno.ELOOP, message, str(path))


def write_git_attributes(folder: Path) -> None:
    """Write `.gitattributes` into a folder `__fcall__`; one that a person wrote there stays. Raises OSError."""
    path = folder / ".gitattributes"
    try:
        lines = read_regular(path).decode("utf-8", "replace").replace("\r\n", "\n").splitlines(keepends=True)
    except FileNotFoundError:
        lines = [_ATTRIBUTES_TITLE]
    if lines[:1] == [_ATTRIBUTES_TITLE] and "".join(lines) != _ATTRIBUTES_TITLE + _ATTRIBUTES:
        replace_file(path, [(_ATTRIBUTES_TITLE + _ATTRIBUTES).encode()])
