"""The examples run."""

import pathlib
import runpy

import pytest

EXAMPLES = sorted(pathlib.Path(__file__).parents[3].joinpath("examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    runpy.run_path(str(path))


def test_there_are_examples():
    assert len(EXAMPLES) >= 2
