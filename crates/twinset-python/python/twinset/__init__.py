"""Finds near duplicates: every pair at or above a threshold, none missing; or with a probability that you choose.

>>> import twinset
>>> titles = ["The old bridge was closed", "the old bridge was closed!", "A new library opens"]
>>> twinset.join(titles, threshold=0.8).to_pylist()
[{'left': 0, 'right': 1, 'similarity': 1.0}]

Functions take lists of texts, lists of token lists, dictionaries, data frames of pandas and Polars, Arrow tables and
readers, datasets of Hugging Face, and paths of files, and return Arrow tables. Settings are those of the command
`twinset`, by the names of its flags, with `_` for `-`.
"""

import csv
import importlib
import io
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from . import _words
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
from ._tables import Source, renamed
from ._twinset import Place, TwinsetError, __version__

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
    places = [left.word] if other is None else [left.word, right.word]
    (pairs,) = _words.run(["join"], places, settings, progress)
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
    source, given = Source(data, settings), dict(settings)
    for name in ("groups", "count", "stream", "window"):
        if given.get(name) not in (None, False):
            raise ValueError(f"{name}= is asked of the command alone: what is returned has all groups, and tells what is kept")
    given["groups"] = _words.Given(Place())
    other = None if against is None else Source(against, settings)
    if other is not None:
        given["against"] = _words.Given(other.word)
    kept = removed = None
    if source.table is None:
        given["count"] = not given.get("output")
        if given["count"] and given.get("removed"):
            raise ValueError("records of files are written to two files, or to none: name that of the kept ones too, by output=")
        _, groups = _words.run(["dedup"], source.words, given, progress)
    else:
        if given.get("output") or given.get("removed"):
            raise ValueError("rows of a table are returned, and not written: write what is kept or removed to a file of your own")
        given["removed"] = _words.Given(Place())
        kept, groups, removed = _words.run(["dedup"], source.words, given, progress)
    groups = renamed(groups, {"record": source})
    groups = renamed(groups, {"representative": source}) if other is None else _with_sides(groups, source, other)
    return Deduplicated(kept, removed, groups)


def _with_sides(groups: pa.Table, own: Source, other: Source) -> pa.Table:
    """Groups whose representatives are of two collections; the column `against` tells of which."""
    position = groups.schema.get_field_index("against")
    is_other = pc.equal(groups.column(position), 1)
    groups = groups.set_column(position, "against", is_other)
    names, nobody = groups.column("representative"), pa.scalar(None, pa.string())
    ours, theirs = (source.given(pc.if_else(mask, names, nobody)) for source, mask in ((own, pc.invert(is_other)), (other, is_other)))
    if ours.type != theirs.type:
        ours, theirs = ours.cast(pa.string()), theirs.cast(pa.string())
    position = groups.schema.get_field_index("representative")
    return groups.set_column(position, "representative", pc.if_else(is_other, theirs, ours))


def explain(
    data: Data, left: Any, right: Any, *, progress: bool = False, **settings: Unpack[ExplainSettings]
) -> dict[str, Any]:
    """Why two records are, or are not, a pair: sizes, common and different tokens, every measure, the filters they pass.

    >>> told = explain(["a b c d", "a b c e"], 0, 1, threshold=0.6)
    >>> told["measures"]["jaccard"]
    0.6
    """
    source = Source(data, settings)
    places = [source.word, source.named(left), source.named(right)]
    (printed,) = _words.run(["explain", "--json"], places, settings, progress)
    told = dict(json.loads(printed))
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
    places = [left.word] if other is None else [left.word, right.word]
    with tempfile.TemporaryDirectory() as folder:
        given = dict(settings)
        if truth is not None:
            given["truth"] = _truth(truth, (left, right), folder)
        (table,) = _words.run(["tune"], places, given, progress)
    return None if table is None else renamed(table, {"left": left, "right": right})


def _truth(truth: Data, sources: tuple[Source, Source], folder: str) -> str:
    """The path of a file of true pairs; those in memory are the first two columns of a table, or tuples."""
    needed = "true pairs are two columns, those of the left and the right records, or tuples of both"
    if isinstance(truth, (list, tuple)) and truth and isinstance(truth[0], (list, tuple)):
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in truth):
            raise ValueError(needed)
        truth = {"left": [left for left, _ in truth], "right": [right for _, right in truth]}
    pairs = Source(truth, {})
    if pairs.table is None:
        return str(pairs.word)
    if pairs.table.num_columns < 2:
        raise ValueError(needed)
    columns = [
        [source.named(record) for record in pairs.table.column(at).to_pylist()] for at, source in enumerate(sources)
    ]
    path = os.path.join(folder, "truth.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(zip(*columns))
    return path


def sketch(
    data: Data, *, output: Path | None = None, progress: bool = False, **settings: Unpack[SketchSettings]
) -> pa.Table | None:
    """Sketches of records, as a table, or in a file that ends in `.sketch`: `join(file, method="minhash")` reads it in place of texts.

    >>> sketch(["one two three", "four"], permutations=4).column_names
    ['id', 'sketch']
    """
    source = Source(data, settings)
    place = _words.Given(Place(".sketch")) if output is None else output
    written = _words.run(["sketch"], source.words, {**settings, "output": place}, progress)
    if output is not None:
        return None
    return renamed(pyarrow.parquet.read_table(io.BytesIO(written[1])), {"id": source})


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
    (relations,) = _words.run(["profile"], [_words.text(source) for source in sources], settings, progress)
    return relations


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
