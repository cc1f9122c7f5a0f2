"""Where compiled kernels are kept, and whether anybody else may write there.

A compiled kernel is a pickle: whoever can write one runs code as whoever reads it. So a folder counts only if
nobody but its user and root can put a file into it or another folder into its place, and a file only if one
of them owns it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba

from lslmatch._jit.notice import warn_once

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH
#: As many links in a path as Linux follows.
_MOST_LINKS = 40
#: Windows has neither modes nor owners; who may write to a folder there, no part of Python tells.
_HAS_MODES = hasattr(os, "geteuid")


class UntrustedError(Exception):
    """Others may write to a place, or could have; the message names it and says why."""


def kernel_folder(file: str) -> str | None:
    """Give the folder for the kernels of a Python file; None, and a warning once, if there is none to trust.

    It is in the folder that ``NUMBA_CACHE_DIR`` names or, if there is none or it cannot be written, in the
    user's cache directory.
    """
    for base in (_named_folder, _users_folder):
        try:
            place = base()
            if place:
                return _prepared(os.path.join(place, _subfolder(file)))
        except UntrustedError as error:
            warn_once(
                "folder",
                f"compiled kernels are neither read nor kept, each process compiles its own: {error}. "
                "NUMBA_CACHE_DIR can name a folder that nobody else may write to",
            )
            return None
        except OSError:
            pass  # it cannot be made, or not be written
    return None


def _named_folder() -> str:
    return str(getattr(numba.config, "CACHE_DIR", "") or "")


def _users_folder() -> str:
    """Give the cache directory of the user, as the platform has it."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
        return os.path.join(local, "lslmatch", "Cache")
    if sys.platform == "darwin":
        place, named = os.path.expanduser("~/Library/Caches"), "HOME"
    elif "XDG_CACHE_HOME" in os.environ:
        place, named = os.environ["XDG_CACHE_HOME"], "XDG_CACHE_HOME"
    else:
        place, named = os.path.expanduser("~/.cache"), "HOME"
    if not os.path.isabs(place):
        # It would be another folder in each working directory, also in those of other people.
        raise UntrustedError(f"{named} is {os.environ.get(named, '')!r}, which is no absolute path")
    return os.path.join(place, "lslmatch")


def _subfolder(file: str) -> str:
    """Name the folder for the kernels of a file, as Numba does."""
    folder = os.path.dirname(os.path.abspath(file))
    return f"{os.path.basename(folder)}_{hashlib.sha1(folder.encode(), usedforsecurity=False).hexdigest()}"


def _prepared(place: str) -> str:
    """Check a folder and all on the way to it, and make those that are missing, for the user alone."""
    last = os.path.realpath(place)
    for here in _folders_to(place):
        if not os.path.isdir(here):
            with contextlib.suppress(FileExistsError):  # another process was quicker, or it is a file
                os.mkdir(here, 0o700)
            if not os.path.isdir(here):
                raise NotADirectoryError(errno.ENOTDIR, "is no folder", here)
        check(here, sticky=here != last)
    if not os.access(last, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "cannot be written", last)
    return last


def _folders_to(place: str) -> Iterator[str]:
    """Yield each folder on the way to one, also those that symbolic links lead through; itself last."""
    drive, rest = os.path.splitdrive(os.path.abspath(place))
    here, todo, links = drive + os.sep, rest.split(os.sep)[::-1], 0
    yield here
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, part)
        if os.path.islink(there):
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, "too many symbolic links", place)
            drive, rest = os.path.splitdrive(os.readlink(there))
            here = drive + os.sep if rest.startswith(os.sep) else here
            todo += rest.split(os.sep)[::-1]
            continue
        here = there
        yield here


def check(place: str, *, sticky: bool) -> None:
    """Raise :class:`UntrustedError` if others may write to a folder or a file, or own it.

    In a folder with the sticky bit, as ``/tmp`` is, they may make new files only: that is no harm to a folder
    in it whose owner is checked, too.
    """
    if not _HAS_MODES:
        return
    found = os.lstat(place)
    if found.st_uid not in (0, os.geteuid()):
        raise UntrustedError(f"{place} belongs to another user (number {found.st_uid})")
    writable = found.st_mode & _OTHERS_WRITE
    if not writable or (sticky and found.st_mode & stat.S_ISVTX):
        return
    if writable == stat.S_IWGRP and _is_own_group(found.st_gid, place):
        return
    raise UntrustedError(f"others may write to {place} (mode {stat.S_IMODE(found.st_mode):o})")


def _is_own_group(group: int, place: str) -> bool:
    """Tell whether a group has the user as its only member, as many Linux systems make one for each user.

    Group 0 never counts: containers run with it as people whom nobody knows. Nor does a place with
    a list of further people.
    """
    import grp
    import pwd

    if group == 0:
        return False
    try:
        entry, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
        lists = os.listxattr(place) if hasattr(os, "listxattr") else []
    except (KeyError, OSError):
        return False
    if "system.posix_acl_access" in lists or set(entry.gr_mem) - {user.pw_name}:
        return False
    return user.pw_gid == group and user.pw_name == entry.gr_name


def are_own_files(folder: str, start: str) -> bool:
    """Tell whether nobody else can have written the files of a folder whose names begin so; warn once if not.

    In a folder that only its user can enter the modes of files do not matter.
    """
    if not _HAS_MODES:
        return True
    try:
        found = os.lstat(folder)
        closed = found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_ENTER
        for name in os.listdir(folder):
            if name.startswith(start):
                _check_file(os.path.join(folder, name), closed)
    except UntrustedError as error:
        warn_once("folder", f"compiled kernels are neither read nor kept: {error}. The folder can be deleted")
        return False
    except OSError:
        return False
    return True


def _check_file(path: str, closed: bool) -> None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return  # a temporary file of another process
    if not stat.S_ISREG(found.st_mode):
        raise UntrustedError(f"{path} is no ordinary file")
    if closed and found.st_uid in (0, os.geteuid()):
        return
    check(path, sticky=False)


def close_files(folder: str, start: str) -> None:
    """Let nobody else write to the files of a folder whose names begin so, whatever the process's mask is."""
    if not _HAS_MODES:
        return
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(start) and os.lstat(path).st_mode & _OTHERS_WRITE:
            os.chmod(path, 0o600)


# ------------------------------------------------------------------------------ what makes kernels stale


def file_start(function: Callable[..., Any]) -> str:
    """Give what the names of the files begin with that a kernel is kept in."""
    module = Path(function.__code__.co_filename).stem
    name = f"{module}.{function.__qualname__}".replace("<", "").replace(">", "")
    flags = getattr(sys, "abiflags", "")
    line = function.__code__.co_firstlineno
    return f"{name}-{line}.py{sys.version_info[0]}{sys.version_info[1]}{flags}"


def source_stamp(file: str) -> tuple[str, str]:
    """Condense all source code that may be compiled into a kernel: any of the library or of its own package.

    Numba takes a kernel for fresh as long as its own file is unchanged, though code from others is in it.
    """
    return _digest(Path(__file__).parents[1]), _digest(_outermost_package(Path(file)))


@cache
def _digest(place: Path) -> str:
    """Condense a Python file, or all of a folder: another text, another digest."""
    digest = hashlib.sha256()
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _outermost_package(place: Path) -> Path:
    """Return the folder of the outermost package that a file belongs to, or the file if there is none."""
    while (place.parent / "__init__.py").is_file():
        place = place.parent
    return place
