"""The files that people have: each is read as the same points, or refused with what to do."""

import contextlib
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from lslmatch.cli import main as command_line
from lslmatch.io import arrays, columnar, points, sources, text
from lslmatch.io import choice as choice_module
from lslmatch.io.arrow_sizes import unpacked_sizes
from lslmatch.io.choice import Choice
from lslmatch.io.points import read_points
from lslmatch.io.sources import FileError
from tests.support.command_line import assert_refused, table

NAMES = ["height", "weight", "age"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.normal(size=(12, 3)) + [1.5, 70.5, 40.5], columns=NAMES)


def labelled(frame):
    return frame.set_axis([f"p{k}" for k in range(len(frame))])


#: What people do to save a frame: the suffix of the file, how it is written, and whether its names are kept.
WAYS = {
    "comma": (".csv", lambda f, p: f.to_csv(p, index=False), True),
    "tab": (".tsv", lambda f, p: f.to_csv(p, index=False, sep="\t"), True),
    "semicolon, decimal comma": (".csv", lambda f, p: f.to_csv(p, index=False, sep=";", decimal=","), True),
    "tab, decimal comma": (".txt", lambda f, p: f.to_csv(p, index=False, sep="\t", decimal=","), True),
    "quoted": (".csv", lambda f, p: f.to_csv(p, index=False, quoting=1), True),
    "blanks": (".txt", lambda f, p: np.savetxt(p, f.to_numpy(), fmt="%.17g"), False),
    "blanks after a comment": (
        ".txt",
        lambda f, p: np.savetxt(p, f.to_numpy(), fmt="%.17g", header="height weight age"),
        True,
    ),
    "a comment that is no header": (
        ".txt",
        lambda f, p: np.savetxt(p, f.to_numpy(), fmt="%.17g", header="written by a program, today"),
        False,
    ),
    "delimiter at the end": (
        ".csv",
        lambda f, p: p.write_text("".join(f"{','.join(map(repr, r))},\n" for r in [*f.to_numpy().tolist()])),
        False,
    ),
    "gzip": (".csv.gz", lambda f, p: f.to_csv(p, index=False), True),
    "array": (".npy", lambda f, p: np.save(p, f.to_numpy()), False),
    "array in gzip": (".npy.gz", lambda f, p: p.write_bytes(gzip.compress(npy(f.to_numpy()))), False),
    "structured array": (".npy", lambda f, p: np.save(p, f.to_records(index=False)), True),
    "npz": (".npz", lambda f, p: np.savez(p, f.to_numpy()), False),
    "npz, compressed": (".npz", lambda f, p: np.savez_compressed(p, points=f.to_numpy()), False),
    "sparse": (".npz", lambda f, p: scipy.sparse.save_npz(p, scipy.sparse.csr_array(f.to_numpy())), False),
    "parquet": (".parquet", lambda f, p: f.to_parquet(p), True),
    "feather": (".feather", lambda f, p: f.to_feather(p), True),
    "numbered columns": (
        ".csv",
        lambda f, p: pd.DataFrame(f.to_numpy()).to_csv(p, index=False),
        False,
    ),
}


def npy(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def npz(values):
    stream = io.BytesIO()
    np.savez(stream, values)
    return stream.getvalue()


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


@pytest.mark.parametrize("way", WAYS)
def test_a_file_holds_the_points_that_were_saved(way, frame, tmp_path, request):
    suffix, save, has_names = WAYS[way]
    if way in ("parquet", "feather"):
        request.getfixturevalue("arrow")
    path = tmp_path / f"x{suffix}"
    save(frame, path)
    found = read_points(path)
    np.testing.assert_array_equal(found.values, frame.to_numpy())
    assert found.columns == (tuple(NAMES) if has_names else None)
    assert found.labels is None


LABELLED = {
    "index": (".csv", lambda f, p: f.to_csv(p)),
    "index, tab": (".tsv", lambda f, p: f.to_csv(p, sep="\t")),
    "rows of R": (".csv", lambda f, p: f.to_csv(p, index_label=False)),
    "index of numbers": (".csv", lambda f, p: f.to_csv(p)),
    "parquet": (".parquet", lambda f, p: f.to_parquet(p)),
}


@pytest.mark.parametrize("way", LABELLED)
def test_an_index_that_was_written_names_the_rows(way, frame, tmp_path, request):
    suffix, save = LABELLED[way]
    if way == "parquet":
        request.getfixturevalue("arrow")
    frame = frame if way == "index of numbers" else labelled(frame)
    path = tmp_path / f"x{suffix}"
    save(frame, path)
    found = read_points(path)
    np.testing.assert_array_equal(found.values, frame.to_numpy())
    assert found.columns == tuple(NAMES)
    assert found.labels.tolist() == [str(label) for label in frame.index]
    assert any("taken for the rows' names" in note for note in found.notes) or way == "parquet"


def test_rows_with_names_need_no_header(frame, tmp_path):
    labelled(frame).to_csv(tmp_path / "x.csv", header=False)
    found = read_points(tmp_path / "x.csv")
    np.testing.assert_array_equal(found.values, frame.to_numpy())
    assert found.labels.tolist() == [f"p{k}" for k in range(12)]


def test_a_first_row_of_whole_numbers_is_a_point(tmp_path):
    (tmp_path / "x.csv").write_text("0,1,2\n5,6,7\n")
    assert read_points(tmp_path / "x.csv").values.tolist() == [[0, 1, 2], [5, 6, 7]]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_columns_are_chosen_and_one_names_the_rows(suffix, frame, tmp_path, request):
    path = tmp_path / f"x{suffix}"
    with_id = frame.assign(sample=[f"s{k}" for k in range(12)])
    if suffix == ".csv":
        with_id.to_csv(path, index=False)
    elif suffix == ".parquet":
        request.getfixturevalue("arrow")
        with_id.to_parquet(path)
    else:
        np.save(path, frame.to_numpy())
    names = ("2", "0") if suffix == ".npy" else ("age", "height")
    found = read_points(path, Choice(names, None if suffix == ".npy" else "sample"))
    np.testing.assert_array_equal(found.values, frame[["age", "height"]].to_numpy())
    if suffix != ".npy":
        assert found.columns == ("age", "height")
        assert found.labels.tolist() == with_id["sample"].tolist()


REFUSED = [
    ("x.csv", "a,b\n1,2\n3,4\n", Choice(("a", "c")), "has no column 'c'; its columns are 'a', 'b'"),
    ("x.csv", "height,b\n1,2\n", Choice(("hieght",)), "did you mean 'height'?"),
    ("x.csv", "1,2\n3,4\n", Choice(("a",)), "'a' must be a number from 0 to 1"),
    ("x.csv", "a,s\n1,u\n2,v\n", Choice(), "column 's' holds text, such as 'u' in line 2: choose columns"),
    ("x.csv", "s,a\nu,1\nu,2\n", Choice(), "column 's' holds text, such as 'u', and not a different one"),
    ("x.csv", "a,b\n1,2\n3,x\n5,6\n", Choice(), "line 3: 'x' is not a number (column 'b')"),
    ("x.csv", "a;b\n1,5;2.5\n", Choice(), "line 2: decimal commas and decimal points in one file"),
    ("x.csv", "a,b\n1,NA\n3,\n5,6\n", Choice(), "2 values missing, in 2 of 3 rows: 2 in column 'b' (first"),
    ("x.csv", 'a,b\n"1,000",2\n"2,000",3\n', Choice(), "column 'a' holds text, such as '1,000'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "choice", "because"), REFUSED)
def test_what_cannot_be_read_is_named_with_what_to_do(name, content, choice, because, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError) as caught:
        read_points(tmp_path / name, choice)
    assert because in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


def test_one_of_several_arrays_must_be_chosen(frame, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, first=frame.to_numpy(), second=np.eye(3))
    with pytest.raises(FileError, match="several arrays; choose one of first, second with --array"):
        read_points(path)
    with pytest.raises(FileError, match="has no array 'third'"):
        read_points(path, Choice(array="third"))
    np.testing.assert_array_equal(read_points(path, Choice(array="second")).values, np.eye(3))


def test_text_in_a_frame_is_named(frame, arrow, tmp_path):
    frame.assign(sex=["m", "f"] * 6).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(FileError, match=r"columns are not: 'sex' \(text\); choose columns with --columns"):
        read_points(tmp_path / "x.parquet")


# What is not safe.


def test_a_gzip_bomb_is_refused_while_it_unpacks(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 1 << 16)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 20_000))
    with pytest.raises(FileError, match="holds more than 64 kB when unpacked"):
        read_points(tmp_path / "x.csv.gz")


def test_a_zip_bomb_is_refused_before_it_unpacks(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MOST_BYTES", 1 << 16)
    np.savez_compressed(tmp_path / "x.npz", np.zeros((10_000, 2)))
    with pytest.raises(FileError, match="unpacks to 156 kB, more than 64 kB"):
        read_points(tmp_path / "x.npz")


def zipped(values):
    stream = io.BytesIO()
    np.savez_compressed(stream, values)
    return stream.getvalue()


#: The name of a file, what is in it, and why it is refused: limits of 64 kB, 1,000 lines, 30,000 characters.
BOMBS = {
    "small integers in an archive": (
        "x.npz",
        lambda: zipped(np.zeros((9000, 2), np.int8)),
        "unpacks to 141 kB",
    ),
    "small integers in gzip": ("x.npy.gz", lambda: npy(np.zeros((9000, 2), np.int8)), "unpacks to 141 kB"),
    "bits of a structure": (
        "x.npz",
        lambda: zipped(np.zeros(9000, "?, ?")),
        "unpacks to 141 kB, more than 64",
    ),
    "short lines": ("x.csv.gz", lambda: b"1\n" * 1001, "holds more than 1,000 lines when unpacked"),
    "blank lines": ("x.csv.gz", lambda: b"1\r2\r" + b"\r" * 1001, "holds more than 1,000 lines"),
    "many numbers": ("x.csv.gz", lambda: (b"1," * 20 + b"1\n") * 900, "takes 148 kB in memory, more than 64"),
    "many numbers in a pipe": ("pipe", lambda: (b"1," * 20 + b"1\n") * 900, "takes 148 kB in memory"),
    "short lines in a pipe": ("pipe", lambda: b"1\n" * 1001, "holds more than 1,000 lines"),
    "one row": ("x.csv.gz", lambda: b"1," * 20_000, "line 1: a row of more than 30,000 characters"),
    "one row on a disk": ("x.csv", lambda: b"1 " * 20_000, "a row of more than 30,000"),
    "one row of many lines": ("x.csv", lambda: b"1,2\n" + b'"\n",' * 9000, "a row of more than 30,000"),
    "names of rows": (
        "x.csv.gz",
        lambda: (b"a" * 60 + b",1\n") * 900,
        "names of the rows take more than 64 kB",
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_unpacks_to_too_many_numbers_lines_or_characters_is_refused(bomb, tmp_path, monkeypatch):
    name, content, because = BOMBS[bomb]
    for module in (sources, arrays, text):
        monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    for module in (sources, text):
        monkeypatch.setattr(module, "MOST_LINES", 1000)
    monkeypatch.setattr(text, "MOST_CHARACTERS", 30_000)
    path = tmp_path / name
    path.write_bytes(gzip.compress(content()) if name.endswith(".gz") else content())
    choice = Choice(id="0") if bomb == "names of rows" else None
    with contextlib.ExitStack() as stack:
        if name == "pipe":
            stream = stack.enter_context(open(path, "rb"))
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
            path = Path("-")
        with pytest.raises(FileError, match=because):
            read_points(path, choice)


def test_lines_are_counted_before_any_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_LINES", 1000)
    monkeypatch.setattr(points, "read_text", lambda *arguments: pytest.fail("was parsed"))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"1\n" * 1001))
    with pytest.raises(FileError, match="more than 1,000 lines"):
        read_points(tmp_path / "x.csv.gz")


def test_limits_of_what_is_packed_do_not_bind_what_is_plain(tmp_path, monkeypatch):
    for module in (sources, arrays, text):
        monkeypatch.setattr(module, "MOST_BYTES", 1 << 12)
    for module in (sources, text):
        monkeypatch.setattr(module, "MOST_LINES", 1000)
    (tmp_path / "x.csv").write_bytes(b"1,2\n" * 2000)
    np.save(tmp_path / "x.npy", np.zeros((2000, 2), np.int8))
    assert read_points(tmp_path / "x.csv").values.shape == (2000, 2)
    assert read_points(tmp_path / "x.npy").values.shape == (2000, 2)


def test_one_long_name_does_not_widen_the_others(tmp_path):
    (tmp_path / "x.csv").write_text("a" * 100_000 + ",5\n" + "".join(f"b{k},1\n" for k in range(500)))
    found = read_points(tmp_path / "x.csv")
    assert found.labels.nbytes < 10_000
    assert [len(label) for label in found.labels[:2]] == [100_000, 2]


def test_a_name_that_is_missing_is_sought_among_few(tmp_path, monkeypatch):
    sought = []
    monkeypatch.setattr(choice_module.difflib, "get_close_matches", lambda *a: sought.append(a) or [])
    names = [f"c{k}" for k in range(2000)] + ["d" * 500]
    (tmp_path / "x.csv").write_text(",".join(names) + "\n" + ",".join("1" * 2001) + "\n")
    with pytest.raises(FileError, match="has no column"):
        read_points(tmp_path / "x.csv", Choice(("e" * 5000,)))
    ((word, among, _),) = sought
    assert len(word) <= 100
    assert len(among) <= 1000


# Text in files of columns, which repeats in memory what is stored once.


def repeated_text(arrow, path, kind="plain"):
    """Write a file of one long text in every row; give the rows' text."""
    texts = ["y" * 1000] * 300
    column = arrow.array(texts)
    if kind == "dictionary":
        column = column.dictionary_encode()
    table = arrow.table({"a": np.arange(300.0), "s": column, "b": np.arange(300.0)[::-1]})
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    else:
        from pyarrow import feather

        feather.write_feather(table, path, compression="zstd")
    return texts


@pytest.mark.parametrize("kind", ["plain", "dictionary"])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_text_that_is_not_asked_for_is_not_unpacked(suffix, kind, arrow, tmp_path, monkeypatch):
    path = tmp_path / f"x{suffix}"
    texts = repeated_text(arrow, path, kind)
    with pytest.raises(FileError, match=r"columns are not: 's' \(text\); choose columns with --columns"):
        read_points(path)
    read = []
    as_floats = columnar._as_floats
    monkeypatch.setattr(columnar, "_as_floats", lambda c: read.append(str(c.type)) or as_floats(c))
    found = read_points(path, Choice(("b", "a")))
    assert read == ["double", "double"]
    np.testing.assert_array_equal(found.values, np.stack([np.arange(300.0)[::-1], np.arange(300.0)], axis=1))
    assert read_points(path, Choice(("a",), "s")).labels.tolist() == texts
    monkeypatch.setattr(columnar, "MOST_BYTES", 200_000)
    because = (
        "takes 29. kB in memory" if (suffix, kind) == (".feather", "plain") else "names of the rows take more"
    )
    with pytest.raises(FileError, match=because):
        read_points(path, Choice(("a",), "s"))


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_sizes_of_an_arrow_file_are_those_of_its_batches(compression, arrow, tmp_path):
    from pyarrow import feather, ipc

    rng = np.random.default_rng(0)
    texts = arrow.array([f"t{k % 7}" for k in range(5000)])
    table = arrow.table(
        {"a": rng.normal(size=5000), "z": np.zeros(5000), "s": texts, "d": texts.dictionary_encode()}
    )
    feather.write_feather(table, tmp_path / "x.feather", compression=compression, chunksize=2000)
    with open(tmp_path / "x.feather", "rb") as stream:
        rows, buffers = unpacked_sizes(stream)
        stream.seek(0)
        batches = ipc.open_file(stream)
        unpacked = sum(batches.get_batch(k).nbytes for k in range(batches.num_record_batches))
    assert rows == 5000
    # Stored buffers are filled up to whole words; the dictionary is counted once there, and per batch here.
    assert abs(unpacked - buffers) < 4096


def test_damage_to_an_arrow_file_is_told_and_reads_no_memory_of_others(arrow, tmp_path):
    from pyarrow import feather

    frame = pd.DataFrame(np.arange(24.0).reshape(12, 2), columns=["a", "b"])
    feather.write_feather(frame, tmp_path / "whole.feather", compression="uncompressed")
    whole = (tmp_path / "whole.feather").read_bytes()
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(8, len(whole), rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        (tmp_path / "x.feather").write_bytes(damaged)
        try:
            assert read_points(tmp_path / "x.feather").values.ndim == 2
        except FileError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert not any("\n" in message for message in refused)


def test_more_rows_than_a_batch_holds_are_refused(arrow, tmp_path):
    from pyarrow import feather

    frame = pd.DataFrame(np.zeros((12_345, 1)), columns=["a"])
    feather.write_feather(frame, tmp_path / "x.feather", compression="uncompressed")
    content = (tmp_path / "x.feather").read_bytes()
    claimed = (12_345).to_bytes(8, "little")
    assert content.count(claimed) >= 2
    (tmp_path / "x.feather").write_bytes(content.replace(claimed, (99_999).to_bytes(8, "little")))
    with pytest.raises(FileError, match="not a readable .feather file"):
        read_points(tmp_path / "x.feather")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_numbers_of_every_kind_are_read_from_columns(suffix, arrow, tmp_path):
    from pyarrow import feather, parquet

    table = arrow.table(
        {
            "i": arrow.array([1, 2, None]),
            "u.nsigned": arrow.array([1, 2, 3], arrow.uint64()),
            "h": arrow.array(np.array([1, 2, 3], np.float16)),
            "t": arrow.array([True, False, True]),
            "d": arrow.array([2.5, 1.5, 2.5]).dictionary_encode(),
        }
    )
    path = tmp_path / f"x{suffix}"
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, path)
    found = read_points(path)
    expected = [[1, 1, 1, 1, 2.5], [2, 2, 2, 0, 1.5], [np.nan, 3, 3, 1, 2.5]]
    np.testing.assert_array_equal(found.values, expected)
    assert found.columns == ("i", "u.nsigned", "h", "t", "d")
    for kind, said in ((arrow.array([[1], [2]]), "list<"), (arrow.nulls(2), "null")):
        parquet.write_table(arrow.table({"a": kind}), tmp_path / "y.parquet")
        with pytest.raises(FileError, match=said):
            read_points(tmp_path / "y.parquet")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("kind", ["text", "numbers", "range", "two"])
def test_the_index_of_a_frame_names_the_rows_of_columns(kind, suffix, frame, arrow, tmp_path):
    from pyarrow import feather

    index = {
        "text": [f"p{k}" for k in range(12)],
        "numbers": list(range(12))[::-1],
        "range": pd.RangeIndex(5, 29, 2),
        "two": pd.MultiIndex.from_product([["a", "b"], list("cdefgh")]),
    }[kind]
    frame.index = index
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        feather.write_feather(frame, path)
    found = read_points(path)
    assert found.labels.tolist() == list(index)
    assert found.columns == tuple(NAMES)
    np.testing.assert_array_equal(found.values, frame.to_numpy())


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_bomb_of_columns_is_refused_before_it_unpacks(suffix, arrow, tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "MOST_BYTES", 1 << 16)
    frame = pd.DataFrame(np.zeros((10_000, 2)), columns=["a", "b"])
    path = tmp_path / f"x{suffix}"
    (frame.to_parquet if suffix == ".parquet" else frame.to_feather)(path)
    with pytest.raises(FileError, match="takes 156 kB in memory, more than 64 kB"):
        read_points(path)


def test_an_array_larger_than_its_file_is_refused_before_memory_is_taken(tmp_path):
    values = npy(np.zeros((4, 2)))
    vast = values.replace(b"(4, 2)", b"(4000000000, 2)")[: len(values)]
    (tmp_path / "x.npy").write_bytes(vast)
    with pytest.raises(FileError, match="not a readable .npy array: it ends too early"):
        read_points(tmp_path / "x.npy")


def test_pickles_in_an_archive_are_never_loaded(tmp_path):
    np.savez(tmp_path / "x.npz", np.array([[{}, {}]], dtype=object))
    with pytest.raises(FileError, match="not a readable .npz array: Object arrays cannot be loaded"):
        read_points(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("name", "content", "because"),
    [
        ("x.csv.gz", b"1,2\n", "does not unpack"),
        ("x.csv.gz", gzip.compress(b"1,2\n3,4\n")[:-9], "does not unpack"),
        ("x.npz", b"PK nothing", "not a readable .npz file"),
        ("x.parquet", b"PAR1nothing", "not a readable .parquet file"),
        ("x.feather", b"ARROW1nothing", "not a readable .feather file"),
    ],
)
def test_damage_is_told_in_one_line(name, content, because, tmp_path, arrow):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=because):
        read_points(tmp_path / name)


def test_a_damaged_member_is_told(frame, tmp_path):
    np.savez(tmp_path / "x.npz", frame.to_numpy())
    damaged = bytearray((tmp_path / "x.npz").read_bytes())
    damaged[200] ^= 0xFF
    (tmp_path / "x.npz").write_bytes(damaged)
    with pytest.raises(FileError, match=r"not a readable \.npz"):
        read_points(tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    with pytest.raises(FileError, match="holds no array"):
        read_points(tmp_path / "empty.npz")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_without_pandas_the_message_says_what_to_install(suffix, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / f"x{suffix}").write_bytes(b"PAR1")
    with pytest.raises(FileError, match=r"files need pyarrow: pip install 'lslmatch\[files\]'"):
        read_points(tmp_path / f"x{suffix}")


def test_without_pandas_text_and_arrays_are_read(frame, tmp_path, monkeypatch):
    frame.to_csv(tmp_path / "x.csv")
    np.save(tmp_path / "x.npy", frame.to_numpy())
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in ("x.csv", "x.npy"):
        np.testing.assert_array_equal(read_points(tmp_path / name).values, frame.to_numpy())


# Standard input and output.


@pytest.mark.parametrize("kind", ["text", "array", "archive", "gzip", "parquet", "feather"])
def test_the_format_of_standard_input_is_told_by_its_bytes(kind, frame, tmp_path, monkeypatch, request):
    path = tmp_path / "stdin"
    if kind in ("parquet", "feather"):
        request.getfixturevalue("arrow")
    {
        "text": lambda: frame.to_csv(path, index=False),
        "array": lambda: path.write_bytes(npy(frame.to_numpy())),
        "archive": lambda: path.write_bytes(npz(frame.to_numpy())),
        "gzip": lambda: path.write_bytes(gzip.compress(frame.to_csv(index=False).encode())),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
    }[kind]()
    with open(path, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        np.testing.assert_array_equal(read_points(Path("-")).values, frame.to_numpy())


def test_standard_input_that_is_a_device_is_refused(monkeypatch):
    with open("/dev/zero", "rb") as stream:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        with pytest.raises(FileError, match="standard input: is a device"):
            read_points(Path("-"))


def test_an_endless_stream_is_refused_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 1 << 16)
    path = tmp_path / "stdin"
    path.write_bytes(b"1,2\n" * 20_000)
    with open(path, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        with pytest.raises(FileError, match="standard input: holds more than 64 kB"):
            read_points(Path("-"))


def test_pairs_go_to_standard_output_and_words_to_standard_error(frame, tmp_path, capsys):
    labelled(frame).to_csv(tmp_path / "x.csv")
    path = str(tmp_path / "x.csv")
    assert command_line.main(["match", path, path, "--out", "-"]) == 0
    out, err = capsys.readouterr()
    pairs = pd.read_csv(io.StringIO(out))
    assert list(pairs)[:5] == ["x", "y", "x_label", "y_label", "distance"]
    assert pairs["x_label"].tolist() == pairs["y_label"].tolist() == [f"p{k}" for k in range(12)]
    assert "answer" in table(err)


# What the command line makes of names.


@pytest.fixture
def people(frame, tmp_path):
    """Two files of the same people, whose columns stand in another order, and their paths."""
    labelled(frame).to_csv(tmp_path / "x.csv", index_label="sample")
    y = labelled(frame).iloc[::-1, [2, 0, 1]] / 2
    y.to_csv(tmp_path / "y.csv", index_label="sample")
    return [str(tmp_path / name) for name in ("x.csv", "y.csv")]


def run_json(capsys, *arguments):
    assert command_line.main(["match", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_columns_are_paired_by_name_and_rows_by_their_labels(people, capsys):
    said = run_json(capsys, *people, "--id", "sample")
    assert said["columns"] == NAMES
    assert said["pairs"]["x_label"] == said["pairs"]["y_label"]
    assert "the columns of Y stand in another order; they were paired by name" in said["notes"]
    assert said["scale"]["value"] == pytest.approx(2.0)


def test_names_that_do_not_agree_are_listed(people, tmp_path, capsys):
    Path(people[1]).write_text(Path(people[1]).read_text().replace("weight", "mass"))
    because = f"only {people[0]} has 'weight', only {people[1]} has 'mass'"
    assert_refused(capsys, tmp_path, "match", *people, because=because)


def test_names_on_one_side_are_a_note(people, frame, tmp_path, capsys):
    np.save(tmp_path / "y.npy", frame.to_numpy()[::-1])
    said = run_json(capsys, people[0], tmp_path / "y.npy")
    assert said["notes"][-1] == (
        f"{people[0]} has names of columns and {tmp_path / 'y.npy'} has none: paired by position"
    )


def test_noise_levels_and_covariances_follow_the_names(people, frame, tmp_path, capsys):
    levels = pd.DataFrame({"sigma": np.linspace(1, 2, 12)}, index=[f"p{k}" for k in range(12)])
    covariance = pd.DataFrame(np.diag([1.0, 4.0, 9.0]), index=NAMES, columns=NAMES)
    levels.to_csv(tmp_path / "n.csv", index_label="sample")
    covariance.to_csv(tmp_path / "c.csv", index=False)
    options = ["--objective", "lsns", "--noise-x", tmp_path / "n.csv", "--noise-y", tmp_path / "n.csv"]
    options += ["--covariance", tmp_path / "c.csv", "--id", "sample"]
    expected = run_json(capsys, *people, *options)["objective"]["value"]
    levels.iloc[::-1].to_csv(tmp_path / "n.csv", index_label="sample")
    covariance.iloc[::-1, ::-1].to_csv(tmp_path / "c.csv", index=False)
    assert run_json(capsys, *people, *options)["objective"]["value"] == expected


# Sparse matrices, whose indices say where in memory a number is written.


def members_of(kind):
    """Give the arrays that SciPy keeps a sparse matrix in."""
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, getattr(scipy.sparse, f"{kind}_matrix")(np.arange(1.0, 13.0).reshape(4, 3)))
    stream.seek(0)
    return dict(np.load(stream))


def put(place, value, kind=np.int64):
    def change(array):
        array = array.astype(kind)
        array.flat[place] = value
        return array

    return change


COMPRESSED, OUTSIDE = ("csr", "csc", "bsr"), "lies outside of the matrix"
DAMAGED_SPARSE = [
    *((kind, "indices", put(0, far), OUTSIDE) for kind in COMPRESSED for far in (2**28, -(2**28), 2**32)),
    *((kind, "indices", put(0, -1), "must be a valid sparse matrix") for kind in COMPRESSED),
    *((kind, "indptr", put(k, far), OUTSIDE) for kind in COMPRESSED for k, far in ((1, 2**28), (-1, -99))),
    *((kind, "indptr", put(-1, 0), "do not ascend") for kind in COMPRESSED),
    *((kind, "indices", put(0, 1, float), "whole numbers") for kind in COMPRESSED),
    *(("coo", part, put(0, far), OUTSIDE) for part in ("row", "col") for far in (2**28, -(2**63))),
    *(("coo", part, put(0, -1), "not a readable sparse matrix") for part in ("row", "col")),
    *(("dia", "offsets", put(0, far), OUTSIDE) for far in (2**28, -(2**28), 2**62, 2**63 - 1, -(2**63))),
    ("dia", "offsets", put(0, 3), OUTSIDE),
    ("csr", "shape", put(1, 1), "must be a valid sparse matrix"),
    ("csr", "shape", put(1, -3), "not a readable sparse matrix"),
    ("csr", "shape", put([0, 1], 2**40), "not a readable sparse matrix"),
    ("csr", "shape", lambda shape: shape[:1], "whole numbers"),
    ("csr", "format", lambda word: np.array("dok"), "unknown format 'dok'"),
    ("csr", "format", lambda word: np.array([1, 2]), "not a readable sparse matrix"),
    ("csr", "data", lambda data: data.astype(str), "must be a valid sparse matrix"),
    ("csr", "indices", None, "has no array 'indices'"),
]


@pytest.mark.parametrize(("kind", "part", "change", "because"), DAMAGED_SPARSE)
def test_a_damaged_sparse_matrix_is_refused_in_one_line(kind, part, change, because, tmp_path):
    members = members_of(kind)
    if change is None:
        del members[part]
    else:
        members[part] = change(members[part])
    np.savez(tmp_path / "x.npz", **members)
    with pytest.raises(FileError, match=because) as caught:
        read_points(tmp_path / "x.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
def test_sparse_matrices_of_every_format_are_read(kind, tmp_path):
    np.savez(tmp_path / "x.npz", **members_of(kind))
    np.testing.assert_array_equal(read_points(tmp_path / "x.npz").values, np.arange(1.0, 13.0).reshape(4, 3))


def test_a_column_of_arrays_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(5, [("place", "f8", (3,)), ("weight", "f8")]))
    with pytest.raises(FileError, match=r"columns are not: 'place' \(more than one number a row\)"):
        read_points(tmp_path / "x.npy")


@pytest.mark.parametrize(("x", "y"), [("a,a,b", "b,a,a"), ("a,b", "a,a,b"), ("a,b,b", "b,a")])
def test_columns_of_the_same_name_are_never_paired_by_it(x, y, tmp_path, capsys):
    for name, header in (("x", x), ("y", y)):
        rows = np.random.default_rng(1).normal(size=(5, header.count(",") + 1)).tolist()
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    paths = [tmp_path / "x.csv", tmp_path / "y.csv"]
    assert_refused(capsys, tmp_path, "match", *paths, because="occurs more than once")
    repeated = "a" if (x + y).count("a") > 2 else "b"
    with pytest.raises(FileError, match=f"has more than one column '{repeated}'"):
        [read_points(path, Choice((repeated,))) for path in paths]


def test_large_arrays_are_mapped_instead_of_read(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_MAPPED", 10)
    values = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float16)
    np.save(tmp_path / "x.npy", values)
    found = read_points(tmp_path / "x.npy").values
    base = found
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    np.testing.assert_array_equal(found, values)
    assert found.dtype == np.float16
    with gzip.open(tmp_path / "x.npy.gz", "wb") as packed:
        packed.write((tmp_path / "x.npy").read_bytes())
    np.testing.assert_array_equal(read_points(tmp_path / "x.npy.gz").values, values)
    np.save(tmp_path / "n.npy", np.arange(100))
    assert not isinstance(read_points(tmp_path / "n.npy").values.base, np.memmap)
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-1])
    with pytest.raises(FileError, match="not a readable .npy array"):
        read_points(tmp_path / "x.npy")
