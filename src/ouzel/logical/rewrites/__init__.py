"""Simpler queries of the same meaning (ZStream 5.2.1): one rule per file, all of them in rules.py."""

from ouzel.logical.rewrites.rules import Rewritten, rewrite

__all__ = ["Rewritten", "rewrite"]
