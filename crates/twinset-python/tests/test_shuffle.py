"""The pieces of a join on many machines, without an engine that moves rows between them."""

import pickle

import pyarrow
import pytest
import twinset
from twinset import _shuffle
from twinset._twinset import Shuffle

RECORDS = 600
#: So many candidates are given out at a time.
CANDIDATES = 1 << 16


def met(shuffle, texts):
    """The batches of candidates of texts."""
    rows = iter([pyarrow.record_batch({"text": texts})])
    cards = pyarrow.Table.from_batches(_shuffle.cards(_shuffle.sets(rows, shuffle), shuffle, False)).sort_by("meeting")
    return _shuffle.meet(iter(cards.to_batches(max_chunksize=1000)), shuffle)


def test_a_crowded_meeting_is_told_batch_by_batch():
    # Every two records are near each other, and meet at each of some words.
    texts = [f"one two three four five six seven eight nine ten w{number}" for number in range(RECORDS)]
    batches, pairs = 0, set()
    for rows in met(Shuffle('{"threshold": 0.5}', False), texts):
        assert 0 < rows.num_rows <= CANDIDATES and rows.nbytes < 3e6
        batches += 1
        pairs.update(zip(rows["left"].to_pylist(), rows["right"].to_pylist()))
    assert len(pairs) == RECORDS * (RECORDS - 1) // 2
    assert batches > len(pairs) // CANDIDATES


def test_a_pickled_join_is_the_same():
    shuffle = Shuffle('{"threshold": 0.5}', False).salted(2).ordered([5, -7], [(-7, 3)])
    again = pickle.loads(pickle.dumps(shuffle))
    assert (again.salt, again.parts, again.values()) == (2, [(-7, 3)], ("jaccard", False))
    assert Shuffle.restored(*shuffle.__reduce__()[1]).parts == shuffle.parts


def test_a_panic_is_an_exception():
    # A list that is said to have values which are not there. Spark makes none of these.
    damaged = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 7], pyarrow.int32()), pyarrow.array(["a"], pyarrow.large_string()), safe=False)
    shuffle = Shuffle('{"threshold": 0.5}', False)
    with pytest.raises(twinset.TwinsetError, match="twinset has a fault"):
        shuffle.count(damaged)
    assert shuffle.count(pyarrow.array(["a"])).num_rows == 1
