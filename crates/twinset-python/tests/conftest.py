"""A generated collection, and the command to compare with."""

import csv
import io
import json
import os
import subprocess

import pytest

TWINSET = os.environ.get("TWINSET", "target/debug/twinset")


def command(*words):
    """What the command prints."""
    done = subprocess.run([TWINSET, *map(str, words), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_rows(table, printed):
    """Whether a table has the rows that the command printed, numbers compared as numbers."""
    ours, theirs = table.to_pylist(), list(csv.DictReader(io.StringIO(printed)))
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs):
        assert list(own) == list(other)
        for name, value in own.items():
            assert (float(other[name]) if isinstance(value, float) else other[name]) == (
                value if isinstance(value, float) else "" if value is None else str(value)
            )
    return len(ours)


@pytest.fixture(scope="session")
def docs(tmp_path_factory):
    """A file of records with planted near duplicates."""
    path = tmp_path_factory.mktemp("docs") / "docs.jsonl"
    command("generate", "--records", 400, "--words", 12, "--seed", 4, "--output", path)
    return path


@pytest.fixture(scope="session")
def records(docs):
    """The same records, as dictionaries."""
    return [json.loads(line) for line in docs.read_text().splitlines()]
