"""Sequence scan and construction (SASE sections 3 and 4): sequences of single events with negation."""

from ouzel.physical.scan.scan import SCAN, ScanPlan

__all__ = ["SCAN", "ScanPlan"]
