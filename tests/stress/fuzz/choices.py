"""Arguments made of bytes: whatever engine finds the bytes, the same bytes make the same arguments."""

import numpy as np

#: NaNs with payloads, one of them signalling.
_NANS = np.array([0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8DEADBEEF0000], "u8").view("f8").tolist()
#: Numbers at which arithmetic changes its behaviour.
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0**-1074, 2.0**-1022, 1e-308, 1e-160, 1e-15, 1 + 2.0**-52, 1e15, 1e160]
NUMBERS += [1e307, 1.7e308, -1.7e308, np.inf, -np.inf, *_NANS]

DTYPES = ["f4", "f2", ">f8", "i8", "u1", "i4", "?", "c16", "g", "U3", "O", "M8[s]", "m8[s]", "V8"]


class Choices:
    """Choices read off a string of bytes; when it has come to its end, the first of every choice."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def byte(self):
        """Give a whole number from 0 to 255."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, count):
        """Give a whole number from 0 to count - 1, count being 65536 at most."""
        return (self.byte() if count <= 256 else 256 * self.byte() + self.byte()) % count

    def of(self, options):
        """Give one of some options."""
        return options[self.below(len(options))]

    def seldom(self):
        """Give True once in sixteen."""
        return self.byte() % 16 == 15

    def rest(self):
        """Give what is left of the bytes."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    def number(self):
        """Give a special number, a small one, or any bit pattern."""
        kind = self.below(4)
        if kind == 0:
            return self.of(NUMBERS)
        if kind == 3:
            return float(np.frombuffer(bytes(self.byte() for _ in range(8)), "f8")[0])
        return float(self.below(16)) - 4.0 if kind == 1 else 10.0 ** (self.below(64) - 32)

    def anything(self):
        """Give a number, or something that is none."""
        if self.below(4) == 3:
            return self.of(
                [
                    None,
                    "1",
                    "",
                    [],
                    {},
                    True,
                    2**70,
                    -1,
                    1j,
                    np.ones((1, 1, 1)),
                    np.nan,
                    object,
                    [[1], [1, 2]],
                ]
            )
        return self.number() if self.below(2) else self.below(40)

    def count(self, most=24):
        """Give a number of points or of dimensions, which is seldom below 2."""
        return self.below(4) if self.seldom() else 2 + self.below(most)

    def array(self, *shape):
        """Give an array, mostly of doubles: random, of few values, near-ties, of all sizes, or special."""
        size = int(np.prod(shape))
        kind = self.below(7)
        rng = np.random.default_rng(self.below(65536))
        values = rng.normal(size=size)
        if kind == 1:
            values = rng.integers(0, 3, size).astype(float)
        elif kind == 2:
            values *= 10.0 ** rng.uniform(-300, 300, size)
        elif kind == 3:
            values *= 10.0 ** rng.integers(-320, 308)
        elif kind == 4:
            special = np.array([self.number() for _ in range(1 + self.below(12))])
            values = special[rng.integers(0, special.size, size)]
        elif kind == 5:
            values = np.round(values) + rng.integers(-1, 2, size) * 2.0**-52
        elif kind == 6:
            values = 1e9 + values * 10.0 ** -self.below(12)
        if size and self.seldom():
            values[rng.integers(0, size)] = self.number()
        return self._dressed(values.reshape(shape)) if self.seldom() else values.reshape(shape)

    def _dressed(self, values):
        """Give the same numbers, or what is left of them, in another type, shape or layout."""
        dress = self.below(7)
        if dress == 0:
            return np.ma.masked_array(values, mask=values > self.number())
        if dress == 1:
            return values.tolist()
        if dress == 2:
            return np.asfortranarray(values)[::-1]
        if dress == 3:
            values.flags.writeable = False
            return values
        if dress == 4:
            return values[None] if self.below(2) else values.ravel()
        if dress == 5:
            return np.broadcast_to(values[:1], values.shape)
        with np.errstate(all="ignore"):
            return values.astype(self.of(DTYPES), casting="unsafe")
