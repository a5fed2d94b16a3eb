"""Files by address: on this machine, or in object storage through the file systems of pyarrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Self

from pytest_fcall.core.extras import install_command
from pytest_fcall.core.parquet import ParquetError
from pytest_fcall.core.private_files import make_private_folder

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_BUFFER: Final = 1 << 20
_DRAFT: Final = ".draft-"


class StorageError(OSError):
    """An address leads nowhere. The text says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.strerror = text


def is_address(name: str) -> bool:
    """Whether a name is an address, such as `s3://bucket/name`, and no path."""
    return _ADDRESS.match(name) is not None


def file_system_of(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it. Raises StorageError."""
    fs = _file_systems()
    from pyarrow import ArrowException

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(address)
    except (ArrowException, OSError, ValueError) as error:
        raise StorageError(f"this address cannot be used: {_first_line(error)}") from None
    return found


def _file_systems() -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise ParquetError(f"addresses need pyarrow: {install_command('parquet')}") from None
    return fs


def open_address(address: str) -> BufferedReader:
    """A file in object storage, to be read from its beginning or at any place. Raises StorageError."""
    system, path = file_system_of(address)
    with storage_errors():
        return BufferedReader(system.open_input_file(path), _BUFFER)


@contextmanager
def storage_errors() -> Iterator[None]:
    """Errors of a storage as StorageError, with one line of text."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if error.strerror:
            raise
        raise StorageError(_first_line(error)) from None


class Folder:
    """A folder by its path or its address, in which each file is written as a whole."""

    def __init__(self, address: str) -> None:
        """Raises StorageError where the address leads nowhere."""
        self.address = address
        self.is_local = not is_address(address)
        if self.is_local:
            self.file_system, self._path = _file_systems().LocalFileSystem(), str(Path(address).absolute())
        else:
            self.file_system, self._path = file_system_of(address)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.address,)

    def make(self) -> None:
        """Make the folder where it is missing; on this machine others may not look into it."""
        if self.is_local:
            make_private_folder(Path(self._path))
        else:
            with storage_errors():
                self.file_system.create_dir(self._path, recursive=True)

    def path(self, name: str) -> str:
        """The path of a file in the file system."""
        return f"{self._path.rstrip('/')}/{name}"

    def names(self) -> list[str]:
        """The names of the files, in order."""
        from pyarrow import fs

        with storage_errors():
            infos = self.file_system.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return sorted(info.base_name for info in infos if info.is_file and not info.base_name.startswith(_DRAFT))

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        with storage_errors():
            return bool(self.file_system.get_file_info(self.path(name)).is_file)

    def open(self, name: str) -> Any:
        """A file, to be read."""
        with storage_errors():
            return self.file_system.open_input_file(self.path(name))

    def write(self, name: str, data: bytes) -> None:
        """Write a file at once."""
        if self.is_on_disk:
            with self.writer(name) as stream:
                stream.write(data)
        else:  # an object is whole, or not there
            with storage_errors(), self.file_system.open_output_stream(self.path(name)) as stream:
                stream.write(data)

    @contextmanager
    def writer(self, name: str) -> Iterator[Any]:
        """A file to be written bit by bit: it is there as a whole, or not at all."""
        draft = self.path(f"{_DRAFT}{name}")
        with storage_errors():
            try:
                with self.file_system.open_output_stream(draft) as stream:
                    yield stream
                self.file_system.move(draft, self.path(name))
            except BaseException:
                with suppress(OSError):
                    self.file_system.delete_file(draft)
                raise

    @property
    def is_on_disk(self) -> bool:
        """Whether it is a folder of this machine, whatever its address."""
        return bool(self.file_system.type_name == "local")

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError), storage_errors():
            self.file_system.delete_file(self.path(name))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
