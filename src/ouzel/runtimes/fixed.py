"""Matchers of a text: queries that neither come nor go.  If it is but one, another may take its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language.document import document, text_entries
from ouzel.logical.schema import Schema
from ouzel.physical.contract import Counters
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.replacing import Entry, How, mentioned, new_values, new_version, one_entry
from ouzel.runtimes.roster import Said, check_id, said_of

_AS_A_LIST = (
    "required a matcher of a list of queries, or of oz.queries(…)\n"
    "  hint: give its query as a list: oz.matcher([query], …)"
)


class FixedProgram:
    """Queries of one text."""

    def __init__(self, text: str, params: Mapping[str, Any], names: tuple[str, ...]) -> None:
        """Begin."""
        self.names, self._said = names, (text, dict(params))

    def has(self, id_: Any) -> bool:  # noqa: ARG002
        """None can."""
        return False

    def add(self, id_: Any, query: Any, now: int) -> None:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(f"add: {_AS_A_LIST}")

    def remove(self, id_: Any) -> Counters:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(f"remove: {_AS_A_LIST}")

    def replace(self, id_: Any, query: Any, now: int) -> Counters:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(f"replace: {_AS_A_LIST}")

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(f"set_params: {_AS_A_LIST}")

    def said(self) -> Said:
        """The text as it was given."""
        return self._said


class SingleProgram(FixedProgram):
    """One query, a text or an expression; its id is its name, or None."""

    def __init__(
        self, text: str, params: Mapping[str, Any], name: str, chain: Chain, schema: Schema, how: How
    ) -> None:
        """Begin."""
        super().__init__(text, params, (name,))
        self._chain, self._schema, self._how = chain, schema, how

    @property
    def _entry(self) -> Entry:
        return {**text_entries(self._said[0])[0], "name": self.names[0]}

    def replace(self, id_: Any, query: Any, now: int) -> Counters:
        """Let another take its place."""
        check_id(id_, self.names, "replace")
        text, brought = said_of(query, "replace")
        entry = {**one_entry(text, "replace"), "name": self.names[0]}
        return self._become(entry, {**self._said[1], **brought}, now)

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters:
        """Let parameters have other values."""
        check_id(id_, self.names, "set_params")
        return self._become(self._entry, new_values(self._entry, self._said[1], values), now)

    def _become(self, entry: Entry, params: Mapping[str, Any], now: int) -> Counters:
        entry, plan = new_version(entry, self._schema, params, self._how, self._chain.all_plans, now)
        counters = self._chain.replace(plan, now)
        own = {name: params[name] for name in mentioned(entry) if name in params}
        self._said = document([entry], "text" if "text" in entry else "expression"), own
        return counters
