"""What compiled kernels import: Numba's compiler with our options, and the arithmetic compiled with it."""

from __future__ import annotations

from typing import Any

from numba import njit

from ouzel.kernels import arithmetic, arrays

# nogil: kernels of several buckets run in several threads.  error_model numpy: our own code checks divisors.
jit: Any = njit(nogil=True, cache=True, error_model="numpy")

add = jit(arithmetic.add)
subtract = jit(arithmetic.subtract)
multiply = jit(arithmetic.multiply)
negate = jit(arithmetic.negate)
absolute = jit(arithmetic.absolute)
divide = jit(arithmetic.divide)
remainder = jit(arithmetic.remainder)
float_remainder = jit(arithmetic.float_remainder)
floor = jit(arithmetic.floor)
ceil = jit(arithmetic.ceil)
square_root = jit(arithmetic.square_root)
logarithm = jit(arithmetic.logarithm)
exponential = jit(arithmetic.exponential)
carried = jit(arithmetic.carried)

longer = jit(arrays.longer)
taller = jit(arrays.taller)
copy_row = jit(arrays.copy_row)
