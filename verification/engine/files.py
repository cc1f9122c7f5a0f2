"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    write_together({path: content})


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write files whole, and all of them or, if there is no room for one, none; the error names it."""
    unfinished = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in contents}
    try:
        for path, content in contents.items():
            with naming(path):
                unfinished[path].write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        for path in contents:
            os.replace(unfinished[path], path)
    finally:
        for rest in unfinished.values():
            rest.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an error the name of the file, which a full disk does not tell."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
