"""The types of arrays that pass between modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
