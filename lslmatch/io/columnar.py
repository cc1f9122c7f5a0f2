"""Files of columns, .parquet and .feather: read by pandas and pyarrow, which are the extra ``files``."""

from __future__ import annotations

import io
from typing import Any

from lslmatch._optional import load
from lslmatch.io.sources import MOST_BYTES, FileError, Source, size_text


def read_columnar(source: Source) -> Any:
    """Read a file of columns as a DataFrame, unless it says that it is too large."""
    try:
        pandas, pyarrow = (load(name, "files", source.suffix) for name in ("pandas", "pyarrow"))
        dataset, parquet = (
            load(f"pyarrow.{name}", "files", source.suffix) for name in ("dataset", "parquet")
        )
    except ImportError:
        raise FileError(
            f"{source.name}: {source.suffix} files need pandas and pyarrow: pip install 'lslmatch[files]'"
        ) from None
    stream = source.stream if source.size is not None else io.BytesIO(source.stream.read())
    try:
        if source.suffix == ".parquet":
            _check_size(_parquet_bytes(parquet.ParquetFile(stream).metadata), source.name)
            stream.seek(0)
            return pandas.read_parquet(stream, engine="pyarrow")
        file = pyarrow.ipc.open_file(stream)
        if isinstance(stream, io.BytesIO):
            size = 0
            for k in range(file.num_record_batches):
                size += file.get_batch(k).nbytes
                _check_size(size, source.name)
        else:
            # On a disk the lengths of the batches are read without the batches.
            rows = dataset.dataset(source.name, format="feather").count_rows()
            _check_size(rows * max(len(file.schema), 1) * 8, source.name)
        stream.seek(0)
        return pandas.read_feather(stream)
    except (pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, FileError):
            raise
        text = str(error).strip().partition("\n")[0]
        raise FileError(f"{source.name}: not a readable {source.suffix} file: {text}") from None


def _parquet_bytes(metadata: Any) -> int:
    """Tell how large the columns of a .parquet file get in memory.

    What is repeated takes next to nothing in the file, so the rows are counted, too.
    """
    stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    return max(stored, metadata.num_rows * metadata.num_columns * 8)


def _check_size(size: int, file: str) -> None:
    if size > MOST_BYTES:
        raise FileError(f"{file}: takes {size_text(size)} in memory, more than {size_text(MOST_BYTES)}")
