"""Compiled kernels are read and kept only where nobody else can have written them."""

import os
import pickle
from types import SimpleNamespace

import numba
import pytest

from lslmatch import _jit
from lslmatch._jit import folders, notice
from tests.support.reference import SMALL

pytestmark = [
    pytest.mark.skipif(SMALL, reason="plain Python has no cache"),
    pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes here"),
]

#: A user, or a group, that nobody here is.
STRANGER = 54321


@pytest.fixture(autouse=True)
def silence(monkeypatch):
    """Nothing has been warned of yet."""
    monkeypatch.setattr(notice, "_said", set())


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of its own for the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o755)
    return tmp_path / "cache"


def double(value):
    return 2 * value


def found():
    """Whether the kernel, taken up as a new process would, is found; it works in any case."""
    kernel = _jit.kernel(double)
    try:
        assert kernel(21) == 42
        return sum(kernel.stats.cache_hits.values()) == 1
    finally:
        _jit.KERNELS.remove(kernel)


def give_away(path, monkeypatch):
    """Make a place another user's."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, -1)
    else:  # or make this process another user's
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


class _Mark:
    """When it is unpickled, a folder appears."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.makedirs, (str(self.path),)


def plant(cache):
    """Write what marks that it was run into the place of a kernel; return the mark."""
    assert not found()
    assert found()
    (index,) = cache.rglob("*.nbi")
    index.write_bytes(pickle.dumps(_Mark(cache / "run")))
    return cache / "run", index


def test_what_is_planted_is_run_where_all_is_the_own_user_s(cache):
    mark, _ = plant(cache)
    assert not found()
    assert mark.exists()  # so that the tests below would notice


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o707, 0o770])
@pytest.mark.parametrize("place", ["folder", "named", "parent"])
def test_nothing_is_run_from_a_folder_that_others_may_write_to(cache, place, mode, monkeypatch):
    monkeypatch.setattr(folders, "_is_own_group", lambda group, place: False)
    mark, index = plant(cache)
    folder = {"folder": index.parent, "named": cache, "parent": cache.parent}[place]
    folder.chmod(mode)
    # Nobody can replace a folder of the user's in one that has the sticky bit.
    is_safe = mode == 0o1777 and place != "folder"
    if is_safe:
        assert not found()
    else:
        with pytest.warns(RuntimeWarning, match=f"others may write to {folder} .mode {mode:o}") as told:
            assert not found()
        assert "NUMBA_CACHE_DIR can name a folder" in str(told[0].message)
        assert not found()  # and now without a warning
    assert mark.exists() == is_safe
    assert index.stat().st_uid == os.geteuid()


@pytest.mark.parametrize("place", ["folder", "named", "parent", "index"])
def test_nothing_is_run_that_belongs_to_another_user(cache, place, monkeypatch):
    mark, index = plant(cache)
    owned = {"folder": index.parent, "named": cache, "parent": cache.parent, "index": index}[place]
    give_away(owned, monkeypatch)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert not found()
    assert not mark.exists()


def test_data_of_another_user_are_not_read(cache, monkeypatch):
    assert not found()
    (data,) = cache.rglob("*.nbc")
    data.write_bytes(pickle.dumps(_Mark(cache / "run")))
    give_away(data, monkeypatch)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert not found()
    assert not (cache / "run").exists()


def test_a_file_that_others_may_write_is_not_read_where_they_may_enter(cache):
    mark, index = plant(cache)
    index.chmod(0o666)
    index.parent.chmod(0o755)
    with pytest.warns(RuntimeWarning, match=f"others may write to {index}"):
        assert not found()
    assert not mark.exists()
    index.parent.chmod(0o700)  # now nobody can reach it, but who could before?
    assert not found()
    assert mark.exists()


def test_a_link_in_the_place_of_a_file_is_not_followed(cache):
    mark, index = plant(cache)
    index.rename(cache / "elsewhere")
    index.symlink_to(cache / "elsewhere")
    with pytest.warns(RuntimeWarning, match="is no ordinary file"):
        assert not found()
    assert not mark.exists()


def test_a_link_leads_to_nothing_that_others_may_write_to(cache, monkeypatch):
    mark, _ = plant(cache)
    shared = cache.parent / "shared"
    shared.mkdir(mode=0o700)
    # Two links, the second of which anybody could replace.
    (shared / "second").symlink_to(cache)
    (cache.parent / "first").symlink_to("shared/second")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(cache.parent / "first"))
    shared.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=f"others may write to {shared}"):
        assert not found()
    assert not mark.exists()
    shared.chmod(0o755)
    assert not found()
    assert mark.exists()


def test_links_in_a_circle_are_no_folder(cache, monkeypatch):
    (cache / "a").symlink_to("b")
    (cache / "b").symlink_to("a")
    with pytest.raises(OSError, match="too many symbolic links"):
        folders._prepared(str(cache / "a" / "inner"))


def test_nothing_is_made_in_a_folder_that_others_may_write_to(cache):
    cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert not found()
    assert list(cache.iterdir()) == []


def test_another_process_may_make_the_folder_first(cache, monkeypatch):
    make = os.mkdir

    def make_twice(path, mode):
        make(path, mode)
        make(path, mode)

    monkeypatch.setattr(os, "mkdir", make_twice)
    assert not found()
    assert found()
    assert list(cache.rglob("*.nbi"))


def test_a_file_in_the_place_of_a_folder_is_none(cache):
    (cache / "file").touch()
    with pytest.raises(NotADirectoryError):
        folders._prepared(str(cache / "file"))


@pytest.mark.parametrize("named", ["", "somewhere", "./x"])
def test_a_cache_home_that_is_no_absolute_path_is_refused(named, tmp_path, monkeypatch):
    monkeypatch.setattr(folders.sys, "platform", "linux")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.chdir(tmp_path)
    with pytest.warns(RuntimeWarning, match=f"XDG_CACHE_HOME is '{named}', which is no absolute path"):
        assert not found()
    assert not found()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022])
def test_what_is_kept_is_the_user_s_whatever_the_mask(cache, mask, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(cache / "new" / "newer"))
    before = os.umask(mask)
    try:
        assert not found()
        assert found()
    finally:
        os.umask(before)
    made = list((cache / "new").rglob("*"))
    assert len(made) == 4  # two folders, an index and the data
    assert not any(path.stat().st_mode & 0o022 for path in made)
    assert all(path.stat().st_mode & 0o077 == 0 for path in made if path.is_dir())


@pytest.mark.parametrize(
    ("name", "members", "trusted"),
    [("alice", [], True), ("alice", ["alice"], True), ("alice", ["bob"], False), ("staff", [], False)],
)
def test_the_own_group_of_a_user_is_nobody_else(name, members, trusted, cache, monkeypatch):
    import grp
    import pwd

    if os.geteuid() == 0:
        os.chown(cache, -1, STRANGER)
    group = cache.stat().st_gid
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name=name, gr_mem=members))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="alice", pw_gid=group))
    cache.chmod(0o775)
    if trusted:
        folders.check(str(cache), sticky=False)
        monkeypatch.setattr(os, "listxattr", lambda _: ["system.posix_acl_access"], raising=False)
    with pytest.raises(folders.UntrustedError):
        folders.check(str(cache), sticky=False)


def test_warnings_that_are_errors_stop_one_call_only(cache):
    cache.chmod(0o777)
    kernel = _jit.kernel(double)
    # (As errors they are here, in the tests.)
    with pytest.raises(RuntimeWarning, match="others may write"):
        kernel(21)
    assert kernel(21) == 42
    assert kernel.signatures
    _jit.KERNELS.remove(kernel)


def test_what_is_refused_does_not_count_as_kept(cache):
    kernel = _jit.kernel(double)
    assert not _jit.is_kept(kernel)
    assert kernel(21) == 42
    assert _jit.is_kept(kernel)
    cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert not _jit.is_kept(kernel)
    _jit.KERNELS.remove(kernel)
