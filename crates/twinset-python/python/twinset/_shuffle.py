"""A join of records on many machines, as functions from batches of rows to batches of rows.

An engine gives each of them the rows of a part of a collection, and moves what they give to where it is needed next. They know
nothing of the engine.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ._twinset import Meeting, Shuffle

#: Rows that are looked at together have about so many bytes at most, unless a single one has more.
LARGE = 4 << 20

Batches = Iterator[pa.RecordBatch]


def count(batches: Batches, shuffle: Shuffle) -> Batches:
    """From `text` to `token`, how many `records` have it, and `low` and `high`, which differ if its hash is that of another one."""
    for rows in _small(batches):
        yield shuffle.count(rows["text"])


def sets(batches: Batches, shuffle: Shuffle) -> Batches:
    """From `text` to `set` and `tokens`."""
    for rows in _small(batches):
        yield from shuffle.sets(rows["text"])


def crowds(batches: Batches, shuffle: Shuffle, is_right: bool) -> Batches:
    """From `tokens` of different sets to `token`: those at which too many sets may meet, once for each that would."""
    for rows in _small(batches):
        yield shuffle.crowds(rows["tokens"], is_right)


def cards(batches: Batches, shuffle: Shuffle, is_right: bool) -> Batches:
    """From `tokens` of different sets to `meeting` and `card`."""
    for rows in _small(batches):
        yield from shuffle.cards(rows["tokens"], is_right)


def meet(batches: Batches, shuffle: Shuffle) -> Batches:
    """From `meeting` and `card`, sorted by meetings of which all cards are there, to `left` and `right`: sets that may be a pair."""
    meeting = Meeting(shuffle)
    for rows in batches:
        meeting.take(rows["meeting"], rows["card"])
        yield from _found(meeting)
    meeting.finish()
    yield from _found(meeting)


def names(batches: Batches, shuffle: Shuffle) -> Batches:
    """The same rows with `set`, `twins`, `value`, `low` and `high` in place of `text`."""
    for rows in _small(batches):
        named = shuffle.names(rows["text"])
        kept = [name for name in rows.schema.names if name != "text"]
        columns = [*(rows[name] for name in kept), *named.columns]
        yield pa.RecordBatch.from_arrays(columns, names=[*kept, *named.schema.names])


def compare(batches: Batches, shuffle: Shuffle) -> Batches:
    """From `left`, `left_tokens`, `right` and `right_tokens` to `left`, `right`, `value`, `low` and `high` of those that are a pair."""
    for rows in batches:
        found = shuffle.compare(rows["left_tokens"], rows["right_tokens"])
        left, right = (rows[side].take(found["row"]) for side in ("left", "right"))
        turned = found["turned"]
        sides = [pc.if_else(turned, right, left), pc.if_else(turned, left, right)]
        values = [found[name] for name in ("value", "low", "high")]
        yield pa.RecordBatch.from_arrays([*sides, *values], names=["left", "right", "value", "low", "high"])


def liken(batches: Batches, shuffle: Shuffle) -> Batches:
    """From `left`, `left_tokens`, `right` and `right_tokens` to `left`, `right`, `value`, `low` and `high`, also where they are no pair."""
    for rows in batches:
        values = shuffle.liken(rows["left_tokens"], rows["right_tokens"])
        yield pa.RecordBatch.from_arrays([rows["left"], rows["right"], *values.columns], names=["left", "right", *values.schema.names])


def _found(meeting: Meeting) -> Batches:
    """What was found so far, which may be far more than the cards: one batch of it is there at a time."""
    while (rows := meeting.found()) is not None:
        yield rows


def _small(batches: Batches) -> Batches:
    """The same rows in batches that are not too large."""
    for rows in batches:
        pieces = -(-rows.nbytes // LARGE) or 1
        size = max(-(-rows.num_rows // pieces), 1)
        for start in range(0, rows.num_rows, size):
            yield rows.slice(start, size)
