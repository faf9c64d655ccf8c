"""On a cluster of Spark, joins and groups are those of the command."""

import csv
import doctest
import functools
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pyarrow.compute as pc
import pyspark
import pytest

from cluster import Cluster
from conftest import command

RECORDS = 2000
#: `cargo xtask test --full` asks for what takes long.
is_full = pytest.mark.skipif(not os.environ.get("TWINSET_FULL"), reason="takes long")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def spark(cluster):
    return cluster.spark()


@pytest.fixture(scope="module")
def twins(spark):
    from twinset import spark as twins

    return twins


def generated(folder, records, seed=7, words=12):
    """The path of a collection, and its rows. Ids have the order of the records."""
    path = folder / f"{records}-{seed}.jsonl"
    command("generate", "--records", records, "--words", words, "--seed", seed, "--output", path)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    return written(path, texts)


def written(path, texts):
    rows = [{"id": position, "text": text} for position, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, rows


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("spark"), RECORDS)


def frame(spark, rows, columns="id long, text string", partitions=4):
    return spark.createDataFrame([tuple(row.values()) for row in rows], columns).repartition(partitions)


def flags(settings):
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def as_printed(rows):
    """Rows of a DataFrame as the command writes them, in order."""
    def value(value):
        return None if value is None else float(value)

    return sorted((row[0], row[1], *(value(cell) for cell in row[2:])) for row in rows)


def printed(text, skipped=()):
    rows = ([cell for name, cell in row.items() if name not in skipped] for row in csv.DictReader(io.StringIO(text)))
    return sorted((int(row[0]), int(row[1]), *(float(cell) for cell in row[2:])) for row in rows)


SETTINGS = [
    {"threshold": 0.8},
    {"threshold": "2/3", "measure": "cosine", "tokens": "qgrams:3"},
    {"threshold": 0.6, "measure": "dice", "tokens": "shingles:2"},
    {"threshold": 9, "measure": "overlap", "repeats": "ignore"},
    {"threshold": 0.7, "measure": "containment"},
    {"threshold": 4, "measure": "hamming"},
    {"threshold": 0.8, "method": "sketch", "permutations": 64, "seed": 3},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_pairs_are_those_of_the_command(spark, twins, collection, settings):
    path, rows = collection
    pairs = twins.join(frame(spark, rows), **settings)
    expected = command("join", path, *flags(settings))
    assert pairs.columns == expected.splitlines()[0].split(",")
    assert as_printed(pairs.collect()) == printed(expected)
    assert len(printed(expected)) > 100


@pytest.mark.parametrize("settings", [SETTINGS[0], *SETTINGS[4:]], ids=str)
def test_groups_are_those_of_the_command(spark, twins, collection, tmp_path, settings):
    path, rows = collection
    found = twins.dedup(frame(spark, rows), **settings)
    command("dedup", path, *flags(settings), "--groups", tmp_path / "groups.csv", "--output", tmp_path / "kept.jsonl")
    expected = printed((tmp_path / "groups.csv").read_text(), skipped=["group"])
    assert as_printed(found.groups.collect()) == expected
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert sorted(map(tuple, found.kept.collect())) == sorted(tuple(row.values()) for row in kept)
    assert found.removed.count() == len(rows) - len(kept)
    found.unpersist()


def test_two_collections(spark, twins, collection, tmp_path):
    path, rows = collection
    other, more = generated(tmp_path, 500, seed=8)
    more = rows[::7] + [{"id": row["id"] + 10_000, "text": row["text"]} for row in more]
    other.write_text("".join(json.dumps(row) + "\n" for row in more))
    for settings in [{"threshold": 0.7}, {"threshold": 0.6, "measure": "containment"}, {"threshold": 0.8, "method": "sketch"}]:
        pairs = twins.join(frame(spark, rows), frame(spark, more), **settings)
        assert as_printed(pairs.collect()) == printed(command("join", path, other, *flags(settings)))


def test_token_lists_and_names(spark, twins):
    lists = [("x", ["New York", "Rome"]), ("y", ["Rome", "New York"]), ("z", ["Rome"]), ("empty", []), ("none", None)]
    places = spark.createDataFrame(lists, "name string, tokens array<string>")
    assert [tuple(row) for row in twins.join(places, id="name", threshold=1).collect()] == [("x", "y", 1.0)]
    # Columns keep their order, and the id needs not be the first.
    turned = places.select("tokens", "name")
    found = twins.dedup(turned, id="name", threshold=1)
    assert found.kept.columns == ["tokens", "name"]
    assert sorted(row.name for row in found.kept.collect()) == ["empty", "none", "x", "z"]
    assert [row.name for row in found.removed.collect()] == ["y"]


def test_what_is_kept(spark, twins, collection, tmp_path):
    path = tmp_path / "starred.jsonl"
    rows = [{**row, "stars": None if row["id"] % 5 == 0 else row["id"] % 4} for row in collection[1]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    starred = frame(spark, rows, "id long, text string, stars long")
    for keep in ["longest", "max:stars", "min:stars"]:
        command("dedup", path, "--threshold", 0.7, "--keep", keep, "--groups", tmp_path / "groups.csv", "--output", tmp_path / "kept.jsonl")
        found = twins.dedup(starred, threshold=0.7, keep=keep)
        assert as_printed(found.groups.collect()) == printed((tmp_path / "groups.csv").read_text(), skipped=["group"])
        found.unpersist()


def test_values_that_are_missing_come_last(spark, twins):
    for kind, values in [("double", [float("nan"), 2.5, None]), ("string", ["", "b", None]), ("long", [None, 7, None])]:
        rows = [(at, "the same words", value) for at, value in enumerate(values)]
        for keep in ["max:stars", "min:stars"]:
            found = twins.dedup(spark.createDataFrame(rows, f"id long, text string, stars {kind}"), threshold=0.7, keep=keep)
            assert [row.id for row in found.kept.collect()] == [1]


def test_identical_records_meet_once(spark, twins, monkeypatch):
    monkeypatch.setattr(twins, "CROWD", 20)
    rows = [{"id": at, "text": "page not found"} for at in range(3000)] + [{"id": 3000, "text": "the page was not found"}]
    search = twins._Search([frame(spark, rows)], {"threshold": 0.5})
    # There are two sets, so nothing is crowded.
    assert not search.shuffle.parts and search._each(twins._shuffle.cards, "meeting long, card binary", search.shuffle).count() < 10
    assert [row.id for row in twins.dedup(frame(spark, rows), threshold=0.5).kept.collect()] == [0]


def test_sketches_are_those_of_the_command(spark, twins, collection):
    import twinset

    _, rows = collection
    sketches = {row["id"]: row["sketch"] for row in twins.sketch(frame(spark, rows), permutations=32, seed=5).collect()}
    expected = twinset.sketch([row["text"] for row in rows], permutations=32, seed=5).to_pylist()
    assert sketches == {row["id"]: row["sketch"] for row in expected}


def test_a_long_chain_is_one_group(spark, twins, monkeypatch):
    # Each record is near the next one alone.
    chain = [{"id": at, "text": " ".join(f"w{word}" for word in range(at, at + 20))} for at in range(600)]
    rounds = []
    unsettled = twins._unsettled
    monkeypatch.setattr(twins, "_unsettled", lambda *edges: rounds.append(1) or unsettled(*edges))
    found = twins.dedup(frame(spark, chain), threshold=0.9)
    assert {row["representative"] for row in found.groups.collect()} == {0}
    assert len(rounds) < 15
    found.unpersist()


def largest_meeting(twins, records, settings):
    """How many cards meet, at most."""
    search = twins._Search([records], settings)
    cards = search._each(twins._shuffle.cards, "meeting long, card binary", search.shuffle)
    return max(row["count"] for row in cards.groupBy("meeting").count().collect())


@pytest.mark.parametrize("frequent", [100_000, 2])
def test_crowded_tokens_are_split(spark, twins, collection, monkeypatch, frequent):
    path, rows = collection
    records = frame(spark, rows)
    assert largest_meeting(twins, records, {"threshold": 0.4}) > 30
    # Every meeting of more than 5 sets is split, and two parts of about 5 meet; also where fewer tokens count as frequent than are crowded.
    monkeypatch.setattr(twins, "CROWD", 5)
    monkeypatch.setattr(twins, "FREQUENT", frequent)
    assert largest_meeting(twins, records, {"threshold": 0.4}) < 30
    assert as_printed(twins.join(records, threshold=0.4).collect()) == printed(command("join", path, "--threshold", 0.4))


def test_split_meetings_find_all_pairs(spark, twins, collection, monkeypatch):
    path, rows = collection
    monkeypatch.setattr(twins, "CROWD", 20)
    for settings in [{"threshold": 6, "measure": "hamming"}, {"threshold": 5, "measure": "overlap"}]:
        pairs = twins.join(frame(spark, rows), **settings)
        assert as_printed(pairs.collect()) == printed(command("join", path, *flags(settings)))


def test_hashes_that_collide_are_changed(spark, twins, collection, monkeypatch):
    path, rows = collection
    count = twins._shuffle.count

    def colliding(batches, shuffle):
        for rows in count(batches, shuffle):
            yield rows if shuffle.salt else rows.set_column(3, "high", pc.add(rows["high"], 1))

    monkeypatch.setattr(twins._shuffle, "count", colliding)
    search = twins._Search([frame(spark, rows)], {"threshold": 0.8})
    assert search.shuffle.salt == 1
    pairs = twins.join(frame(spark, rows), threshold=0.8)
    assert as_printed(pairs.collect()) == printed(command("join", path, "--threshold", 0.8))


def test_the_example_is_one_command(spark, collection, tmp_path):
    path, rows = collection
    frame(spark, rows).write.parquet(str(tmp_path / "docs.parquet"))
    example = pathlib.Path(__file__).parents[3] / "examples" / "spark_dedup.py"
    submit = pathlib.Path(pyspark.__file__).parent / "bin" / "spark-submit"
    # The cores of the cluster are taken.
    words = ["--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
    words = [submit, *words, example, tmp_path / "docs.parquet", tmp_path / "kept.parquet", "--threshold", "0.7"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kept = int(command("dedup", path, "--threshold", 0.7, "--count"))
    assert spark.read.parquet(str(tmp_path / "kept.parquet")).count() == kept
    assert f"{kept} of {len(rows)} records kept" in done.stdout


def test_what_makes_no_sense_is_refused(spark, twins):
    texts = frame(spark, [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}])
    for expected, settings in [
        ("does not fit jaccard", {"threshold": 2}),
        ("there is no column `body`", {"threshold": 0.8, "text": "body"}),
        ("is a bigint", {"threshold": 0.8, "text": "id"}),
        ("many machines", {"threshold": 2, "measure": "edit"}),
        ("many machines", {"threshold": 0.8, "top": 3}),
        ("many machines", {"threshold": 0.8, "method": "labels"}),
        ("unexpected keyword argument 'treshold'", {"treshold": 0.8}),
        ("threshold", {}),
    ]:
        with pytest.raises((ValueError, TypeError), match=expected):
            twins.join(texts, **settings)
    with pytest.raises(ValueError, match="no record to keep"):
        twins.dedup(texts, threshold=0.8, keep="best")
    lists = spark.createDataFrame([(1, ["a"])], "id long, tokens array<string>")
    with pytest.raises(TypeError, match="array<string> with string"):
        twins.join(texts, lists, threshold=0.8)
    with pytest.raises(ValueError, match="permutations"):
        twins.sketch(texts, permutations=0)
    without = spark.createDataFrame([(None, "a b"), (2, "a b")], "id long, text string")
    twice = spark.createDataFrame([(1, "same"), (5, "same"), (5, "other")], "id long, text string")
    for records, words in [(without, "records without an id"), (twice, "the id 5 names 2 records")]:
        for call in (twins.join, twins.dedup, functools.partial(twins.join, texts)):
            with pytest.raises(ValueError, match=words):
                call(records, threshold=0.8)
    # Two collections may name records alike.
    assert twins.join(texts, texts, threshold=0.8).count() == 2


def test_docstrings_tell_what_happens(spark, twins):
    done = doctest.testmod(twins, extraglobs={"spark": spark})
    assert done.attempted > 4 and not done.failed


@is_full
def test_what_a_document_of_500_words_shuffles(cluster, spark, twins, tmp_path, capsys, request):
    # As where there is much: nothing is broadcast, and cards of a document go to as many places, where they cannot be compressed together.
    for name, value in [("spark.sql.autoBroadcastJoinThreshold", "-1"), ("spark.sql.shuffle.partitions", "200")]:
        request.addfinalizer(functools.partial(spark.conf.set, name, spark.conf.get(name)))
        spark.conf.set(name, value)
    path, rows = generated(tmp_path, 4000, words=500)
    docs = frame(spark, rows, partitions=4).persist()
    docs.count()
    for settings in [{"tokens": "words"}, {"tokens": "shingles:5"}, {"tokens": "shingles:5", "method": "sketch"}]:
        before = cluster.shuffled()
        pairs = twins.join(docs, threshold=0.8, **settings).collect()
        assert as_printed(pairs) == printed(command("join", path, "--threshold", 0.8, *flags(settings)))
        shuffled = (cluster.shuffled() - before) / len(rows)
        with capsys.disabled():
            print(f"\n| {settings} | {shuffled / 1e3:.1f} kB | {shuffled * 1e8 / 1e12:.2g} TB |", end="")


@is_full
def test_a_token_in_every_record(spark, twins, tmp_path):
    rows = [{"id": at, "text": f"the w{at} v{at // 2}"} for at in range(200_000)]
    path = tmp_path / "the.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    # Prefixes are so long that all records meet at the one token.
    pairs = twins.join(frame(spark, rows, partitions=8), threshold=0.5)
    assert as_printed(pairs.collect()) == printed(command("join", path, "--threshold", 0.5))


@is_full
def test_two_hundred_thousand_records_also_when_a_worker_dies(cluster, spark, twins, tmp_path, capsys):
    path, rows = generated(tmp_path, 200_000, words=15)
    expected = printed(command("join", path, "--threshold", 0.8))
    command("dedup", path, "--threshold", 0.8, "--groups", tmp_path / "groups.csv", "--count")
    frame(spark, rows, partitions=8).write.parquet(str(tmp_path / "docs"))
    docs, before = spark.read.parquet(str(tmp_path / "docs")), cluster.shuffled()
    for share in (4, 2, 1):
        part = docs.filter(f"id < {len(rows) // share}")
        begin = time.monotonic()
        pairs = twins.join(part, threshold=0.8).collect()
        seconds, after = time.monotonic() - begin, cluster.shuffled()
        with capsys.disabled():
            print(f"\n| {len(rows) // share:,} | {seconds:.1f} | {(after - before) / 1e6:.1f} MB | {len(pairs):,} |", end="")
        before = after
    assert as_printed(pairs) == expected
    found = twins.dedup(docs, threshold=0.8)
    assert as_printed(found.groups.collect()) == printed((tmp_path / "groups.csv").read_text(), skipped=["group"])
    # From here on there is one worker less: this test is the last.
    wanted = twins.join(docs, threshold=0.8)
    killer = threading.Timer(1, cluster.kill_worker)
    killer.start()
    pairs = wanted.collect()
    assert not killer.is_alive() and cluster.killed > 2, "a worker, its executor and what runs Python died before the pairs were there"
    assert as_printed(pairs) == expected
    # What the worker held of the groups is made again.
    assert as_printed(found.groups.collect()) == printed((tmp_path / "groups.csv").read_text(), skipped=["group"])


LOCAL = """
import sys
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
from twinset import TwinsetError, spark as twins
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", 1).getOrCreate()
docs = spark.createDataFrame([(1, "a b"), (2, "a b")], "id long, text string")
try:
    print(twins.join(docs, threshold=1).count(), spark.sparkContext.pythonExec == sys.executable)
except TwinsetError as error:
    print(error)
"""


def test_local_workers_run_the_interpreter_of_the_driver():
    package = os.environ["PYTHONPATH"]
    without = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")}
    for environment, printed in [({**without, "PYTHONPATH": package}, "1 True"), (without, "has no package `twinset`: install it there")]:
        done = subprocess.run([sys.executable, "-c", LOCAL, package], env=environment, capture_output=True, text=True)
        assert printed in done.stdout and done.stdout.count("\n") == 1, done.stderr
