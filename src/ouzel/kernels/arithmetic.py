"""Scalar functions that generated kernels call: 64-bit arithmetic where what has no value is null.

Each returns (value, is_null).  The same source runs uncompiled on Python numbers and compiled by Numba, where
integers wrap around; so overflow is found without relying on either.
"""

from __future__ import annotations

import math

import numpy as np

LEAST, MOST = -(2**63), 2**63 - 1
# Floats from here on do not fit into 64-bit integers.
BEYOND = 2.0**63


def add(a: int, b: int) -> tuple[int, bool]:
    """The sum of two integers."""
    if (b > 0 and a > MOST - b) or (b < 0 and a < LEAST - b):
        return 0, True
    return a + b, False


def subtract(a: int, b: int) -> tuple[int, bool]:
    """The difference of two integers."""
    if (b < 0 and a > MOST + b) or (b > 0 and a < LEAST + b):
        return 0, True
    return a - b, False


def multiply(a: int, b: int) -> tuple[int, bool]:
    """The product of two integers."""
    if a == 0 or b == 0:
        return 0, False
    if a == LEAST or b == LEAST:  # noqa: PLR1714 - Numba compiles this form to two comparisons
        return (LEAST, False) if a == 1 or b == 1 else (0, True)
    p, q = abs(a), abs(b)
    if p <= MOST // q:
        return a * b, False
    # of the products beyond MOST only LEAST itself still fits
    if (a < 0) != (b < 0) and p - 1 == MOST // q and MOST % q == q - 1:
        return LEAST, False
    return 0, True


def negate(a: int) -> tuple[int, bool]:
    """The negation of an integer."""
    if a == LEAST:
        return 0, True
    return -a, False


def absolute(a: int) -> tuple[int, bool]:
    """The absolute value of an integer."""
    if a == LEAST:
        return 0, True
    return abs(a), False


def divide(a: float, b: float) -> tuple[float, bool]:
    """A quotient, always a float."""
    if b == 0.0:
        return 0.0, True
    return a / b, False


def remainder(a: int, b: int) -> tuple[int, bool]:
    """The remainder with the sign of the dividend."""
    if b == 0:
        return 0, True
    if b == -1:
        return 0, False
    result = a % b
    if result != 0 and (a < 0) != (b < 0):
        result -= b
    return result, False


def float_remainder(a: float, b: float) -> tuple[float, bool]:
    """The remainder of floats with the sign of the dividend; of an infinite dividend there is none."""
    if b == 0.0 or math.isinf(a):
        return 0.0, True
    return np.fmod(a, b), False


def floor(a: float) -> tuple[int, bool]:
    """The largest integer that is not above."""
    if not (-BEYOND <= a < BEYOND):
        return 0, True
    return math.floor(a), False


def ceil(a: float) -> tuple[int, bool]:
    """The smallest integer that is not below."""
    if not (-BEYOND <= a < BEYOND):
        return 0, True
    return math.ceil(a), False


def square_root(a: float) -> tuple[float, bool]:
    """The square root."""
    if a < 0.0:
        return 0.0, True
    return math.sqrt(a), False


def logarithm(a: float) -> tuple[float, bool]:
    """The natural logarithm."""
    if a <= 0.0:
        return 0.0, True
    return math.log(a), False


def exponential(a: float) -> tuple[float, bool]:
    """The exponential, infinite where it is too large for a double."""
    if a > 709.782712893384:
        return math.inf, False
    return math.exp(a), False


def carried(total: int, value: int, carry: int) -> tuple[int, int]:
    """A running sum in 64 bits and how often it went round, so that one knows whether it fits in the end."""
    if value > 0 and total > MOST - value:
        # total + value - 2**64, in steps that stay within 64 bits
        return (total + LEAST) + (value + LEAST), carry + 1
    if value < 0 and total < LEAST - value:
        return (total - LEAST) + (value - LEAST), carry - 1
    return total + value, carry


def carried_unsigned(total: int, value: int, carry: int) -> tuple[int, int]:
    """The same for a value without a sign, which as one with a sign is 2**64 less from 2**63 on."""
    if value < 0:
        return carried(total, value, carry + 1)
    return carried(total, value, carry)


def carried_float(total: int, carry: int) -> float:
    """A sum that went round so often, rounded once."""
    if carry == 0:
        return float(total)
    # the first summand is exact up to some millions of carries
    return float(carry * 4294967296 + (total >> 32)) * 4294967296.0 + float(total & 4294967295)


def unsigned_float(value: int) -> float:
    """An integer without a sign as a double."""
    return carried_float(value, 1 if value < 0 else 0)


def order_scaled(a: int, factor: int, b: int) -> int:
    """The order of a * factor and b: -1, 0 or 1; the product need not fit into 64 bits."""
    quotient = b // factor
    if a != quotient:
        return -1 if a < quotient else 1
    return -1 if b % factor > 0 else 0


def order_mixed(a: int, b: float) -> int:
    """The order of an integer and a float by value: -1, 0 or 1; 2 if the float is no number."""
    if math.isnan(b):
        return 2
    if b >= BEYOND:
        return -1
    if b < -BEYOND:
        return 1
    whole = math.floor(b)
    if a != whole:
        return -1 if a < whole else 1
    return -1 if b > whole else 0
