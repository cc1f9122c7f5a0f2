"""The one jit policy of the library: every kernel is compiled through :func:`kernel`.

``policy`` has the decorators; ``private`` all that Numba does not promise; ``plain`` the same kernels without
it; ``folders`` says where compiled kernels are kept, and whether others may write there.
"""

from lslmatch._jit.policy import (
    KERNELS,
    bits_of,
    double_of,
    emitted,
    fused_kernel,
    hear_compilations,
    inline_kernel,
    is_kept,
    is_ready,
    kernel,
    single_bits_of,
    single_of,
    step_kernel,
    summing_kernel,
)

__all__ = [
    "KERNELS",
    "bits_of",
    "double_of",
    "emitted",
    "fused_kernel",
    "hear_compilations",
    "inline_kernel",
    "is_kept",
    "is_ready",
    "kernel",
    "single_bits_of",
    "single_of",
    "step_kernel",
    "summing_kernel",
]
