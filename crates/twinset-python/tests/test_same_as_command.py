"""Every measure, every method and every kind of input gives what the command gives."""

import pathlib

import pytest
import twinset
from conftest import command, same_rows

SETTINGS = [
    {"threshold": 0.6},
    {"threshold": "2/3", "tokens": "qgrams:3"},
    {"threshold": 0.5, "tokens": "shingles:2", "algorithm": "ppjoin+"},
    {"threshold": 0.8, "measure": "cosine"},
    {"threshold": 0.75, "measure": "dice", "repeats": "ignore"},
    {"threshold": 7, "measure": "overlap"},
    {"threshold": 0.7, "measure": "containment"},
    {"threshold": 4, "measure": "hamming"},
    {"threshold": 20, "measure": "edit"},
    {"threshold": 0.7, "method": "sketch", "permutations": 64},
    {"threshold": 0.7, "method": "sketch", "permutations": 64, "verify": True},
    {"threshold": 0.7, "method": "labels", "probability": 0.95},
    {"threshold": 0.7, "method": "synopses", "size": 32},
    {"top": 20},
    {"threshold": 0.6, "best": True, "stem": "english"},
]


def flags(settings):
    """Settings as one types them."""
    words = []
    for name, value in settings.items():
        words += [f"--{name}"] if value is True else [f"--{name}", value]
    return words


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: " ".join(map(str, settings.values())))
def test_settings(docs, records, settings):
    printed = command("join", docs, *flags(settings))
    for data in (records, docs):
        assert same_rows(twinset.join(data, **settings), printed) > 10


class Stream:
    """Something that has the Arrow C stream interface, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def kinds(records, docs):
    """The same records in everything that holds them."""
    import datasets
    import pandas
    import polars
    import pyarrow

    columns = {name: [record[name] for record in records] for name in ("id", "text")}
    table = pyarrow.table(columns)
    return {
        "records": records,
        "columns": columns,
        "pandas": pandas.DataFrame(columns),
        "polars": polars.DataFrame(columns),
        "stream": Stream(table),
        "polars chunks": polars.concat([polars.DataFrame(records[:100]), polars.DataFrame(records[100:])], rechunk=False),
        "arrow table": table,
        "arrow chunks": pyarrow.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)]),
        "arrow batch": table.combine_chunks().to_batches()[0],
        "arrow reader": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=50)),
        "arrow views": table.set_column(1, "text", table["text"].cast(pyarrow.string_view())),
        "datasets": datasets.Dataset.from_list(records),
        "datasets in another order": datasets.Dataset.from_list(records[::-1]).select(range(len(records) - 1, -1, -1)),
        "path": docs,
        "path as text": str(docs),
        "paths": [pathlib.Path(docs)],
    }


def test_kinds_of_input(docs, records):
    printed = command("join", docs, "--threshold", "0.6")
    for kind, data in kinds(records, docs).items():
        assert same_rows(twinset.join(data, threshold=0.6), printed) > 10, kind
    pairs, found = command("dedup", docs, "--threshold", "0.6", "--count"), {}
    for kind, data in kinds(records, docs).items():
        deduplicated = twinset.dedup(data, threshold=0.6)
        found[kind] = deduplicated.groups.to_pylist()
        if deduplicated.kept is not None:
            assert deduplicated.kept.num_rows == int(pairs), kind
            assert deduplicated.kept.num_rows + deduplicated.removed.num_rows == len(records), kind
    assert all(groups == found["records"] for groups in found.values())


def test_texts_have_positions(docs, records):
    texts = [record["text"] for record in records]
    ids = [record["id"] for record in records]
    pairs = twinset.join(docs, threshold=0.6).to_pylist()
    import numpy
    import pandas
    import polars
    import pyarrow

    for data in (texts, tuple(texts), iter(texts), pandas.Series(texts), polars.Series(texts), pyarrow.array(texts), numpy.array(texts)):
        found = twinset.join(data, threshold=0.6).to_pylist()
        assert [{**pair, "left": ids[pair["left"]], "right": ids[pair["right"]]} for pair in found] == pairs


def test_token_lists(docs, records):
    printed = command("join", docs, "--threshold", "0.6", "--tokens", "items")
    lists = {"id": [record["id"] for record in records], "text": [record["text"].split() for record in records]}
    assert same_rows(twinset.join(lists, threshold=0.6), printed) > 10
    import polars

    assert same_rows(twinset.join(polars.DataFrame(lists), threshold=0.6), printed) > 10
    # A token may have spaces in it, and is not cut.
    assert twinset.join([["New York", "Rome"], ["New", "York", "Rome"]], threshold=0.1).to_pylist() == [
        {"left": 0, "right": 1, "similarity": 0.25}
    ]


def test_two_collections(docs, records):
    half = len(records) // 2
    left, right = records[:half], records[half:]
    found = {(pair["left"], pair["right"]) for pair in twinset.join(left, right, threshold=0.6).to_pylist()}
    all_pairs = {(pair["left"], pair["right"]) for pair in twinset.join(docs, threshold=0.6).to_pylist()}
    ids = {record["id"] for record in left}
    assert found == {pair for pair in all_pairs if (pair[0] in ids) != (pair[1] in ids)}
    kept = twinset.dedup(left, against=right, threshold=0.6).kept.column("id").to_pylist()
    assert not {pair[0] for pair in found} & set(kept)


def test_representatives_of_two_collections(tmp_path):
    against = ["zz", "one two three four"]
    groups = twinset.dedup(["q", "r r", "r r", "one two three four"], against=against, threshold=0.5).groups
    assert groups.select(["record", "representative", "against"]).to_pylist() == [
        {"record": 0, "representative": 0, "against": False},
        {"record": 1, "representative": 1, "against": False},
        {"record": 2, "representative": 1, "against": False},
        {"record": 3, "representative": 1, "against": True},
    ]
    named = twinset.dedup(["one", "two"], against={"id": ["x"], "text": ["two"]}, threshold=0.5).groups
    assert named.column("representative").to_pylist() == ["0", "x"]
    # Records of files are their lines, from 1; those of a list are positions, from 0.
    (tmp_path / "own.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "other.txt").write_text("zz\ntwo\n")
    for other, representative in [(["zz", "two"], "1"), (tmp_path / "other.txt", "2"), ({"id": [7, 8], "text": ["zz", "two"]}, "8")]:
        groups = twinset.dedup(tmp_path / "own.txt", against=other, threshold=0.5).groups
        assert groups.select(["record", "representative", "against"]).to_pylist() == [
            {"record": "1", "representative": "1", "against": False},
            {"record": "2", "representative": representative, "against": True},
            {"record": "3", "representative": "3", "against": False},
        ]


def test_several_files(docs, records, tmp_path):
    lines = docs.read_text().splitlines(keepends=True)
    for name, part in (("a", lines[:150]), ("b", lines[150:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(part))
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert twinset.dedup(files, threshold=0.6).groups.equals(twinset.dedup(docs, threshold=0.6).groups)
    for call in (lambda: twinset.join(files, threshold=0.6), lambda: twinset.dedup(docs, against=files, threshold=0.6)):
        with pytest.raises(ValueError, match="a folder"):
            call()
    assert twinset.join(tmp_path, threshold=0.6).equals(twinset.join(docs, threshold=0.6))


def test_truth(docs, records, tmp_path):
    texts = [record["text"] for record in records]
    pairs = twinset.join(texts, threshold=0.6)
    tuned = twinset.tune(texts, truth=pairs, threshold=0.6)
    assert tuned.equals(twinset.tune(texts, truth=[(pair["left"], pair["right"]) for pair in pairs.to_pylist()], threshold=0.6))
    named = twinset.join(records, threshold=0.6)
    named.select(["left", "right"])
    twinset.join(records, threshold=0.6, output=tmp_path / "truth.csv")
    printed = command("tune", docs, "--truth", tmp_path / "truth.csv", "--threshold", "0.6")
    assert same_rows(twinset.tune(records, truth=named, threshold=0.6), printed) > 0
    assert max(tuned.column("f1").to_pylist()) == 1.0


def test_other_commands(docs, records, tmp_path):
    assert same_rows(twinset.tune(records), command("tune", docs)) > 5
    sample = next(row for row in twinset.tune([record["text"] for record in records]).to_pylist() if row["left"] is not None)
    assert isinstance(sample["left"], int) and sample["left"] < sample["right"]
    first, second = twinset.join(records, threshold=0.6).to_pylist()[0]["left"], records[-1]["id"]
    import json

    assert twinset.explain(records, first, second, threshold=0.6) == json.loads(
        command("explain", docs, first, second, "--threshold", "0.6", "--json")
    )
    twinset.sketch(records, output=tmp_path / "docs.sketch", permutations=64)
    pairs = twinset.join(tmp_path / "docs.sketch", method="sketch", threshold=0.7)
    assert pairs.to_pylist() == twinset.join(records, method="sketch", permutations=64, threshold=0.7).to_pylist()
    assert twinset.sketch(records, permutations=64).column("id").to_pylist() == [record["id"] for record in records]
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/customers.csv").write_text("id,name\n" + "".join(f"{n},name{n}\n" for n in range(100)))
    (tmp_path / "tables/orders.csv").write_text("order,customer\n" + "".join(f"{n},{n % 50}\n" for n in range(100)))
    assert same_rows(twinset.profile(tmp_path / "tables"), command("profile", tmp_path / "tables")) > 0


@pytest.mark.parametrize("kind", ["labels", "synopses"])
def test_index(docs, records, tmp_path, kind):
    index = twinset.Index.create(tmp_path / "index", kind=kind)
    index.add(records[:200])
    index.add(records[200:])
    command("index", "create", tmp_path / "other", "--kind", kind)
    command("index", "add", tmp_path / "other", docs)
    assert len(index) == len(records)
    assert same_rows(index.join(threshold=0.7), command("index", "join", tmp_path / "other", "--threshold", "0.7")) > 10
    asked = ["index", "query", tmp_path / "other", "--threshold", "0.7"]
    assert same_rows(index.query(records, threshold=0.7), command(*asked, docs)) > 400
    pair = index.join(threshold=0.7).to_pylist()[0]
    assert same_rows(index.query(id=pair["left"], threshold=0.7), command(*asked, "--id", pair["left"])) > 0
    assert index.query(like=records[0]["text"], threshold=0.9).column("id").to_pylist()[0] == records[0]["id"]
    counts = index.count(threshold=[0.7, 0.9])
    assert same_rows(counts, command("index", "count", tmp_path / "other", "--threshold", "0.7,0.9")) == 2
    index.remove(records[0]["id"], records[1]["id"])
    assert len(twinset.Index(tmp_path / "index")) == len(records) - 2
    index.check()
