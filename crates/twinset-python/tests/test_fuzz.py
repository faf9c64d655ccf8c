"""Whatever a program hands over gives a result, or is refused by one of the documented exceptions; nothing panics."""

import datetime
import decimal
import os

import pyarrow
import pytest
import twinset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: What a call may raise: settings and values that make no sense, and what could not be done.
REFUSALS = (TypeError, ValueError, twinset.TwinsetError)

#: The same examples every time, unless more are asked for.
EXAMPLES = int(os.environ.get("TWINSET_EXAMPLES", "60"))
fuzzed = settings(
    max_examples=EXAMPLES,
    derandomize="TWINSET_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

texts = st.one_of(st.sampled_from(["the cat sat", "the cat sat down", "a cat", "", "größer ﬁn", "a\nb", "\ud800"]), st.text(max_size=20))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    texts,
    st.binary(max_size=10),
    st.decimals(places=3),
    st.datetimes(),
    st.just(datetime.date(2026, 3, 1)),
    st.sampled_from([decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("-Infinity")]),
)
nested = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=3), st.tuples(inner, inner)),
    max_leaves=12,
)
kinds = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.list_(pyarrow.string()),
    pyarrow.large_list(pyarrow.large_string()),
    pyarrow.list_(pyarrow.string(), 2),
    pyarrow.int8(),
    pyarrow.uint64(),
    pyarrow.float16(),
    pyarrow.float64(),
    pyarrow.bool_(),
    pyarrow.null(),
    pyarrow.binary(),
    pyarrow.date32(),
    pyarrow.timestamp("ns", "Europe/Berlin"),
    pyarrow.duration("us"),
    pyarrow.decimal128(12, 3),
    pyarrow.struct([("a", pyarrow.string())]),
    pyarrow.map_(pyarrow.string(), pyarrow.int32()),
    pyarrow.time64("ns"),
]


@st.composite
def tables(draw):
    """A table of columns of any type, cut into chunks and sliced."""
    rows = draw(st.integers(0, 6))
    columns = {}
    for name in draw(st.lists(st.sampled_from(["id", "text", "n", "größe", ""]), min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(kinds))
        values = [draw(st.one_of(st.none(), scalars, st.lists(st.sampled_from(["a", "b", "c d"]), max_size=3))) for _ in range(rows)]
        try:
            columns[name] = pyarrow.array(values, kind)
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
            columns[name] = pyarrow.nulls(rows, kind)
    table = pyarrow.table(columns)
    start = draw(st.integers(0, rows))
    return draw(st.sampled_from([table, table.slice(start), pyarrow.concat_tables([table, table.slice(start)])]))


#: A text alone would be the path of a file.
data = st.one_of(
    st.lists(texts, max_size=6),
    st.lists(st.lists(texts, max_size=4), max_size=4),
    st.lists(st.dictionaries(st.sampled_from(["id", "text", "n"]), scalars, max_size=3), max_size=5),
    st.dictionaries(st.sampled_from(["id", "text", "n"]), st.lists(scalars, max_size=4), max_size=3),
    tables(),
    nested.filter(lambda value: not isinstance(value, str)),
)


def setting(*usual):
    """A value that is usual, or any other."""
    return st.one_of(st.sampled_from(usual), st.sampled_from(usual), nested)


#: No setting here names a file, and none asks for more than this machine has.
names = {
    "threshold": setting(0.8, "0.5", "1/3", 2, 0, 1.5, float("inf")),
    "measure": setting("jaccard", "cosine", "overlap", "containment", "hamming", "edit"),
    "algorithm": setting("auto", "naive", "ppjoin+", "scan"),
    "max_depth": setting(0, 2, 2**32),
    "empty": setting(True, False),
    "top": setting(0, 1, 10, 2**63),
    "best": setting(True),
    "method": setting("exact", "sketch", "labels", "synopses"),
    "permutations": setting(1, 64, 0),
    "agree": setting(1, 60, 1000),
    "probability": setting(0.5, 0.99, 0, 1),
    "verify": setting(True),
    "seed": setting(0, 2**64 - 1),
    "size": setting(1, 64, 0),
    "trees": setting(1, 20, 0),
    "bits": setting(1, 50, 65),
    "tokens": setting("words", "qgrams:3", "shingles:2", "lines", "items"),
    "repeats": setting("ignore", "number"),
    "stem": setting("english", "xx"),
    "reduce": setting("minwise:2", "mod:2", "mod:0"),
    "text": setting("text", ["text", "n"], "none"),
    "id": setting("id", "n"),
    "no_header": setting(True),
    "delimiter": setting(",", ";;"),
    "encoding": setting("utf-8", "latin1"),
    "page": setting("main"),
    "max_record": setting("1K", 1),
    "memory": setting("64M", "1"),
    "threads": st.sampled_from([1, 2, 0, -1, "x"]),
    "format": setting("csv", "parquet"),
    "unknown": setting(1),
}
few = st.dictionaries(st.sampled_from(sorted(names)), st.none(), max_size=4).flatmap(
    lambda chosen: st.fixed_dictionaries({"threshold": names["threshold"], **{name: names[name] for name in chosen}})
)


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """Texts that turn out to be names of files are those of an empty folder."""
    monkeypatch.chdir(tmp_path)


def refused_or(call):
    """The result of a call, or `None` if it was refused as documented."""
    try:
        return call()
    except REFUSALS as error:
        assert "twinset has a fault" not in str(error), error
        return None


@fuzzed
@given(data, st.one_of(st.none(), data), few)
def test_join(left, right, given_settings):
    pairs = refused_or(lambda: twinset.join(left, right, **given_settings))
    if pairs is not None:
        assert isinstance(pairs, int) or pairs.column_names[:2] == ["left", "right"]


@fuzzed
@given(data, few, st.dictionaries(st.sampled_from(["keep", "link", "same"]), setting("longest", "central", "max:n", "any"), max_size=2))
def test_dedup(records, given_settings, more):
    found = refused_or(lambda: twinset.dedup(records, **given_settings, **more))
    if found is not None:
        assert found.kept.num_rows + found.removed.num_rows == found.groups.num_rows


@fuzzed
@given(data, scalars, scalars, few)
def test_explain(records, left, right, given_settings):
    told = refused_or(lambda: twinset.explain(records, left, right, **given_settings))
    assert told is None or "measures" in told


@fuzzed
@given(data, st.one_of(st.none(), data), few)
def test_tune(records, truth, given_settings):
    refused_or(lambda: twinset.tune(records, truth=truth, **given_settings))


@fuzzed
@given(data, few)
def test_sketch(records, given_settings):
    given_settings.pop("threshold")
    refused_or(lambda: twinset.sketch(records, **given_settings))


@fuzzed
@given(st.lists(st.one_of(st.sampled_from(["a.csv", "b.csv", "missing", "."]), scalars), max_size=3), few)
def test_profile(sources, given_settings):
    with open("a.csv", "w") as a, open("b.csv", "w") as b:
        a.write("id,n\n1,x\n2,y\n")
        b.write("a_id,m\n1,\n2,z\n")
    paths = [source for source in sources if not isinstance(source, str) or source.isidentifier() or source in ("a.csv", "b.csv", ".")]
    refused_or(lambda: twinset.profile(*paths, **given_settings))


@settings(fuzzed, max_examples=EXAMPLES // 4)
@given(st.sampled_from(["labels", "synopses"]), data, data, few, texts)
def test_index(tmp_path_factory, kind, added, others, given_settings, text):
    index = twinset.Index.create(tmp_path_factory.mktemp("index") / "kept", kind=kind)
    refused_or(lambda: index.add(added))
    refused_or(lambda: index.query(others, **given_settings))
    refused_or(lambda: index.query(like=text, threshold=0.5))
    refused_or(lambda: index.remove(text))
    refused_or(lambda: index.join(**given_settings))
    refused_or(lambda: index.count(**given_settings))
    assert len(index) >= 0
    index.check()
