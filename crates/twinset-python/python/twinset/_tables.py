"""From what Python programs hold to Arrow tables, and from a command's names of records back to theirs."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.large_string()


class Source:
    """What a command reads: files, or a table whose records have names or positions."""

    def __init__(self, data: Any, settings: Mapping[str, Any]) -> None:
        self.paths = _paths(data)
        self.table = None if self.paths else _table(data)
        if self.table is None:
            return
        _check_tokens(self.table, settings)
        name = settings.get("id") or ("id" if "id" in self.table.column_names else None)
        known = name is not None and name in self.table.column_names
        #: The type of the records' names; `None` if they have positions.
        self.ids = self.table.schema.field(name).type if known else None

    @property
    def words(self) -> list[Any]:
        """The words of a command that name it."""
        return list(self.paths) if self.table is None else [self.table]

    def given(self, names: Any) -> Any:
        """The names that a command uses for records, as the caller knows them."""
        if self.table is None:
            return names
        if self.ids is None:
            return pc.subtract(names.cast(pa.int64()), 1)
        try:
            return names.cast(self.ids)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return names

    def word(self, record: Any) -> str:
        """A record of the caller, as a command names it."""
        if self.table is not None and self.ids is None:
            if isinstance(record, bool) or not isinstance(record, int):
                raise TypeError(f"records without ids have positions from 0, and {record!r} is none")
            return str(record + 1)
        return str(record)


def renamed(table: Any, sources: Mapping[str, Source]) -> Any:
    """A result with the names that the caller knows; `sources` tells for columns whose records they name."""
    for name, source in sources.items():
        position = table.schema.get_field_index(name)
        table = table.set_column(position, name, source.given(table.column(position)))
    return table


def _paths(data: Any) -> list[str]:
    if isinstance(data, (str, os.PathLike)):
        return [str(os.fspath(data))]
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [str(os.fspath(item)) for item in data]
    return []


def _table(data: Any) -> Any:
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return pa.table({"text": data})
    if module == "pandas":
        if hasattr(data, "columns"):
            return pa.Table.from_pandas(data, preserve_index=False)
        return pa.table({"text": pa.Array.from_pandas(data)})
    if module == "datasets" and hasattr(data, "with_format"):
        if isinstance(data, Mapping):
            raise TypeError(f"this is a dictionary of datasets; choose one of {', '.join(map(str, data))}")
        return data.with_format("arrow")[:]
    if hasattr(data, "__arrow_c_stream__"):
        # A column alone, as that of Polars, is the text.
        if hasattr(data, "columns") or hasattr(data, "schema"):
            return pa.RecordBatchReader.from_stream(data).read_all()
        return pa.table({"text": pa.chunked_array(data)})
    if isinstance(data, Mapping):
        return pa.table({str(name): _column(values) for name, values in data.items()})
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        values = list(data)
        if values and isinstance(values[0], Mapping):
            return pa.Table.from_pylist(values)
        return pa.table({"text": _column(values, are_texts=True)})
    raise TypeError(
        f"a {type(data).__name__} cannot be read: give texts, token lists, records, a data frame, an Arrow table, or a path"
    )


def _column(values: Any, are_texts: bool = False) -> Any:
    """Values as a column; texts may be missing, and are empty then."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    values = list(values)
    first = next((value for value in values if not _is_missing(value)), None)
    expected: tuple[type, ...]
    if isinstance(first, str) or are_texts and first is None:
        kind, expected = TEXT, (str,)
    elif isinstance(first, (list, tuple)):
        kind, expected = pa.large_list(TEXT), (list, tuple)
    elif are_texts:
        raise TypeError(f"texts must be str, and the first is {first!r}")
    else:
        return pa.array(values, from_pandas=True)
    for position, value in enumerate(values):
        if not isinstance(value, expected) and not _is_missing(value):
            wanted = "str" if str in expected else "a list of str"
            raise TypeError(f"value {position} must be {wanted}, not {type(value).__name__}: {value!r:.80}")
    try:
        return pa.array([None if _is_missing(value) else value for value in values], type=kind)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"a text has a lone surrogate ({error.reason}), which stands for no character; "
            "make texts by text.encode('utf-8', 'replace').decode()"
        ) from None
    except pa.ArrowTypeError as error:
        raise TypeError(f"tokens must be str: {error}") from None


def _is_missing(value: Any) -> bool:
    return value is None or isinstance(value, float) and value != value


def _check_tokens(table: Any, settings: Mapping[str, Any]) -> None:
    """Tokens of lists are handed over as lines."""
    named = settings.get("text") or ("text" if "text" in table.column_names else table.column_names)
    for name in [named] if isinstance(named, str) else named:
        if name not in table.column_names:
            continue
        column = table.column(name)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            tokens = pc.list_flatten(column)
            if not (pa.types.is_string(tokens.type) or pa.types.is_large_string(tokens.type)):
                raise TypeError(f"tokens must be str, and those of the column `{name}` are {tokens.type}")
            if pc.any(pc.match_substring_regex(tokens, "[\n\r]")).as_py():
                raise ValueError(f"a token of the column `{name}` has a line break, and none may have one")
