"""An index that is kept, and asked for near duplicates at any threshold."""

import json
from typing import Any, Literal, Self, Unpack

import pyarrow as pa

from . import _twinset
from ._options import options, path as path_text
from ._settings import AddSettings, CountSettings, CreateSettings, Data, IndexJoinSettings, Number, Path, QuerySettings
from ._tables import Source, names_of, renamed


class Index:
    """A label index or a synopsis index, in a folder or, for labels, in a database.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(folder.name + "/news", kind="lsh")
    >>> index.add({"id": ["a", "b"], "text": ["the old bridge was closed", "a new library opens"]})
    >>> index.query(["The old bridge was closed."], threshold=0.8).to_pylist()
    [{'query': 0, 'id': 'a', 'similarity': 1.0}]
    >>> len(index)
    2
    """

    def __init__(self, path: Path) -> None:
        """Opens an index; `Index.create` makes one."""
        self.path = path_text(path)
        self.stats()

    @classmethod
    def create(
        cls, path: Path, *, kind: Literal["lsh", "kmv", "labels", "synopses"] = "lsh", **settings: Unpack[CreateSettings]
    ) -> Self:
        """Makes an index: `kind` is "lsh" or "kmv"."""
        _twinset.index_create(options("index create", {"kind": kind, **settings}), path_text(path))
        return cls(path)

    def add(self, data: Data, *, progress: bool = False, **settings: Unpack[AddSettings]) -> None:
        """Adds records; those whose id is known replace the earlier ones. Ids are kept as text; those of records that have
        none are their numbers, from 1."""
        _twinset.index_add(options("index add", settings), self.path, Source(data, settings).data, progress)

    def remove(self, *ids: object) -> None:
        """Takes records out: those of these ids, or of lists, columns and whatever else holds ids."""
        named = [name for one in ids for name in names_of(one)]
        if named:
            _twinset.index_remove(self.path, named)

    def query(
        self,
        data: Data = None,
        *,
        like: str | None = None,
        id: Any = None,
        progress: bool = False,
        **settings: Unpack[QuerySettings],
    ) -> pa.Table | None:
        """The records of the index that are near duplicates of some, of one of its own (`id`), or of a text (`like`)."""
        source = None if data is None else Source(data, {**settings, "id": id})
        given = options("index query", {**settings, "like": like, "id": id})
        found = _twinset.index_query(given, self.path, None if source is None else source.data, progress)
        return found if source is None or found is None else renamed(found, {"query": source})

    def join(
        self, other: "Index | Path | None" = None, *, progress: bool = False, **settings: Unpack[IndexJoinSettings]
    ) -> pa.Table | None:
        """All pairs of records of the index, or of two indexes, at or above a threshold."""
        other_path = None if other is None else path_text(getattr(other, "path", other))
        return _twinset.index_join(options("index join", settings), self.path, other_path, progress)

    def count(
        self, other: Data = None, *, threshold: Number | list[Number], progress: bool = False, **settings: Unpack[CountSettings]
    ) -> pa.Table | None:
        """How many pairs there are at each threshold."""
        data = None if other is None else [other.path] if isinstance(other, Index) else Source(other, settings).data
        return _twinset.index_count(options("index count", {"threshold": threshold, **settings}), self.path, data, progress)

    def stats(self) -> dict[str, Any]:
        """How many records it has, how it was made, and how large it is."""
        return dict(json.loads(_twinset.index_stats(self.path)))

    def check(self) -> None:
        """Fails if anything in it is damaged."""
        _twinset.index_check(self.path)

    def __len__(self) -> int:
        return int(self.stats()["records"])

    def __repr__(self) -> str:
        return f"Index({self.path!r})"
