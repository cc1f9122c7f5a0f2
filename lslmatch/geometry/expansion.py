"""How wrong an expanded square may be: the one bound by which pairs of points are screened.

Screening computes ``E = A' + B' - 2 A.B`` in working precision with unit roundoff w (2**-24 in single
precision). A and B are rounded coordinates, A' and B' their rounded squared norms. E cancels where points are
close, so it never decides. Lowered by its error, it is a lower bound of the squared distance, which excludes
pairs.

**Statement.** Two points p and q lie at distance r. Their coordinates in double precision are a and b with
errors of at most ``4 v |a[k]|`` and ``4 v (|b[k]| + |o[k]|) + 2**-100 g``, with v = 2**-53. A unit t leads to
A = t a and B = t b, rounded, with no entry above 2**20. N is |A|^2 + |B|^2, and there are d <= 2**12
coordinates. Then in single precision

    E <= (t r)^2 + relative * N + absolute * t^2 + underflow,

    relative = (3 d + 16) w,   absolute = 2**-76 |o|^2 + 2**-174 d g^2,   underflow = 2**-104 d.

(Coordinates ``b = scale * (y - centre) + o`` come from three roundings and from the offset o between the two
centres. That is a difference of terms of size g, computed with their rounding errors.)

**Proof.**

1. *Rounding of E.* A norm is a sum of d squares. Added up in working precision it errs by at most d w of
   itself; coordinates that are rounded afterwards add 2 w, and its own rounding w. The d + 1 additions that
   follow have partial sums of at most ``N + 2 sum |A_k B_k| <= 2 N``: they lose at most 2 (d + 1) w N.
   Products that are rounded on their own lose w N. Together that is (3 d + 6) w N to first order. Terms of
   second order are less than (d + 2) w <= 2**-11.9 of it, which is less than 3.3 w N.
2. *Rounding of coordinates.* A = t p + e and B = t q + f with ``|e| + |f| <= (w + 5 v)(|A| + |B|) + h`` and
   ``h = 4 v t |o| + 2**-100 t g sqrt(d)``. Let s = |A - B|. Then ``t r >= s - |e| - |f|``, and so
   ``s^2 <= (t r)^2 + 2 s (|e| + |f|)``. As s <= |A| + |B| and (|A| + |B|)^2 <= 2 N, the last term is at most
   ``4 (w + 5 v) N + 2 sqrt(2 N) h``, and ``2 sqrt(2 N) h <= w N + 2 h^2 / w``. With v = 2**-29 w this is less
   than ``5.1 w N + 2 h^2 / w``. Together with 1 the factor of w N is less than 3 d + 14.4.
3. *The absolute part.* ``2 h^2 / w <= 2**26 (2**-102 |o|^2 + 2**-200 d g^2) t^2 = absolute * t^2``.
4. *Underflow.* A rounding below the normal range errs by at most 2**-150. E has at most 4 d of them. Those of
   A and B change s^2 by at most ``4 sqrt(2 d N) 2**-150 <= 2**-127 d``, as N <= 2 d 2**40. QED

In double precision w = v, and :mod:`lslmatch.geometry.tiles` has coordinates that are rounded once: then
``|e| + |f| <= v (|A| + |B|)``, and ``relative = (3 d + 16) w`` holds with o = g = 0.

All routes that screen pairs use this bound and no other.
"""

from __future__ import annotations

from lslmatch._jit import inline_kernel

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53


def relative_error(d: int, is_single: bool = True) -> float:
    """Give the part of the error bound that N, the sum of both squared norms, is multiplied by."""
    return (3 * d + 16) * (_SINGLE if is_single else _DOUBLE)


def absolute_error(d: int, offset_square: float, greatest: float) -> float:
    """Give the part that the square of the unit is multiplied by, from |o|^2 and g."""
    return 2.0**-76 * offset_square + 2.0**-174 * d * (greatest * greatest)


def underflow_error(d: int) -> float:
    """Give the part that depends on nothing else."""
    return 2.0**-104 * d


relative_error_kernel, absolute_error_kernel = inline_kernel(relative_error), inline_kernel(absolute_error)
underflow_error_kernel = inline_kernel(underflow_error)
