"""Stage 3: engines that find matches."""

from ouzel.physical.automaton import AUTOMATON
from ouzel.physical.contract import Engines
from ouzel.physical.reference.plan import REFERENCE
from ouzel.physical.scan import SCAN
from ouzel.physical.shared.plan import SHARED
from ouzel.physical.tree import TREE

ENGINES: Engines = (SCAN, AUTOMATON, TREE, SHARED, REFERENCE)

__all__ = ["ENGINES"]
