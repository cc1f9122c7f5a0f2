"""Data inside R's packages as Debian installs them; R itself is not needed to read them."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from verification.data.installed import MissingExtraError, require

#: Where Debian puts R's packages.
LIBRARY = Path("/usr/lib/R/site-library")

#: R's packages that have data here, by their names in R, with their names in Debian.
DEBIAN = {
    "fields": "r-cran-fields",
    "pcaMethods": "r-bioc-pcamethods",
    "psychTools": "r-cran-psychtools",
}


def require_r_file(package: str, name: str, library: Path = LIBRARY) -> Path:
    """Give the path of a file of data of an R package, or say which Debian package brings it."""
    path = library / package / "data" / name
    if not path.is_file():
        raise MissingExtraError(f"{path} is not there; get it with: apt-get install {DEBIAN[package]}")
    return path


def read_variable(package: str, variable: str, extra: str, library: Path = LIBRARY) -> Any:
    """Read one variable of a package that keeps its data in R's lazy-load database.

    The file Rdata.rdx says at which byte of Rdata.rdb each variable starts and how many bytes it has:
    four bytes for its length when decompressed, then the compressed value.
    """
    index_path, database_path = (
        require_r_file(package, f"Rdata.{ending}", library) for ending in ("rdx", "rdb")
    )
    rdata = require("rdata", extra)
    start, length = (int(number) for number in rdata.read_rds(index_path)["variables"][variable])
    with database_path.open("rb") as database:
        database.seek(start)
        value = zlib.decompress(database.read(length)[4:])
    return rdata.conversion.convert(rdata.parser.parse_data(value, extension=".rds"))
