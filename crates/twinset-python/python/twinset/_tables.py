"""From what Python programs hold to Arrow tables, and from rows of these back to the names of records."""

import operator
import os
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.large_string()


class Source:
    """What a job reads: files, or a table whose records have names or positions."""

    def __init__(self, data: Any, settings: Mapping[str, Any]) -> None:
        self.paths = _paths(data)
        try:
            self.table = None if self.paths else _table(data)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"a text has a lone surrogate ({error.reason}), which stands for no character; "
                "make texts by text.encode('utf-8', 'replace').decode()"
            ) from None
        except (pa.ArrowTypeError, pa.ArrowInvalid, OverflowError) as error:
            raise TypeError(f"this cannot be made an Arrow table: {error}") from None
        #: The column of the records' names; `None` if they have positions.
        self.ids: Any = None
        if self.table is not None:
            self.ids = _checked(self.table, _name(settings.get("id")), settings.get("text"))

    @property
    def data(self) -> Any:
        """What it is: paths, or a table."""
        return self.paths if self.table is None else self.table

    def names(self, records: Any) -> Any:
        """The names of records that a job tells: those of files by their names, those of a table by their rows."""
        if self.ids is None:
            return records
        kind = self.ids.type
        # Arrow takes from no column of views.
        ids = self.ids.cast(TEXT) if pa.types.is_string_view(kind) else self.ids
        return ids.take(records).cast(kind)

    def named(self, record: Any) -> str:
        """A record of the caller, as a job names it."""
        if self.table is None or self.ids is not None:
            return _written(record)
        try:
            position = operator.index(record)
        except TypeError:
            raise TypeError(f"records without ids have positions from 0, and {record!r} is none") from None
        if not 0 <= position < self.table.num_rows:
            raise ValueError(f"there is no record {position}: positions are 0 to {self.table.num_rows - 1}")
        return str(position + 1)


def names_of(ids: Any) -> list[str]:
    """One id, or all that a list, a column or the like holds, as an index names them."""
    if isinstance(ids, Mapping) or hasattr(ids, "columns"):
        raise TypeError(f"a {type(ids).__name__} holds more than ids; give the column that does")
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        ids = [ids]
    # Values of Arrow are what they hold.
    values = [value.as_py() if isinstance(value, pa.Scalar) else value for value in ids]
    for position, value in enumerate(values):
        if _is_missing(value):
            raise ValueError(f"id {position} is {value!r}, which names no record")
        if not isinstance(value, str) and isinstance(value, Iterable):
            raise TypeError(f"id {position} must be a text or a number, not {type(value).__name__}: {value!r:.80}")
    return [_written(value) for value in values]


def _written(record: Any) -> str:
    """The id of a record as text."""
    return str(int(record)) if isinstance(record, float) and record.is_integer() else str(record)


def renamed(table: Any, sources: Mapping[str, Source]) -> Any:
    """A result with the names that the caller knows; `sources` tells for columns whose records they name."""
    for name, source in sources.items():
        position = table.schema.get_field_index(name)
        table = table.set_column(position, name, source.names(table.column(position)))
    return table


def _name(field: Any) -> str | None:
    """The one field that a setting names."""
    if isinstance(field, (list, tuple, set)):
        raise TypeError(f"id= names one column, not {field!r}")
    return None if field is None else str(field)


def _checked(table: Any, id_name: str | None, text: Any) -> Any:
    """The column of the ids of a table, if it has any; what cannot be compared is refused."""
    names = table.column_names
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two columns have the name `{name}`; rename one")
    if id_name is None and "id" in names:
        id_name = "id"
    if text is None:
        text = "text" if "text" in names else [name for name in names if name != id_name]
    texts = [str(name) for name in text] if isinstance(text, (list, tuple)) else [str(text)]
    used = [name for name in dict.fromkeys([id_name, *texts]) if name in names]
    try:
        table.select(used).validate(full=True)
    except (pa.ArrowInvalid, IndexError) as error:
        raise ValueError(f"this table is damaged: {error}") from None
    lists = [name for name in used if hasattr(table.schema.field(name).type, "value_type") and name in texts]
    if len([name for name in texts if name in names]) > 1 and any(not pa.types.is_dictionary(table.schema.field(name).type) for name in lists):
        raise ValueError(f"token lists are compared alone: name one of {', '.join(texts)} by text=")
    for name in used:
        kind = table.schema.field(name).type
        if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
            raise TypeError(f"the column `{name}` is a {kind}; cast it to a list")
        if hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
            tokens = kind.value_type
            if not any(test(tokens) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
                raise TypeError(f"tokens must be str, and those of the column `{name}` are {tokens}")
        elif _are_bytes(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise TypeError(f"the column `{name}` holds bytes; decode them first")
    if id_name not in names:
        return None
    ids = table.column(id_name)
    is_nan = pa.types.is_floating(ids.type) and pc.any(pc.is_nan(ids.cast(pa.float64()))).as_py()
    if ids.null_count or is_nan:
        raise ValueError(f"the column `{id_name}` names records, and some have no name")
    return ids


def _are_bytes(kind: Any) -> bool:
    types = pa.types
    return any(test(kind) for test in (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary))


def _paths(data: Any) -> list[str]:
    if isinstance(data, str) and data == "-":
        raise ValueError("standard input is only for the command line; read it, and pass its lines")
    if isinstance(data, (str, os.PathLike)):
        return [_path(data)]
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [_path(item) for item in data]
    return []


def _path(path: Any) -> str:
    return str(os.fspath(path))


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
    if module == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if module == "datasets" and hasattr(data, "with_format"):
        if isinstance(data, Mapping):
            raise TypeError(f"this is a dictionary of datasets; choose one of {', '.join(map(str, data))}")
        return data.with_format("arrow")[:]
    if hasattr(data, "__arrow_c_stream__"):
        column = pa.chunked_array(data)
        if not pa.types.is_struct(column.type):
            # A column alone, as that of Polars, is the text.
            return pa.table({"text": column})
        schema = pa.schema(list(column.type))
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in column.chunks], schema)
    if isinstance(data, Mapping):
        for name, values in data.items():
            if isinstance(values, (str, bytes, Mapping)):
                raise TypeError(f"`{name}` is {values!r:.40}: a dictionary has columns, each with a list of values")
        return pa.table({str(name): _column(values) for name, values in data.items()})
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        values = list(data)
        if values and isinstance(values[0], Mapping):
            for position, record in enumerate(values):
                if not isinstance(record, Mapping):
                    raise TypeError(f"record {position} must be a dictionary, not {type(record).__name__}: {record!r:.80}")
            names = dict.fromkeys(name for record in values for name in record)
            return pa.table({str(name): _column([record.get(name) for record in values]) for name in names})
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
    except pa.ArrowTypeError as error:
        raise TypeError(f"tokens must be str: {error}") from None


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return isinstance(value, Number) and value != value
    except ArithmeticError:
        # Decimals have a kind of NaN that cannot even be compared.
        return True
