"""Small sets of the same layout as the real data."""

import numpy as np
import pytest
from scipy.io import savemat

from verification.data import instruments as spectra


@pytest.fixture
def small_spectra(tmp_path, monkeypatch):
    """Put spectra of 30 samples at 8 wavelengths where the experiments look for them."""
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((2, 8))  # spectra are nearly flat, and a shift lies among them
    samples = 20 + rng.standard_normal((30, 2)) @ factors
    shift = 2 * factors[0]
    for path, names in spectra.SETS.values():
        variables = {}
        for number in range(1, len(names) + 1):
            seen = samples + number * shift + 0.02 * rng.standard_normal(samples.shape)
            parts = zip(("cal", "trans", "test"), np.split(seen, (12, 20)), strict=True)
            variables |= {f"X{part}{number}": values for part, values in parts}
        (tmp_path / "demo_data" / path).parent.mkdir(parents=True)
        savemat(tmp_path / "demo_data" / path, variables)
    monkeypatch.setattr(spectra, "package_folder", lambda package, extra: tmp_path)
