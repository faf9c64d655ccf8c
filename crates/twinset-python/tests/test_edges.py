"""What makes no sense is refused in clear words, and what is odd has a defined meaning."""

import io
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy
import pandas
import polars
import pyarrow
import pytest
import twinset

NEAR = ["one two three four", "one two three five"]
FLOATS = [pyarrow.float16(), pyarrow.float32(), pyarrow.float64()]


@pytest.mark.parametrize("threshold", [0.6, "0.6", "3/5", Fraction(3, 5), Decimal("0.6"), numpy.float64(0.6), numpy.float32(0.6)])
def test_a_float_means_its_shortest_decimal(threshold):
    # 3/5 exactly: the pair lies on the threshold.
    assert twinset.join(NEAR, threshold=threshold).num_rows == 1


@pytest.mark.parametrize(
    ("data", "settings", "error", "words"),
    [
        (NEAR, {}, ValueError, "threshold"),
        (NEAR, {"threshold": 1.5}, ValueError, "3/2 does not fit jaccard"),
        (NEAR, {"threshold": float("nan")}, ValueError, "nan"),
        (NEAR, {"threshold": 0.8, "measure": "jacard"}, ValueError, "jacard"),
        (NEAR, {"treshold": 0.8}, TypeError, "'treshold'; did you mean 'threshold'"),
        (NEAR, {"threshold": 0.8, "text": "body"}, twinset.TwinsetError, "there is no field `body`"),
        ({"id": [1, 1], "text": NEAR}, {"threshold": 0.8}, twinset.TwinsetError, "the id `1` was used before"),
        ("no/such/file.csv", {"threshold": 0.8}, twinset.TwinsetError, "no/such/file.csv"),
        (["one", 2], {"threshold": 0.8}, TypeError, "value 1 must be str"),
        ([1, 2], {"threshold": 0.8}, TypeError, "texts must be str"),
        (7, {"threshold": 0.8}, TypeError, "int cannot be read"),
        (b"bytes", {"threshold": 0.8}, TypeError, "bytes cannot be read"),
        (["\ud800 x"], {"threshold": 0.8}, ValueError, "lone surrogate"),
        ([["a\nb"]], {"threshold": 0.8}, twinset.TwinsetError, "line break"),
        ([{"text": "\ud800"}], {"threshold": 0.8}, ValueError, "lone surrogate"),
        ([{"text": "a"}, {"text": 7}], {"threshold": 0.8}, TypeError, "value 1 must be str"),
        ({"x": "a b", "y": "a c"}, {"threshold": 0.8}, TypeError, "a dictionary has columns"),
        ({"id": ["x", None], "text": NEAR}, {"threshold": 0.8}, ValueError, "some have no name"),
        ({"id": [1.5, float("nan")], "text": NEAR}, {"threshold": 0.8}, ValueError, "some have no name"),
        (pyarrow.table({"id": [1.5, float("nan")], "text": NEAR}), {"threshold": 0.8}, ValueError, "some have no name"),
        (polars.DataFrame({"id": [float("nan"), 2], "text": NEAR}), {"threshold": 0.8}, ValueError, "some have no name"),
        ({"id": [b"x", b"y"], "text": NEAR}, {"threshold": 0.8}, TypeError, "holds bytes"),
        (pyarrow.table({"text": pyarrow.array([b"ab", b"ab"], pyarrow.binary(2))}), {"threshold": 0.8}, TypeError, "holds bytes"),
        (pyarrow.array([b"ab", b"ab"]).dictionary_encode(), {"threshold": 0.8}, TypeError, "holds bytes"),
        (pyarrow.table([NEAR, NEAR], names=["text", "text"]), {"threshold": 0.8}, ValueError, "two columns"),
        ("-", {"threshold": 0.8}, ValueError, "standard input"),
        (NEAR, {"threshold": 0.8, "output": "-"}, ValueError, "standard output"),
        (pyarrow.table({"text": pyarrow.array([b"caf\xc3", b"caf\xc3"]).view(pyarrow.string())}), {"threshold": 0.8}, ValueError, "damaged"),
        (
            pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 7], pyarrow.int32()), pyarrow.array(["a"]), safe=False),
            {"threshold": 0.8},
            ValueError,
            "damaged",
        ),
        ({"id": [1, 2], "text": NEAR}, {"threshold": 0.8, "id": ["id"]}, TypeError, "names one column"),
        ([{"text": "a"}, "a"], {"threshold": 0.8}, TypeError, "record 1 must be a dictionary"),
        ({"a": [["x"]], "b": [["y"]]}, {"threshold": 0.8, "text": ["a", "b"]}, ValueError, "compared alone"),
        ("<table 1>", {"threshold": 0.8}, twinset.TwinsetError, "<table 1>"),
        (NEAR, {"threshold": {"a": 1}}, TypeError, "threshold= is a text"),
        (NEAR, {"threshold": 0.8, "stop_words": "\ud800"}, ValueError, "lone surrogate"),
        ([["a", 2]], {"threshold": 0.8}, TypeError, "tokens must be str"),
        ([["a"], "b"], {"threshold": 0.8}, TypeError, "value 1 must be a list of str"),
        ({"n": [1 << 64, 1], "text": NEAR}, {"threshold": 0.8}, TypeError, "cannot be made an Arrow table"),
        ([{"n": -(1 << 70), "text": NEAR[0]}], {"threshold": 0.8}, TypeError, "cannot be made an Arrow table"),
    ],
)
def test_what_makes_no_sense_is_refused(data, settings, error, words):
    with pytest.raises(error, match=words):
        twinset.join(data, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "threshold=0.8"),
        ({"threshold": 0.8, "permutations": 5}, 'permutations= and agree= are for method="minhash"'),
        ({"threshold": 0.8, "stem": "english", "measure": "edit"}, "stem=, stop_words= and normalize="),
        ({"threshold": 0.8, "tokens": "letters"}, 'tokens="letters": `letters` is not a kind of token'),
        ({"threshold": 0.8, "top": "many"}, 'top="many": '),
        ({"threshold": 0.8, "limit": "sessions=3"}, "no limit `sessions`; limits are: record, unpacked"),
        ({"threshold": 0.8, "threads": 0}, "1 to 1024 threads"),
    ],
)
def test_messages_write_options_as_keyword_arguments(settings, words):
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        twinset.join(NEAR, **settings)
    assert "--" not in str(raised.value)


def test_ids_of_any_type_come_back():
    import datetime

    days = [datetime.datetime(2026, 3, day, tzinfo=datetime.timezone.utc) for day in (1, 2)]
    for ids in (
        pyarrow.array(days, pyarrow.timestamp("us", "Europe/Berlin")),
        pyarrow.array(["x", "y"]).dictionary_encode(),
        pyarrow.array(["x", "y"], pyarrow.string_view()),
        pyarrow.array([Decimal("1.50"), Decimal("2.50")], pyarrow.decimal128(12, 2)),
        pyarrow.array([True, False]),
    ):
        pairs = twinset.join(pyarrow.table({"id": ids, "text": NEAR}), threshold=0.6)
        assert pairs.schema.field("left").type == ids.type
        assert pairs.select(["left", "right"]).to_pylist() == [{"left": ids[0].as_py(), "right": ids[1].as_py()}]


def test_rows_that_are_left_out_do_not_shift_ids(tmp_path):
    table = {"id": [5, 5, 7, 8], "text": ["one two", "three", "four", "one two"]}
    rejects = tmp_path / "rejects.csv"
    pairs = twinset.join(table, threshold=0.8, rejects=rejects)
    assert pairs.to_pylist() == [{"left": 5, "right": 8, "similarity": 1.0}]
    assert twinset.sketch(table, rejects=rejects).column("id").to_pylist() == [5, 7, 8]


@pytest.mark.parametrize("truth", [{"left": [0]}, pyarrow.table({"left": [0]}), ["0", "1"], [(0,), (1,)], [(0, 1), (1,)], [(0, 1), 1]])
def test_true_pairs_have_two_columns(truth):
    with pytest.raises(ValueError, match="true pairs are two columns"):
        twinset.tune(NEAR, truth=truth)


def test_missing_texts_are_empty():
    for data in (
        ["a b", None, "a b", None],
        ["a b", float("nan"), "a b", None],
        pandas.Series(["a b", None, "a b", numpy.nan]),
        pyarrow.array(["a b", None, "a b", None]),
        ["a b", pandas.NA, "a b", numpy.float32("nan")],
        [{"text": "a b"}, {"text": None}, {"text": "a b"}, {"other": 1}],
        {"text": [1.5, None, 1.5, float("nan")]},
        *(pyarrow.table({"text": pyarrow.array([1.5, float("nan"), 1.5, None], kind)}) for kind in FLOATS),
        pyarrow.array([1.5, float("nan"), 1.5, None]).dictionary_encode(),
        polars.DataFrame({"text": [1.5, float("nan"), 1.5, None]}),
        polars.Series([1.5, float("nan"), 1.5, None], dtype=polars.Float32),
    ):
        assert twinset.join(data, threshold=1).to_pydict() == {"left": [0], "right": [2], "similarity": [1.0]}
        assert twinset.join(data, threshold=1, empty=True).num_rows == 2
    assert twinset.join([], threshold=0.5).num_rows == 0
    assert twinset.join([None], threshold=0.5).num_rows == 0
    assert twinset.dedup([], threshold=0.5).kept.num_rows == 0


def test_ids_keep_their_type():
    for ids in ([10, 20], ["x", "y"], [1.5, 2.5]):
        pair = twinset.join({"id": ids, "text": NEAR}, threshold=0.6).to_pylist()[0]
        assert (pair["left"], pair["right"]) == (ids[0], ids[1])
    # Where no pair lies at a threshold, there is no sample of one.
    assert twinset.tune({"id": [10, 20], "text": ["a", "b"]}).column("left").to_pylist()[0] is None
    named = twinset.join(pandas.DataFrame({0: [7, 8], "text": NEAR}), id=0, text="text", threshold=0.6)
    assert named.column("right").to_pylist() == [8]


def test_what_looks_like_a_flag_is_none(tmp_path):
    os.chdir(tmp_path)
    pathlib.Path("--x.txt").write_text("\n".join(NEAR))
    assert twinset.join("--x.txt", threshold=0.6).num_rows == 1
    told = twinset.explain({"id": [-1, -2], "text": NEAR}, -1, -2, threshold=0.6)
    assert (told["left"]["id"], told["measures"]["jaccard"]) == (-1, 0.6)
    assert twinset.explain(NEAR, numpy.int64(0), 1)["right"]["id"] == 1
    with pytest.raises(ValueError, match="positions are 0 to 1"):
        twinset.explain(NEAR, 0, 2)
    index = twinset.Index.create("-index")
    index.add({"id": ["-a"], "text": ["--text"]})
    assert index.query(like="--text", threshold=1).column("id").to_pylist() == ["-a"]
    index.remove("-a")
    assert len(index) == 0


def test_errors_can_be_sent_to_another_process():
    assert str(pickle.loads(pickle.dumps(twinset.TwinsetError("so")))) == "so"


@pytest.mark.parametrize("first", [1 << 31, 1 << 32])
def test_large_offsets(first):
    # Texts that begin after the second or the fourth gigabyte of a buffer that is mostly not there.
    import mmap

    texts = "".join(NEAR).encode()
    buffer = mmap.mmap(-1, first + 64)
    buffer[first : first + len(texts)] = texts
    offsets = numpy.array([first, first + len(NEAR[0]), first + len(texts)], numpy.int64)
    column = pyarrow.Array.from_buffers(pyarrow.large_string(), 2, [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(buffer)])
    assert twinset.join(column, threshold=0.6).num_rows == 1


def test_large_texts_are_shown_in_batches():
    # 91 pairs with two texts of a megabyte each: batches that are many times as large could not be told any more.
    pairs = twinset.join(["x" * (1 << 20)] * 14, threshold=1, show="text")
    texts = pairs.column("left_text")
    assert len(texts) == 91 and texts.num_chunks > 2 and max(chunk.nbytes for chunk in texts.chunks) < 33 << 20


def test_columns_stay_as_they_are():
    table = pyarrow.table({"n": pyarrow.array([1, 2, 3], pyarrow.int8()), "text": [*NEAR, "six"], "more": [[1], [2], [3]]})
    kept = twinset.dedup(table, threshold=0.6, keep="max:n").kept
    assert kept.schema == table.schema
    assert kept.to_pylist() == [{"n": 2, "text": NEAR[1], "more": [2]}, {"n": 3, "text": "six", "more": [3]}]


def test_other_threads_go_on_and_calls_do_not_disturb_each_other():
    texts = [f"{n} {n % 97} {n % 89} word{n % 83} word{n % 79}" for n in range(30_000)]
    alone = twinset.join(texts, threshold=0.5)
    ticks, found = [], []
    worker = threading.Thread(target=lambda: found.append(twinset.join(texts, threshold=0.5)))
    worker.start()
    while worker.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.001)
    assert found[0].equals(alone)
    assert len(ticks) > 5
    both = [threading.Thread(target=lambda: found.append(twinset.join(texts, threshold=0.5))) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert all(table.equals(alone) for table in found) and len(found) == 3


LONG = """
import signal, twinset
# Where the tests run in the background, it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
texts = [" ".join(f"w{(n * k) % 9973}" for k in range(1, 120)) for n in range(6000)]
print("ready", flush=True)
try:
    twinset.join(texts, threshold=0.1, algorithm="naive")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(twinset.join(["a", "a"], threshold=1).num_rows, flush=True)
"""


def test_ctrl_c_ends_a_call():
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert child.communicate(timeout=60)[0] == "interrupted\n1\n"
    assert time.monotonic() - begin < 20


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_call_works_after_a_fork():
    assert twinset.join(NEAR, threshold=0.6).num_rows == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if twinset.join(NEAR, threshold=0.6).num_rows == 1 else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


def test_results_are_given_on():
    found = twinset.dedup([*NEAR, "six"], threshold=0.6)
    assert polars.DataFrame(found.kept)["text"].to_list() == [NEAR[0], "six"]
    assert polars.DataFrame(found)["text"].to_list() == [NEAR[0], "six"]
    assert found.to_pandas()["text"].tolist() == [NEAR[0], "six"]
    assert pyarrow.table(found).num_rows == 2
    assert "2 kept" in repr(found)


def test_files_are_written_where_asked(tmp_path):
    source = tmp_path / "docs.txt"
    source.write_text("\n".join([*NEAR, "six"]) + "\n")
    found = twinset.dedup(source, threshold=0.6, output=tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_text() == f"{NEAR[0]}\nsix\n"
    assert found.groups.column("representative").to_pylist() == ["1", "1", "3"]
    with pytest.raises(twinset.TwinsetError, match="output="):
        pyarrow.table(found)
    assert twinset.join(source, threshold=0.6, count=True) == 1
    assert twinset.join(NEAR, threshold=0.6, output=tmp_path / "pairs.csv") is None
    assert (tmp_path / "pairs.csv").read_text().splitlines()[0] == "left,right,similarity"


def test_files_of_what_was_removed(tmp_path):
    source = tmp_path / "docs.txt"
    source.write_text("\n".join([*NEAR, "six"]) + "\n")
    twinset.dedup(source, threshold=0.6, output=tmp_path / "kept.txt", removed=tmp_path / "removed.txt")
    assert (tmp_path / "removed.txt").read_text() == f"{NEAR[1]}\n"
    for data, settings, words in [
        (source, {"removed": tmp_path / "gone.txt"}, "too, by output="),
        (source, {"groups": tmp_path / "groups.csv"}, "groups= is only for the command line"),
        (NEAR, {"groups": tmp_path / "groups.csv"}, "groups= is only for the command line"),
        (NEAR, {"count": True}, "count= is only for the command line"),
        (NEAR, {"removed": tmp_path / "gone.txt"}, "returned, and not written"),
        (NEAR, {"output": tmp_path / "kept.txt"}, "returned, and not written"),
    ]:
        with pytest.raises(ValueError, match=words):
            twinset.dedup(data, threshold=0.6, **settings)
    assert not (tmp_path / "gone.txt").exists() and not (tmp_path / "groups.csv").exists()


@pytest.mark.parametrize(
    "ids",
    [
        ("a", "c"),
        (["a", "c"],),
        (["a"], ("c",)),
        ({"a", "c"},),
        (iter("ac"),),
        (pandas.Series(["a", "c"]),),
        (polars.Series(["a", "c"]),),
        (pyarrow.array(["a", "c"]),),
        (pyarrow.chunked_array([["a"], ["c"]]),),
        (numpy.array(["a", "c"]),),
    ],
    ids=lambda ids: " ".join(type(one).__name__ for one in ids),
)
def test_whatever_holds_ids_names_records_to_remove(tmp_path, ids):
    index = twinset.Index.create(tmp_path / "index")
    index.add({"id": ["a", "b", "c"], "text": ["one", "two", "three"]})
    index.remove(*ids)
    assert index.query(["one", "two", "three"], threshold=1).column("id").to_pylist() == ["b"]


def test_what_names_no_record_is_not_removed(tmp_path):
    index = twinset.Index.create(tmp_path / "index")
    index.add({"id": [1.0, 2.0], "text": ["one", "two"]})
    index.remove([])
    for ids, error, words in [
        (None, ValueError, "names no record"),
        ([1, float("nan")], ValueError, "id 1 is nan"),
        (pandas.DataFrame({"id": [1]}), TypeError, "give the column"),
        ({"id": [1]}, TypeError, "give the column"),
        ([[1]], TypeError, "must be a text or a number"),
        (b"1", TypeError, "must be a text or a number"),
    ]:
        with pytest.raises(error, match=words):
            index.remove(ids)
    assert len(index) == 2
    index.remove(pandas.Series([1.0, 2.0]))
    assert len(index) == 0


def test_progress_is_shown_when_asked(capfd):
    twinset.join(NEAR, threshold=0.6)
    assert capfd.readouterr().err == ""
    twinset.join(NEAR, threshold=0.6, progress=True)
    assert "1 pair" in capfd.readouterr().err


def test_progress_is_shown_where_python_shows_errors(monkeypatch):
    # As a notebook does, which is no terminal.
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    twinset.join(NEAR, threshold=0.6, progress=True)
    lines = shown.getvalue().split("\r")
    assert any(line.startswith("join") and "%" in line for line in lines), lines
    assert lines[-1].startswith("2 records") and "1 pair" in lines[-1]
    # Words that nobody can see are no reason to fail.
    for nowhere in (None, open(os.devnull)):
        monkeypatch.setattr(sys, "stderr", nowhere)
        assert twinset.join(NEAR, threshold=0.6, progress=True).num_rows == 1


def test_spark_is_imported_when_it_is_asked_for():
    asked = "import sys, twinset; assert 'pyspark' not in sys.modules; print(twinset.spark.dedup.__name__)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert done.stdout == "dedup\n", done.stderr
    for asked in ("import twinset; twinset.spark", "import twinset.spark", "from twinset import spark"):
        without = f"import sys; sys.modules['pyspark'] = None; {asked}"
        done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
        assert done.returncode == 1 and "pip install pyspark" in done.stderr.splitlines()[-1]
    with pytest.raises(AttributeError, match="no attribute 'sparks'"):
        twinset.sparks


MEMORY = """
import sys
import polars, pyarrow, twinset

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) // 1024

template = " ".join(f"@w{n}" for n in range(100))
texts = pyarrow.chunked_array([[template.replace("@", str(n)) for n in range(first, first + 10_000)] for first in range(0, 200_000, 10_000)])
kinds = {"string": pyarrow.string(), "large": pyarrow.large_string(), "view": pyarrow.string_view()}
data = polars.Series("text", texts).to_frame() if sys.argv[1] == "polars" else pyarrow.table({"text": texts.cast(kinds[sys.argv[1]])})
size = texts.nbytes // 2**20
open("/proc/self/clear_refs", "w").write("5")
before = peak()
assert twinset.join(data, method="sketch", permutations=8, agree=8, count=True, threads=2) == 0
print(size, peak() - before)
"""


@pytest.mark.parametrize("kind", ["string", "large", "view", "polars"])
def test_texts_are_not_copied(kind):
    done = subprocess.run([sys.executable, "-c", MEMORY, kind], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    size, more = map(int, done.stdout.split())
    assert size > 150 and more < size / 2, done.stdout
