"""The settings of each function: the options of its command, with `_` for `-`."""

import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypedDict

#: Texts, token lists, records, columns, a data frame, an Arrow table or reader, a dataset, or the path of a file.
Data = Any
Path = str | os.PathLike[str]
#: A decimal or a fraction; a float means its shortest decimal, so 0.8 is 4/5.
Number = int | float | str | Decimal | Fraction
Measure = Literal["jaccard", "cosine", "dice", "overlap", "containment", "hamming", "edit"]
Algorithm = Literal["auto", "naive", "allpairs", "ppjoin", "ppjoin+", "prefix", "scan"]
UnicodeForm = Literal["nfkc", "nfc", "none"]
Method = Literal["exact", "minhash", "lsh", "kmv", "sketch", "labels", "synopses"]


class RunSettings(TypedDict, total=False):
    """How much of the machine is used."""

    threads: int
    memory: int | str


class CutSettings(TypedDict, total=False):
    """What the tokens of a text are, without their Unicode form."""

    tokens: str
    repeats: Literal["number", "ignore"]
    stem: str
    stop_words: Path
    reduce: str


class TokenSettings(CutSettings, total=False):
    """What the tokens of a text are."""

    normalize: UnicodeForm


class RdfSettings(TypedDict, total=False):
    """How RDF becomes records."""

    resources: str
    ignore_predicate: str | list[str]
    map: Path
    blank_nodes: Literal["structure", "id"]
    depth: int
    literals: str
    allow_entities: bool


class ReadSettings(RdfSettings, total=False):
    """Which fields are compared; how files are read."""

    text: str | list[str]
    format: str
    delimiter: str
    no_header: bool
    encoding: str
    page: Literal["main", "text"]
    rejects: Path
    max_record: int | str
    max_unpacked: int | str
    limit: str | list[str]


class RecordSettings(ReadSettings, total=False):
    """The same, and what names the records."""

    id: str


class PairSettings(TypedDict, total=False):
    """Which pairs are found, by which algorithm."""

    threshold: Number
    measure: Measure
    algorithm: Algorithm
    max_depth: int
    empty: bool
    top: int
    best: bool


class MethodSettings(TypedDict, total=False):
    """How sure one wants to be."""

    method: Method
    permutations: int
    agree: int
    probability: float
    verify: bool
    seed: int
    size: int
    trees: int
    bits: int


class TableSettings(TypedDict, total=False):
    """Where a table is written, if not to memory."""

    output: Path
    output_format: Literal["csv", "jsonl", "parquet"]


class JoinSettings(PairSettings, MethodSettings, TokenSettings, RecordSettings, TableSettings, RunSettings, total=False):
    """Of `join`."""

    show: str | list[str]
    same: str
    count: bool
    stats: Path


class DedupSettings(PairSettings, MethodSettings, TokenSettings, RecordSettings, RunSettings, total=False):
    """Of `dedup`."""

    keep: str
    link: Literal["any", "representative"]
    against_only: bool
    same: str
    sketches: Path
    output: Path
    removed: Path
    report: Path
    show: str | list[str]
    stats: Path


class ExplainSettings(PairSettings, TokenSettings, RecordSettings, RunSettings, total=False):
    """Of `explain`."""

    verbose: bool


class TuneSettings(TokenSettings, RecordSettings, TableSettings, RunSettings, total=False):
    """Of `tune`."""

    threshold: Number
    measure: Measure
    best: bool
    report: Path


class SketchSettings(TokenSettings, RecordSettings, RunSettings, total=False):
    """Of `sketch`."""

    permutations: int
    seed: int


class ProfileSettings(CutSettings, TableSettings, RunSettings, total=False):
    """Of `profile`."""

    threshold: Number
    containment: Number
    score: float
    top: int
    no_check: bool
    size: int
    seed: int
    schema: str | list[str]
    table: str | list[str]
    views: bool
    timeout: int
    state: str
    format: str
    delimiter: str
    no_header: bool
    encoding: str
    max_record: int | str
    max_unpacked: int | str
    limit: str | list[str]
    normalize: str
    normalize_text: UnicodeForm
    null: str | list[str]
    empty_values: bool
    text_columns: str | list[str]
    report: Path
    features: Path
    export: Literal["sql", "mermaid", "json"]
    save: Path
    since: Path


class CreateSettings(TokenSettings, RdfSettings, RunSettings, total=False):
    """Of `Index.create`."""

    seed: int
    trees: int
    bits: int
    size: int


class AddSettings(TokenSettings, RecordSettings, RunSettings, total=False):
    """Of `Index.add`."""

    merge: bool
    field: str | list[str]
    batch: int


class EstimateSettings(TableSettings, RunSettings, total=False):
    """How an index is asked."""

    probability: float
    measure: Measure
    algorithm: Literal["or", "frontier", "pivot", "optimistic"]
    size: int
    min_overlap: int
    originals: Path
    originals_id: str
    recall: float


class IndexJoinSettings(EstimateSettings, RecordSettings, total=False):
    """Of `Index.join`."""

    threshold: Number


class QuerySettings(EstimateSettings, TokenSettings, ReadSettings, total=False):
    """Of `Index.query`, beside what is asked."""

    threshold: Number
    like_column: str
    show: str | list[str]


class CountSettings(EstimateSettings, TokenSettings, RecordSettings, total=False):
    """Of `Index.count`, beside its thresholds."""

    like: str
