"""Measurements: the papers' experiments, with peers on the same data in the same run."""
