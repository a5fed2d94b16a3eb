"""Files by address: on this machine, or in object storage through the file systems of pyarrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, Final, Self

from pytest_fcall.core.commands import install_command
from pytest_fcall.core.files import make_private_folder
from pytest_fcall.core.parquet import ParquetError

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_BUFFER: Final = 1 << 20
_DRAFT: Final = ".draft-"


_PASSWORD: Final = re.compile(r"(?<=://).*:.*@", re.DOTALL)
"""The user of an address and a password, in which people may have left any character as it is."""
_GONE: Final = "NO_SUCH_KEY|RESOURCE_NOT_FOUND during GetObject"
_REMEDIES: Final = (
    (
        r"NO_SUCH_BUCKET|Bucket '.*' not found|CreateBucket",
        "there is no such bucket: create it, or correct the address",
    ),
    (
        r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_CLIENT_TOKEN_ID|HTTP status 40[13]|"
        r"UNAUTHENTICATED|PERMISSION_DENIED",
        "access is refused: check the credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and whether "
        "they may do this",
    ),
    (
        r"PERMANENT_REDIRECT|AUTHORIZATION_HEADER_MALFORMED|HTTP status 301",
        "the bucket is in another region: name it in the address, ?region=…",
    ),
    (
        r"NETWORK_CONNECTION|REQUEST_TIMEOUT|curlCode|[Cc]ould ?n.t (connect|resolve)",
        "no server answers: check the network, and endpoint_override in the address or AWS_ENDPOINT_URL",
    ),
)
"""The meaning of errors of storages, and the remedy."""


class StorageError(OSError):
    """A file by its address cannot be read or written. The text says why, and what to do."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__(title, text)
        self.filename = title
        self.strerror = text

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.filename, str(self.strerror))


class MissingObject(StorageError, FileNotFoundError):
    """Nothing has this address."""


def title_of(name: str) -> str:
    """An address as people may see it: without credentials, and without what comes after `?`; a path as it is."""
    return _PASSWORD.sub("…@", name).partition("?")[0] if is_address(name) else name


def folder_and_name(name: str) -> tuple[str, str]:
    """The folder of a file, by the path or the address of the file, and its name."""
    bare, mark, query = name.partition("?") if is_address(name) else (name, "", "")
    folder, slash, file = bare.rpartition("/")
    return f"{folder or slash or '.'}{mark}{query}", file


def address_in(folder: str, file: str) -> str:
    """The address of a file in a folder with this address."""
    bare, mark, query = folder.partition("?")
    return f"{bare.rstrip('/')}/{file}{mark}{query}"


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
        text = _first_line(error).replace(address, title_of(address))
        raise StorageError(title_of(address), f"this address cannot be used: {text}") from None
    return found


def _file_systems() -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise ParquetError(f"addresses need pyarrow: {install_command('parquet')}") from None
    return fs


def open_address(address: str) -> BufferedReader:
    """A file in object storage, to be read from its beginning or at any place. Raises StorageError, later as well."""
    system, path = file_system_of(address)
    with storage_errors(address):
        return BufferedReader(_StoredFile(address, system.open_input_file(path)), _BUFFER)


class _StoredFile(RawIOBase):
    """A file of a storage, whose errors are told whenever they come: it may vanish while it is read."""

    def __init__(self, address: str, file: Any) -> None:
        self._address = address
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with storage_errors(self._address):
            return int(self._file.readinto(buffer))

    def seek(self, offset: int, whence: int = 0) -> int:
        with storage_errors(self._address):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def storage_errors(address: str) -> Iterator[None]:
    """Errors of a storage as StorageError, with one line of text; those of paths stay as they are."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        is_plain = isinstance(error, OSError) and bool(error.strerror)
        if (is_plain and not is_address(address)) or not (isinstance(error, OSError) or _is_of_arrow(error)):
            raise
        if isinstance(error, FileNotFoundError) or re.search(_GONE, str(error)):
            raise MissingObject(title_of(address), "there is no such file") from None
        raise StorageError(title_of(address), _reason(error)) from None


def _is_of_arrow(error: Exception) -> bool:
    """Whether an error is of the library itself: storages of Google say much in this way."""
    from pyarrow import ArrowException

    return isinstance(error, ArrowException)


def _reason(error: Exception) -> str:
    """The meaning of an error of a storage and the remedy, where they are known; else the first line of the error."""
    text = str(error)
    known = next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, text)), None)
    return known or _first_line(error)


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

    @property
    def title(self) -> str:
        """The folder as people may see it."""
        return title_of(self.address)

    def make(self) -> None:
        """Make the folder where it is missing; on this machine others may not look into it."""
        if self.is_local:
            make_private_folder(Path(self._path))
        else:
            with self._errors():
                self.file_system.create_dir(self._path, recursive=True)

    def path(self, name: str) -> str:
        """The path of a file in the file system."""
        return f"{self._path.rstrip('/')}/{name}"

    def names(self) -> list[str]:
        """The names of the files, in order."""
        from pyarrow import fs

        with self._errors():
            infos = self.file_system.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return sorted(info.base_name for info in infos if info.is_file and not info.base_name.startswith(_DRAFT))

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        with self._errors(name):
            return bool(self.file_system.get_file_info(self.path(name)).is_file)

    def open(self, name: str) -> Any:
        """A file, to be read."""
        with self._errors(name):
            return self.file_system.open_input_file(self.path(name))

    def write(self, name: str, data: bytes) -> None:
        """Write a file at once."""
        if self.is_on_disk:
            with self.writer(name) as stream:
                stream.write(data)
        else:  # an object is whole, or not there
            with self._errors(name), self.file_system.open_output_stream(self.path(name)) as stream:
                stream.write(data)

    @contextmanager
    def writer(self, name: str) -> Iterator[Any]:
        """A file to be written bit by bit: it is there as a whole, or not at all."""
        draft = self.path(f"{_DRAFT}{name}")
        with self._errors(name):
            try:
                with self.file_system.open_output_stream(draft) as stream:
                    yield stream
                self.file_system.move(draft, self.path(name))
            except BaseException:
                with suppress(OSError):
                    self.file_system.delete_file(draft)
                raise

    def put(self, path: Path, name: str) -> None:
        """Copy a file of this machine into the folder."""
        with path.open("rb") as file, self.writer(name) as stream:
            while portion := file.read(_BUFFER):
                stream.write(portion)

    @property
    def is_on_disk(self) -> bool:
        """Whether it is a folder of this machine, whatever its address."""
        return bool(self.file_system.type_name == "local")

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError), self._errors(name):
            self.file_system.delete_file(self.path(name))

    def _errors(self, name: str = "") -> AbstractContextManager[None]:
        """Errors of a file, or of the folder itself."""
        return storage_errors(f"{self.title.rstrip('/')}/{name}" if name and not self.is_local else self.address)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
