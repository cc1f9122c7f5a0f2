"""Sheets of a spreadsheet (.xlsx), read by pandas and openpyxl if these are there, and then as text is."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from lslmatch._optional import load
from lslmatch.io.sources import MOST_BYTES, FileError, Source, check_lines, size_text


def as_text(source: Source) -> Source:
    """Give the first sheet as comma-separated text."""
    try:
        pandas: Any = load("pandas", "files", source.suffix)
        load("openpyxl", "files", source.suffix)
    except ImportError:
        raise FileError(
            f"{source.name}: .xlsx files need pandas and openpyxl: pip install pandas openpyxl, or save the "
            "sheet as .csv"
        ) from None
    data = io.BytesIO(source.stream.read())
    try:
        with zipfile.ZipFile(data) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > MOST_BYTES:
            raise FileError(f"{source.name}: holds {size_text(size)} when unpacked")
        sheet = pandas.read_excel(data, engine="openpyxl", header=None, dtype=object)
    except (FileError, MemoryError):
        raise
    except Exception as error:
        # Damage comes out as errors of many kinds.
        text = str(error).strip().partition("\n")[0]
        raise FileError(f"{source.name}: not a readable .xlsx file: {text}") from None
    check_lines(len(sheet), source.name)
    content = sheet.to_csv(index=False, header=False).encode()
    return Source(source.name, ".csv", io.BytesIO(content), len(content), is_limited=False, lines=len(sheet))
