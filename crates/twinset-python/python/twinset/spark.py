"""Near duplicates in DataFrames of Spark: the same pairs and groups as on one machine, of as many records as a cluster holds.

    from twinset import spark as twins

    kept = twins.dedup(docs, threshold=0.8, tokens="shingles:5").kept

Works with Spark 3.5 and 4, by the DataFrame API alone. Records have a column `id`, or the one that `id=` names, which is different for
each, and `text` or `tokens` (a list of texts), or the one that `text=` names. Settings are the options of `twinset join`; docs/spark.md lists them, and says what is computed when, and at what cost.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

try:
    from pyspark.sql import Column, DataFrame, SparkSession, Window
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BinaryType, BooleanType, DoubleType, StringType, StructField, StructType
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"twinset.spark needs PySpark ({error}): `pip install pyspark`", name=error.name) from None

from . import _shuffle
from . import sketch as _sketch
from ._options import options
from ._twinset import Shuffle, TwinsetError

__all__ = ["Deduplicated", "dedup", "join", "sketch"]

#: So many frequent tokens are known to every task, and more if more are in a crowd of records. All others count as rare.
FREQUENT = 100_000
#: More cards than these are not held by one task: what would be a larger meeting is split.
CROWD = 50_000
#: Hashes of tokens are tried with so many salts. A single collision among a billion tokens has a probability of 3%.
SALTS = 5
#: So many edges of groups are dealt with in a task.
EDGES = 2_000_000
#: The columns of a pair's value.
VALUES = ("value", "low", "high")


def join(df: DataFrame, other: DataFrame | None = None, *, id: str = "id", text: str | None = None, **settings: Any) -> DataFrame:
    """All pairs of records at or above a threshold, in one collection or between two: `left`, `right`, `similarity`.

    Distances (`measure="hamming"`) are called `distance`; estimates (`method="minhash"`) have `low` and `high` as well. In one
    collection, `left` is the smaller id. Ids are checked and tokens are counted when this is called; pairs are looked for when they
    are needed.

    >>> docs = spark.createDataFrame([(1, "the old bridge"), (2, "The old bridge!"), (3, "a new library")], "id long, text string")
    >>> join(docs, threshold=0.8).collect()
    [Row(left=1, right=2, similarity=1.0)]
    """
    collections = [_records(one, id, text) for one in ([df] if other is None else [df, other])]
    search = _Search(collections, settings)
    members = [search.members(records) for records in collections]
    left, right = _as(members[0], "left", "id"), _as(members[-1], "right", "id")
    found = search.pairs().join(left, "left").join(right, "right").select("left_id", "right_id", *VALUES)
    twins = members[0].filter("twins").withColumnsRenamed({"set": "left", "id": "left_id"})
    twins = twins.join(right, F.col("left") == F.col("right")).select("left_id", "right_id", *VALUES)
    if other is None:
        # A record is its own twin, and is no pair.
        found, twins = (rows.filter(F.col("left_id") != F.col("right_id")) for rows in (found, twins))
    if other is None and search.measure != "containment":
        found = found.withColumns({"left_id": F.least("left_id", "right_id"), "right_id": F.greatest("left_id", "right_id")})
        twins = twins.filter(F.col("left_id") < F.col("right_id"))
    return found.unionByName(twins).select(F.col("left_id").alias("left"), F.col("right_id").alias("right"), *search.values())


class Deduplicated:
    """What became of records. All of it is made when it is needed; the groups are found already, and kept until :meth:`unpersist`."""

    def __init__(self, kept: DataFrame, removed: DataFrame, groups: DataFrame, cached: list[DataFrame]) -> None:
        #: The records that were kept, as they stood.
        self.kept = kept
        #: The records that were removed.
        self.removed = removed
        #: For each `record` its `representative`, which is itself if it is kept, and how alike the two are.
        self.groups = groups
        self._cached = cached

    def unpersist(self) -> None:
        """Forgets what was found; what is asked for afterwards is computed again."""
        for frame in self._cached:
            frame.unpersist()


def dedup(df: DataFrame, *, id: str = "id", text: str | None = None, keep: str = "first", link: str = "any", **settings: Any) -> Deduplicated:
    """A collection without its near duplicates: of all that pairs connect, one record is kept.

    `keep`: `"first"` (the one with the smallest id), `"longest"` (text), `"max:COLUMN"` or `"min:COLUMN"`. Ties go to the smaller id.

    >>> docs = spark.createDataFrame([(1, "the old bridge"), (2, "The old bridge!"), (3, "a new library")], "id long, text string")
    >>> found = dedup(docs, threshold=0.8)
    >>> found.kept.orderBy("id").collect()
    [Row(id=1, text='the old bridge'), Row(id=3, text='a new library')]
    >>> found.unpersist()
    """
    if link != "any":
        raise ValueError("records on many machines are linked by all pairs: leave out link=, or use twinset.dedup")
    records = _records(df, id, text, preference=_preference(df, keep, text))
    search = _Search([records], settings)
    roots = _components(search.pairs())
    members = search.members(records).join(roots, "set", "left")
    # Records without any pair stand alone, also beside others that are the same.
    group = [F.when(F.col("twins"), F.coalesce("root", "set")), F.when(~F.col("twins"), F.col("id"))]
    preference = F.asc_nulls_last("preference") if keep.startswith("min:") else F.desc_nulls_last("preference")
    first = Window.partitionBy(*group).orderBy(preference, "id")
    members = members.withColumns({"representative": F.first("id").over(first), "chosen": F.first("set").over(first)})
    members = members.drop("root", "preference").persist()
    # How alike records and their representatives are, as these are not always pairs.
    chosen = members.filter("set != chosen").select(F.col("set").alias("left"), F.col("chosen").alias("right")).distinct()
    values = search.compared(chosen, _shuffle.liken).withColumnsRenamed({"left": "set", "right": "chosen", **{name: f"found_{name}" for name in VALUES}})
    groups = members.join(values, ["set", "chosen"], "left").withColumns({name: F.coalesce(f"found_{name}", name) for name in VALUES})
    groups = groups.select(F.col("id").alias("record"), "representative", *search.values())
    chosen = members.filter(F.col("id") == F.col("representative")).select(F.col("id").alias("kept id"))
    kept, removed = (df.join(chosen, _column(id) == F.col("kept id"), how) for how in ("left_semi", "left_anti"))
    return Deduplicated(kept, removed, groups, [roots, members])


def sketch(df: DataFrame, *, id: str = "id", text: str | None = None, **settings: Any) -> DataFrame:
    """Sketches of records, `id` and `sketch`: the same bytes as `twinset sketch` makes. Nothing is computed before it is needed."""
    _sketch([], **settings)  # Settings that make no sense are refused here.
    _use_own_interpreter(df.sparkSession)
    records = _records(df, id, text).select("id", "text")
    schema = StructType([records.schema["id"], StructField("sketch", BinaryType())])
    return records.mapInArrow(functools.partial(_sketched, settings={**settings, "threads": 1}), schema)


def _sketched(batches: _shuffle.Batches, settings: Mapping[str, Any]) -> _shuffle.Batches:
    for rows in batches:
        table = pa.Table.from_batches([rows])
        sketched: Any = _sketch(table.select(["text"]), **settings)
        sketches = sketched["sketch"].cast(pa.binary())
        for batch in pa.table([table["id"], sketches], names=["id", "sketch"]).to_batches():
            yield batch


class _Search:
    """A join of one or two collections of `id` and `text`."""

    def __init__(self, collections: list[DataFrame], settings: Mapping[str, Any]) -> None:
        kinds = {records.schema["text"].dataType.simpleString() for records in collections}
        if len(kinds) > 1:
            raise TypeError(f"texts are compared with texts, and lists of tokens with lists, not {' with '.join(sorted(kinds))}")
        are_tokens = isinstance(collections[0].schema["text"].dataType, ArrayType)
        settings = {"tokens": "lines", **settings} if are_tokens else settings
        self.texts = [records.select("text") for records in collections]
        shuffle = Shuffle(options("join", settings), len(collections) == 2)
        self.measure, self.is_estimated = shuffle.values()
        self.is_distance = self.measure == "hamming"
        _use_own_interpreter(collections[0].sparkSession)
        for records in collections:
            _check_ids(records)
        with _package_on_workers():
            shuffle = self._ordered(shuffle)
        # Without the order of tokens, which is large, and not needed for this.
        self.plain = shuffle.salted(shuffle.salt)
        self.sets = [self._sets(texts) for texts in self.texts]
        self.shuffle = self._split(shuffle)

    def _ordered(self, shuffle: Shuffle) -> Shuffle:
        """The join with tokens in order of frequency. Those that are in many records are taken to be crowded."""
        for salt in range(SALTS):
            shuffle = shuffle.salted(salt)
            counts = _union(self.texts).mapInArrow(
                functools.partial(_shuffle.count, shuffle=shuffle), "token long, records long, low long, high long"
            )
            counts = counts.groupBy("token").agg(F.sum("records").alias("records"), (F.min("low") != F.max("high")).alias("collides"))
            counts = counts.filter("records > 1").persist()
            is_crowd = F.col("records") > CROWD
            (totals,) = counts.agg(F.sum("records").alias("records"), F.sum(is_crowd.cast("long")).alias("crowds")).collect()
            wanted = max(FREQUENT, totals.crowds or 0)
            # One task sorts them, so there must not be billions: no more than fifty times what is wanted occur so often.
            often = (totals.records or 0) // (50 * wanted)
            counts_of_many = counts.filter(F.col("collides") | is_crowd | (F.col("records") >= often))
            frequent = counts_of_many.orderBy(F.desc("collides"), F.desc("records"), "token").limit(wanted).collect()
            counts.unpersist()
            if not any(row.collides for row in frequent):
                crowded = [(row.token, 2) for row in frequent if row.records > CROWD]
                return shuffle.ordered([row.token for row in reversed(frequent)], crowded)
        raise TwinsetError("tokens have the same hashes, whatever the salt: these texts were made for that")

    def _split(self, shuffle: Shuffle) -> Shuffle:
        """The join with meetings split that are crowded indeed."""
        if not shuffle.parts and not self.is_distance:
            return shuffle
        counts = self._each(_shuffle.crowds, "token long", shuffle).groupBy("token").count()
        crowds = counts.filter(F.col("count") > CROWD).collect()
        return shuffle.split(sorted((row["token"], -(-row["count"] // CROWD)) for row in crowds))

    def _sets(self, texts: DataFrame) -> DataFrame:
        """The different sets of a collection: `set`, `tokens`."""
        sets = texts.mapInArrow(functools.partial(_shuffle.sets, shuffle=self.plain), "set binary, tokens binary")
        # As joins filter, so that all that is made of it reads the same shuffle.
        return sets.filter("set is not null").dropDuplicates(["set"])

    def _each(self, work: Callable[..., _shuffle.Batches], schema: str, shuffle: Shuffle) -> DataFrame:
        """What a function makes of the sets of all collections."""
        frames = [
            sets.mapInArrow(functools.partial(work, shuffle=shuffle, is_right=position == 1), schema)
            for position, sets in enumerate(self.sets)
        ]
        return _union(frames)

    def pairs(self) -> DataFrame:
        """Pairs of different sets: `left`, `right`, `value`, `low`, `high`."""
        cards = self._each(_shuffle.cards, "meeting long, card binary", self.shuffle)
        met = cards.repartition("meeting").sortWithinPartitions("meeting")
        met = met.mapInArrow(functools.partial(_shuffle.meet, shuffle=self.shuffle), "left binary, right binary").distinct()
        return self.compared(met, _shuffle.compare)

    def compared(self, met: DataFrame, work: Callable[..., _shuffle.Batches]) -> DataFrame:
        """What a function makes of the tokens of sets, `left` and `right`."""
        sets = self.sets[0] if len(self.sets) == 1 else _union(self.sets).dropDuplicates(["set"])
        near = met.join(_as(sets, "left", "tokens"), "left").join(_as(sets, "right", "tokens"), "right")
        return near.mapInArrow(
            functools.partial(work, shuffle=self.plain), "left binary, right binary, value double, low double, high double"
        )

    def members(self, records: DataFrame) -> DataFrame:
        """What else records have, with the `set` of each, whether those that share it are `twins`, and with which value."""
        fields = [field for field in records.schema.fields if field.name != "text"]
        values = [StructField(name, DoubleType()) for name in VALUES]
        schema = StructType([*fields, StructField("set", BinaryType()), StructField("twins", BooleanType()), *values])
        return records.mapInArrow(functools.partial(_shuffle.names, shuffle=self.plain), schema)

    def values(self) -> list[Column]:
        """The columns of values, as the user sees them."""
        if self.is_estimated:
            return [F.col("value").alias("similarity"), F.col("low"), F.col("high")]
        value = F.col("value").cast("long") if self.measure in ("overlap", "hamming") else F.col("value")
        return [value.alias("distance" if self.is_distance else "similarity")]


def _records(df: DataFrame, id: str, text: str | None, **more: Column) -> DataFrame:
    """A collection as `id` and `text`, and what more is asked for."""
    text = _text_name(df, text)
    for name in (id, text):
        if name not in df.columns:
            raise ValueError(f"there is no column `{name}`; the columns are {', '.join(df.columns)}")
    kind = df.schema[text].dataType
    if not isinstance(kind.elementType if isinstance(kind, ArrayType) else kind, StringType):
        raise TypeError(f"the column `{text}` is a {kind.simpleString()}; texts are string, and lists of tokens array<string>")
    columns = {"id": _column(id), "text": _column(text), **more}
    return df.select(*(column.alias(name) for name, column in columns.items()))


def _check_ids(records: DataFrame) -> None:
    """Every record has an id of its own."""
    for row in records.groupBy("id").count().filter("id is null or count > 1").take(1):
        if row["id"] is None:
            raise ValueError("there are records without an id; each needs one")
        raise ValueError(f"the id {row['id']!r} names {row['count']} records; each needs one of its own")


def _preference(df: DataFrame, keep: str, text: str | None) -> Column:
    """By what a record of a group is preferred; nothing if only the ids matter."""
    how, _, name = keep.partition(":")
    if keep == "first":
        return F.lit(0)
    if keep == "longest":
        name = _text_name(df, text)
        is_list = isinstance(df.schema[name].dataType, ArrayType)
        return F.length(F.array_join(_column(name), "\n") if is_list else _column(name))
    if how in ("max", "min") and name in df.columns:
        kind = df.schema[name].dataType.simpleString()
        is_missing = F.isnan(_column(name)) if kind in ("float", "double") else F.trim(_column(name)) == "" if kind == "string" else F.lit(False)
        return F.when(~is_missing, _column(name))
    if how in ("max", "min") and name:
        raise ValueError(f"there is no column `{name}`; the columns are {', '.join(df.columns)}")
    if keep == "central":
        raise ValueError("which record has most pairs is not counted on many machines: keep first, longest, max:COLUMN or min:COLUMN")
    raise ValueError(f"{keep!r} is no record to keep: first, longest, max:COLUMN or min:COLUMN")


def _text_name(df: DataFrame, text: str | None) -> str:
    return text or ("tokens" if "text" not in df.columns and "tokens" in df.columns else "text")


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def _use_own_interpreter(session: SparkSession) -> None:
    """In local mode, runs workers by the interpreter of the driver, which may be that of a virtual environment, unless another is named."""
    context = getattr(session, "sparkContext", None)
    if context is None or not context.master.startswith("local") or context.getConf().get("spark.pyspark.python"):
        return
    if "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable


@contextlib.contextmanager
def _package_on_workers() -> Iterator[None]:
    """Reports in one sentence that workers lack the package."""
    try:
        yield
    except Exception as error:
        if "No module named 'twinset" not in str(error):
            raise
        raise TwinsetError(
            "the Python of Spark's workers has no package `twinset`: install it there, or name an interpreter that has it by "
            "spark.pyspark.python or PYSPARK_PYTHON"
        ) from None


def _union(frames: list[DataFrame]) -> DataFrame:
    return functools.reduce(lambda one, other: one.unionByName(other), frames)


def _as(frame: DataFrame, side: str, *columns: str) -> DataFrame:
    """Rows by their sets, as one side of pairs."""
    return frame.select(F.col("set").alias(side), *(F.col(name).alias(f"{side}_{name}") for name in columns))


def _components(pairs: DataFrame) -> DataFrame:
    """For each `set` that a pair reaches the smallest that is connected with it, its `root`. It is persisted.

    Rounds of large-star and small-star (Kiveris et al.), in which every set turns to the smallest one that it sees, until all trees are
    stars. Their number grows with the logarithm of the longest chain. A round names the edges before it once, so that plans grow no faster.
    """
    edges = pairs.select(F.greatest("left", "right").alias("set"), F.least("left", "right").alias("root")).distinct().persist()
    parts = edges.count() // EDGES + 1
    smallest = F.min("root").over(Window.partitionBy("set"))
    with _plain_plans(edges.sparkSession):
        while _unsettled(edges, parts):
            before, both = edges, _edges(edges, ("set", "root"), ("root", "set"))
            turned = both.repartition(parts, "set").withColumn("smallest", F.least("set", smallest)).filter("root > set")
            large = turned.select(F.col("root").alias("set"), F.col("smallest").alias("root"))
            turned = large.repartition(parts, "set").withColumn("smallest", smallest)
            edges = _edges(turned, ("set", "smallest"), ("root", "smallest")).filter("set != root")
            edges = edges.repartition(parts, "set").distinct().persist()
            edges.count()
            before.unpersist()
    return edges


@contextlib.contextmanager
def _plain_plans(session: SparkSession) -> Iterator[None]:
    """While plans are made whose texts do not double with every round, as those do that adapt themselves: they tell what is cached twice."""
    name = "spark.sql.adaptive.enabled"
    before = str(session.conf.get(name))
    session.conf.set(name, "false")
    try:
        yield
    finally:
        session.conf.set(name, before)


def _edges(frame: DataFrame, *ends: tuple[str, str]) -> DataFrame:
    """For each row so many edges, from one of its columns to another."""
    pairs = (F.struct(F.col(one).alias("set"), F.col(other).alias("root")) for one, other in ends)
    return frame.select(F.explode(F.array(*pairs)).alias("edge")).select("edge.*")


def _unsettled(edges: DataFrame, parts: int) -> bool:
    """Whether a set sees several others, or is seen while it sees one itself."""
    ends = F.array(
        F.struct(F.col("set"), F.lit(1).alias("sees"), F.lit(0).alias("is_seen")),
        F.struct(F.col("root").alias("set"), F.lit(0).alias("sees"), F.lit(1).alias("is_seen")),
    )
    ends_of_sets = edges.select(F.explode(ends).alias("end")).select("end.*").repartition(parts, "set").groupBy("set")
    sets = ends_of_sets.agg(F.sum("sees").alias("sees"), F.sum("is_seen").alias("is_seen"))
    return bool(sets.filter("sees > 1 or (sees > 0 and is_seen > 0)").take(1))
