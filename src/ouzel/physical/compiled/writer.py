"""Source, line by line: blocks are indented by `with`, so nobody has to count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

INDENT = "    "


@dataclass
class Writer:
    """Lines of source, and how deep the next one stands.

    >>> writer = Writer()
    >>> with writer.block("for x in range(n):"):
    ...     writer.line("total += x")
    >>> writer.line("return total")
    >>> print(writer.text)
    for x in range(n):
        total += x
    return total
    """

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    @property
    def text(self) -> str:
        """All that was written."""
        return "\n".join(self.lines)

    def line(self, text: str) -> None:
        """Write one line at the current depth."""
        self.lines.append(INDENT * self.depth + text)

    def write(self, *texts: str) -> None:
        """Write lines at the current depth; one text may have several."""
        for text in texts:
            for one in text.splitlines():
                self.line(one)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write the head of a block; what is written inside stands below it."""
        with self.scope():
            self.begin(head)
            yield

    def begin(self, head: str) -> None:
        """Write the head of a block; all that follows stands below it, until the scope around it ends."""
        self.line(head)
        self.depth += 1

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Come back to the current depth at the end, whatever was opened inside."""
        depth = self.depth
        try:
            yield
        finally:
            self.depth = depth
