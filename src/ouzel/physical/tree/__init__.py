"""ZStream's tree plans."""

from ouzel.physical.tree.plan import TREE, TreePlan

__all__ = ["TREE", "TreePlan"]
