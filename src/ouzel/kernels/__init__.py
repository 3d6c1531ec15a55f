"""The loops: plain functions and generated source, as they are or compiled by Numba.  Imports nothing of ours."""
