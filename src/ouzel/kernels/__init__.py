"""The loops: generated source compiled by Numba, and the arithmetic it uses.  Imports nothing of ours."""
