"""Finds near duplicates: every pair at or above a threshold, none missing; or with a probability that you choose.

>>> import twinset
>>> titles = ["The old bridge was closed", "the old bridge was closed!", "A new library opens"]
>>> twinset.join(titles, threshold=0.8).to_pylist()
[{'left': 0, 'right': 1, 'similarity': 1.0}]

Functions take lists of texts, lists of token lists, dictionaries, data frames of pandas and Polars, Arrow tables and
readers, datasets of Hugging Face, and paths of files, and return Arrow tables. Settings are the options of the
command `twinset`, with `_` for `-`.
"""

import importlib
import io
import json
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from . import _twinset
from ._index import Index
from ._settings import (
    Data,
    DedupSettings,
    ExplainSettings,
    JoinSettings,
    Path,
    ProfileSettings,
    SketchSettings,
    TuneSettings,
)
from ._options import options, path
from ._tables import Source, renamed
from ._twinset import TwinsetError, __version__

if TYPE_CHECKING:
    from . import spark as spark
else:

    def __getattr__(name: str) -> Any:
        """`twinset.spark`, which is imported when it is asked for, as it needs PySpark."""
        if name != "spark":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return importlib.import_module(".spark", __name__)


__all__ = ["Deduplicated", "Index", "TwinsetError", "dedup", "explain", "join", "profile", "sketch", "tune"]


def join(
    data: Data, other: Data = None, *, progress: bool = False, **settings: Unpack[JoinSettings]
) -> Any:
    """All pairs of records at or above a threshold, in one collection or between two.

    Returns a table with the columns `left`, `right` and `similarity` (`distance` for hamming and edit; estimates also have
    `low` and `high`). Records are named by the column `id`, or the one named by `id=`; without one, by their positions.
    With `count=True`, only their number.

    >>> join(["a b c d", "a b c e", "x y"], threshold=0.6).to_pylist()
    [{'left': 0, 'right': 1, 'similarity': 0.6}]
    >>> join({"id": ["x", "y"], "text": ["a b c d", "a b c e"]}, threshold=0.6, measure="overlap").to_pylist()
    Traceback (most recent call last):
    ...
    ValueError: the threshold 3/5 does not fit overlap: give a whole number from 1
    >>> join({"id": ["x", "y"], "text": ["a b c d", "a b c e"]}, threshold=3, measure="overlap").to_pylist()
    [{'left': 'x', 'right': 'y', 'similarity': 3}]
    >>> join([["New York", "Rome"], ["Rome", "New York"]], threshold=1, count=True)
    1
    """
    left = Source(data, settings)
    right = left if other is None else Source(other, settings)
    pairs = _twinset.join(options("join", settings), left.data, None if other is None else right.data, progress)
    if pairs is None or isinstance(pairs, str):
        return None if pairs is None else int(pairs)
    return renamed(pairs, {"left": left, "right": right})


class Deduplicated:
    """What became of records: tables of those that were kept and removed, and the group of each.

    It can be handed to whatever takes Arrow tables, which then see what was kept.
    """

    def __init__(self, kept: pa.Table | None, removed: pa.Table | None, groups: pa.Table) -> None:
        #: The records that were kept, as they stood; `None` if they are those of files.
        self.kept = kept
        #: The records that were removed; `None` if they are those of files.
        self.removed = removed
        #: For each record its group, the record that stands for it, and how alike the two are.
        self.groups = groups

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self.kept is None:
            raise TwinsetError("records of files are written to files: name one by output=")
        return self.kept.__arrow_c_stream__(requested_schema)

    def to_pandas(self, **options: Any) -> Any:
        """What was kept, as a data frame of pandas."""
        return pa.table(self).to_pandas(**options)

    def __repr__(self) -> str:
        kept = "" if self.kept is None else f", {self.kept.num_rows} kept"
        return f"<Deduplicated: {self.groups.num_rows} records{kept}>"


def dedup(
    data: Data, *, against: Data = None, progress: bool = False, **settings: Unpack[DedupSettings]
) -> Deduplicated:
    """A collection without its near duplicates.

    >>> found = dedup(["one two three", "One, two, three!", "four"], threshold=0.8)
    >>> found.kept.to_pydict()
    {'text': ['one two three', 'four']}
    >>> found.removed.to_pydict()
    {'text': ['One, two, three!']}
    >>> found.groups.to_pylist()[1]
    {'record': 1, 'group': 1, 'representative': 0, 'similarity': 1.0}

    Records near one of another collection go as well:

    >>> dedup(["one two three", "four"], against=["one two three"], threshold=0.8).kept.to_pydict()
    {'text': ['four']}

    With `against_only=True` only these go, and `data` is not compared with itself.

    Those of files are written to a file: `dedup("docs.jsonl", threshold=0.8, output="kept.jsonl")`, and those that were left out to
    the one that `removed=` names.
    """
    source = Source(data, settings)
    other = None if against is None else Source(against, settings)
    for name in ("groups", "count", "stream", "window"):
        if name in settings:
            raise ValueError(f"{name}= is only for the command line: the result has the groups and the rows that are kept")
    if source.table is None and settings.get("removed") and not settings.get("output"):
        raise ValueError("records of files are written to two files, or to none: name that of the kept ones too, by output=")
    if source.table is not None and (settings.get("output") or settings.get("removed")):
        raise ValueError("rows of a table are returned, and not written: write what is kept or removed to a file of your own")
    kept, removed, groups = _twinset.dedup(options("dedup", settings), source.data, None if other is None else other.data, progress)
    groups = renamed(groups, {"record": source, "representative": source})
    return Deduplicated(kept, removed, groups if other is None else _with_sides(groups, other))


def _with_sides(groups: pa.Table, other: Source) -> pa.Table:
    """Groups whose representatives are of two collections; the column `against` tells of which."""
    theirs = other.names(groups.column("against"))
    ours, is_other = groups.column("representative"), pc.is_valid(theirs)
    if ours.type != theirs.type:
        ours, theirs = ours.cast(pa.string()), theirs.cast(pa.string())
    for name, column in {"representative": pc.if_else(is_other, theirs, ours), "against": is_other}.items():
        groups = groups.set_column(groups.schema.get_field_index(name), name, column)
    return groups


def explain(
    data: Data, left: Any, right: Any, *, other: Data = None, progress: bool = False, **settings: Unpack[ExplainSettings]
) -> dict[str, Any]:
    """Why two records are, or are not, a pair: sizes, common and different tokens, every measure, a word diff.

    With `other`, the right record is one of this collection. With `verbose=True`, the filters that the pair passes in a join.

    >>> told = explain(["a b c d", "a b c e"], 0, 1, threshold=0.6)
    >>> told["measures"]["jaccard"]
    0.6
    """
    source = Source(data, settings)
    others = source if other is None else Source(other, settings)
    ids = [source.named(left), others.named(right)]
    given = _twinset.explain(
        options("explain", settings), source.data, None if other is None else others.data, ids, progress
    )
    told = dict(json.loads(given))
    told["left"]["id"], told["right"]["id"] = left, right
    return told


def tune(
    data: Data, other: Data = None, *, truth: Data = None, progress: bool = False, **settings: Unpack[TuneSettings]
) -> pa.Table | None:
    """How many pairs and groups each threshold gives, as a table.

    >>> tune(["a b c d", "a b c e", "a b c d"]).column_names[:2]
    ['threshold', 'pairs']
    """
    left = Source(data, settings)
    right = left if other is None else Source(other, settings)
    pairs = None if truth is None else _truth(truth, (left, right))
    table = _twinset.tune(options("tune", settings), left.data, None if other is None else right.data, pairs, progress)
    return None if table is None else renamed(table, {"left": left, "right": right})


def _truth(truth: Data, sources: tuple[Source, Source]) -> Any:
    """True pairs, in a file or the first two columns of a table, or as tuples."""
    needed = "true pairs are two columns, those of the left and the right records, or tuples of both"
    if isinstance(truth, (list, tuple)) and truth and isinstance(truth[0], (list, tuple)):
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in truth):
            raise ValueError(needed)
        truth = {"left": [left for left, _ in truth], "right": [right for _, right in truth]}
    pairs = Source(truth, {})
    if pairs.table is None:
        return pairs.data
    if pairs.table.num_columns < 2:
        raise ValueError(needed)
    columns = [[source.named(record) for record in pairs.table.column(at).to_pylist()] for at, source in enumerate(sources)]
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(("left", "right"), columns)})


def sketch(
    data: Data, *, output: Path | None = None, progress: bool = False, **settings: Unpack[SketchSettings]
) -> pa.Table | None:
    """Sketches of records, as a table, or in a file that ends in `.sketch`: `join(file, method="minhash")` reads it in place of texts.

    >>> sketch(["one two three", "four"], permutations=4).column_names
    ['id', 'sketch']
    """
    source = Source(data, settings)
    written = _twinset.sketch(options("sketch", settings), source.data, output, progress)
    if output is not None:
        return None
    sketches = pyarrow.parquet.read_table(io.BytesIO(written))
    if source.table is None:
        return sketches
    return sketches.set_column(0, "id", source.names(sketches.column("id").cast(pa.int64())))


def profile(*sources: Path, progress: bool = False, **settings: Unpack[ProfileSettings]) -> Any:
    """Similar columns, contained columns and foreign keys of tables and XML documents, as a table.

    Sources are folders of csv and parquet files, SQLite files, databases by their addresses, and XML files. With `export=`
    a text.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     customers, orders = (pathlib.Path(folder, name) for name in ("customers.csv", "orders.csv"))
    ...     _ = customers.write_text("id,name\\n" + "".join(f"{n},name{n}\\n" for n in range(100)))
    ...     _ = orders.write_text("order,customer\\n" + "".join(f"{n},{n % 50}\\n" for n in range(100)))
    ...     relations = profile(folder)
    >>> relations.select(["kind", "left", "right"]).to_pylist()[0]
    {'kind': 'foreign-key', 'left': 'orders.customer', 'right': 'customers.id'}
    """
    return _twinset.profile(options("profile", settings), [path(source) for source in sources], progress)


def _list_settings(function: Any, settings: Any) -> None:
    """Adds to what `help` tells of a function."""
    names = ", ".join(f"`{name}`" for name in settings.__annotations__)
    function.__doc__ = f"{function.__doc__}\n    Settings, which `twinset {function.__name__} --help` explains: {names}.\n    "


_list_settings(join, JoinSettings)
_list_settings(dedup, DedupSettings)
_list_settings(explain, ExplainSettings)
_list_settings(tune, TuneSettings)
_list_settings(sketch, SketchSettings)
_list_settings(profile, ProfileSettings)
