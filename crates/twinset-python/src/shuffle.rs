//! The pieces of a join on many machines, each from a batch of rows to batches of rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::{PyArray, PyRecordBatch};
use twinset::exact::{Collections, Side};
use twinset::shuffle::{Candidates, Card, SetName, Tally, TokenOrder};
use twinset_cli::ShuffleSettings;
use twinset_io::read::texts_of;

use crate::{TwinsetError, detached, exception, options};

/// Bytes of a batch that is given out, from which on another one is begun.
const LARGE: usize = 64 << 20;
/// Candidates that are given out at a time.
const CANDIDATES: usize = 1 << 16;

/// A join on many machines. It can be pickled, and is the same wherever it is unpickled.
#[pyclass(frozen, module = "twinset._twinset")]
pub(crate) struct Shuffle {
    settings: ShuffleSettings,
    collections: Collections,
    #[pyo3(get)]
    salt: u64,
    frequent: Vec<u64>,
    parts: Vec<(u64, u32)>,
    inner: twinset::shuffle::Shuffle,
    order: TokenOrder,
}

/// What a pickled join is made of: its settings, whether there are two collections, the salt, frequent tokens, and tokens in parts.
type Pickled<'py> = (String, bool, u64, Bound<'py, PyBytes>, Vec<(u64, u32)>);

impl Shuffle {
    fn made(
        py: Python<'_>,
        settings: ShuffleSettings,
        collections: Collections,
        salt: u64,
        frequent: Vec<u64>,
        parts: Vec<(u64, u32)>,
    ) -> PyResult<Self> {
        detached(py, || {
            let inner = settings.shuffle(collections, salt).map_err(exception)?;
            let order = TokenOrder::new(&frequent, parts.iter().copied());
            Ok(Self { settings, collections, salt, frequent, parts, inner, order })
        })
    }

    /// Calls `visit` for each text's set, until one fails.
    fn for_each_set(&self, texts: &StringViewArray, mut visit: impl FnMut(Vec<u64>) -> PyResult<()>) -> PyResult<()> {
        for text in texts {
            visit(self.inner.set(text.unwrap_or_default()).map_err(failed)?)?;
        }
        Ok(())
    }

    fn side(is_right: bool) -> Side {
        if is_right { Side::Right } else { Side::Left }
    }
}

#[pymethods]
impl Shuffle {
    /// From the settings of a join of one collection or two, a JSON object.
    #[new]
    fn new(py: Python<'_>, settings: &str, are_two: bool) -> PyResult<Self> {
        let mut settings: ShuffleSettings = options(settings)?;
        settings.read_stop_words().map_err(exception)?;
        let collections = if are_two { Collections::Two } else { Collections::One };
        Self::made(py, settings, collections, 0, Vec::new(), Vec::new())
    }

    #[staticmethod]
    fn restored(
        py: Python<'_>,
        settings: &str,
        are_two: bool,
        salt: u64,
        frequent: &[u8],
        parts: Vec<(u64, u32)>,
    ) -> PyResult<Self> {
        let settings = serde_json::from_str(settings).map_err(failed)?;
        let collections = if are_two { Collections::Two } else { Collections::One };
        Self::made(py, settings, collections, salt, numbers(frequent), parts)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let settings = serde_json::to_string(&self.settings).map_err(failed)?;
        let frequent = PyBytes::new(py, bytemuck::cast_slice(&self.frequent));
        let are_two = self.collections == Collections::Two;
        let pickled = (settings, are_two, self.salt, frequent, self.parts.clone());
        Ok((py.get_type::<Self>().getattr("restored")?, pickled))
    }

    /// The same with other hashes of tokens.
    fn salted(&self, py: Python<'_>, salt: u64) -> PyResult<Self> {
        Self::made(py, self.settings.clone(), self.collections, salt, Vec::new(), Vec::new())
    }

    /// The same with tokens in order: frequent ones, the rarest of them first, and those whose sets come in parts.
    fn ordered(&self, py: Python<'_>, frequent: Vec<i64>, parts: Vec<(i64, u32)>) -> PyResult<Self> {
        let frequent = frequent.into_iter().map(i64::cast_unsigned).collect();
        let parts = parts.into_iter().map(|(token, parts)| (token.cast_unsigned(), parts)).collect();
        Self::made(py, self.settings.clone(), self.collections, self.salt, frequent, parts)
    }

    /// The same with other tokens whose sets come in parts.
    fn split(&self, py: Python<'_>, parts: Vec<(i64, u32)>) -> PyResult<Self> {
        let parts = parts.into_iter().map(|(token, parts)| (token.cast_unsigned(), parts)).collect();
        Self::made(py, self.settings.clone(), self.collections, self.salt, self.frequent.clone(), parts)
    }

    /// The tokens whose sets come in parts, and in how many.
    #[getter]
    fn parts(&self) -> Vec<(i64, u32)> {
        self.parts.iter().map(|&(token, parts)| (token.cast_signed(), parts)).collect()
    }

    /// The name of the measure, and whether values count the entries in which sketches agree.
    fn values(&self) -> (&'static str, bool) {
        (self.inner.measure().name(), self.inner.estimate(0.0).is_some())
    }

    /// Texts to `token`, `records` that have it, and `low` and `high`, which differ if several tokens have the same hash.
    fn count<'py>(&self, py: Python<'py>, texts: PyArray) -> PyResult<Bound<'py, PyAny>> {
        let batch = detached(py, || {
            let mut tally = Tally::default();
            for text in &texts_of(texts.array()).map_err(failed)? {
                self.inner.count(text.unwrap_or_default(), &mut tally).map_err(failed)?;
            }
            let mut columns: [Vec<i64>; 4] = Default::default();
            for (token, (records, low, high)) in tally.drain() {
                let row = [token, records, low, high].map(u64::cast_signed);
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
            let names = ["token", "records", "low", "high"];
            let columns = columns.map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
            batch(names.into_iter().zip(columns))
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }

    /// Texts to `set`, its name, which is missing where there are no tokens; whether two that have it are `twins`, thus a pair; and the
    /// value of these.
    fn names<'py>(&self, py: Python<'py>, texts: PyArray) -> PyResult<Bound<'py, PyAny>> {
        let batch = detached(py, || {
            let (mut names, mut twins, mut values) = (Vec::new(), Vec::new(), Values::default());
            self.for_each_set(&texts_of(texts.array()).map_err(failed)?, |set| {
                names.push((!set.is_empty()).then(|| named(twinset::shuffle::Shuffle::name(&set))));
                let (are_twins, value) = self.inner.twins(set.len() as u32);
                twins.push(are_twins);
                values.push(&self.inner, value);
                Ok(())
            })?;
            let names: ArrayRef = Arc::new(names.into_iter().collect::<BinaryArray>());
            let twins: ArrayRef = Arc::new(BooleanArray::from(twins));
            batch([("set", names), ("twins", twins)].into_iter().chain(values.columns()))
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }

    /// Texts to batches of `set`, its name, and `tokens`.
    fn sets<'py>(&self, py: Python<'py>, texts: PyArray) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let batches = detached(py, || {
            let mut cut = Cut::new(["set", "tokens"], names_column);
            self.for_each_set(&texts_of(texts.array()).map_err(failed)?, |set| {
                if set.is_empty() {
                    return Ok(());
                }
                cut.push(named(twinset::shuffle::Shuffle::name(&set)), bytemuck::cast_slice(&set))
            })?;
            cut.finish()
        })?;
        batches.into_iter().map(|batch| PyRecordBatch::new(batch).into_pyarrow(py)).collect()
    }

    /// The tokens of sets to batches of `meeting` and `card`.
    fn cards<'py>(&self, py: Python<'py>, sets: PyArray, is_right: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let batches = detached(py, || {
            let mut cut = Cut::new(["meeting", "card"], |meetings: Vec<i64>| Arc::new(Int64Array::from(meetings)));
            let mut bytes = Vec::new();
            for set in binary(&sets)?.iter().flatten() {
                let mut result = Ok(());
                self.inner.cards(&mut numbers(set), Self::side(is_right), &self.order, |meeting, card| {
                    bytes.clear();
                    card.write(&mut bytes);
                    if result.is_ok() {
                        result = cut.push(meeting.cast_signed(), &bytes);
                    }
                });
                result?;
            }
            cut.finish()
        })?;
        batches.into_iter().map(|batch| PyRecordBatch::new(batch).into_pyarrow(py)).collect()
    }

    /// The tokens of sets to `token`, for each card that would go to one whose sets come in parts.
    fn crowds<'py>(&self, py: Python<'py>, sets: PyArray, is_right: bool) -> PyResult<Bound<'py, PyAny>> {
        let batch = detached(py, || {
            let mut tokens = Vec::new();
            for set in binary(&sets)?.iter().flatten() {
                let visit = |token: u64| tokens.push(token.cast_signed());
                self.inner.crowded_addresses(&mut numbers(set), Self::side(is_right), &self.order, visit);
            }
            batch([("token", Arc::new(Int64Array::from(tokens)) as ArrayRef)])
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }

    /// The tokens of two sets in each row to their value, whether they are a pair or not.
    fn liken<'py>(&self, py: Python<'py>, left: PyArray, right: PyArray) -> PyResult<Bound<'py, PyAny>> {
        let batch = detached(py, || {
            let (left, right, mut values) = (binary(&left)?, binary(&right)?, Values::default());
            for row in 0..left.len().min(right.len()) {
                let value = self.inner.value(&numbers(left.value(row)), &numbers(right.value(row)));
                values.push(&self.inner, value);
            }
            batch(values.columns())
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }

    /// The tokens of two sets in each row to the pairs that they are: the `row`, whether it is `turned`, and its value.
    fn compare<'py>(&self, py: Python<'py>, left: PyArray, right: PyArray) -> PyResult<Bound<'py, PyAny>> {
        let batch = detached(py, || {
            let (left, right) = (binary(&left)?, binary(&right)?);
            let (mut rows, mut turned, mut values) = (Vec::new(), Vec::new(), Values::default());
            for row in 0..left.len().min(right.len()) {
                let tokens = |column: &BinaryArray| numbers(column.value(row));
                self.inner.compare(&tokens(&left), &tokens(&right), |is_turned, value| {
                    rows.push(row as i32);
                    turned.push(is_turned);
                    values.push(&self.inner, value);
                });
            }
            let rows: ArrayRef = Arc::new(Int32Array::from(rows));
            let turned: ArrayRef = Arc::new(BooleanArray::from(turned));
            batch([("row", rows), ("turned", turned)].into_iter().chain(values.columns()))
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }
}

/// Where sets meet: takes batches of `meeting` and `card`, sorted by meetings, and gives the sets that may be pairs.
#[pyclass(frozen, module = "twinset._twinset")]
pub(crate) struct Meeting {
    state: Mutex<State>,
}

struct State {
    inner: twinset::shuffle::Meeting,
    /// What was taken and not looked at yet: meetings, their cards, and the next row.
    rows: Option<(Int64Array, BinaryArray, usize)>,
    /// What remains of a meeting.
    candidates: Option<Candidates>,
}

#[pymethods]
impl Meeting {
    #[new]
    fn new(shuffle: &Shuffle) -> Self {
        let inner = twinset::shuffle::Meeting::new(&shuffle.inner);
        Self { state: Mutex::new(State { inner, rows: None, candidates: None }) }
    }

    /// Takes cards, once `found` has given all of those before.
    fn take(&self, py: Python<'_>, meetings: PyArray, cards: PyArray) -> PyResult<()> {
        detached(py, || {
            let meetings = meetings.array().as_primitive_opt::<Int64Type>().cloned();
            let meetings = meetings.ok_or_else(|| failed("this column holds no meetings"))?;
            self.state().rows = Some((meetings, binary(&cards)?, 0));
            Ok(())
        })
    }

    /// All cards were taken: the last meeting is over.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || {
            let mut state = self.state();
            state.candidates = Some(state.inner.finish());
            Ok(())
        })
    }

    /// The next batch of `left` and `right`, names of sets; `None` if it takes more cards to find more.
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let batch = detached(py, || {
            let [left, right] = self.state().found()?;
            let is_over = left.is_empty();
            let batch = batch([("left", names_column(left)), ("right", names_column(right))])?;
            Ok((!is_over).then_some(batch))
        })?;
        batch.map(|batch| PyRecordBatch::new(batch).into_pyarrow(py)).transpose()
    }
}

impl Meeting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next candidates: the names of the left sets, and of the right ones.
    fn found(&mut self) -> PyResult<[Vec<[u8; 16]>; 2]> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        loop {
            for (x, y) in self.candidates.iter_mut().flatten().take(CANDIDATES - left.len()) {
                left.push(named(x));
                right.push(named(y));
            }
            let Some((meetings, cards, row)) = &mut self.rows else { break };
            if left.len() == CANDIDATES || *row == meetings.len().min(cards.len()) {
                break;
            }
            let card = Card::read(cards.value(*row)).ok_or_else(|| failed("a card was damaged on its way"))?;
            self.candidates = self.inner.take(meetings.value(*row).cast_unsigned(), card);
            *row += 1;
        }
        Ok([left, right])
    }
}

/// Rows of a key and bytes, cut into batches that are not too large.
struct Cut<K> {
    names: [&'static str; 2],
    keys: Vec<K>,
    column: fn(Vec<K>) -> ArrayRef,
    values: BinaryBuilder,
    batches: Vec<RecordBatch>,
}

impl<K> Cut<K> {
    fn new(names: [&'static str; 2], column: fn(Vec<K>) -> ArrayRef) -> Self {
        Self { names, keys: Vec::new(), column, values: BinaryBuilder::new(), batches: Vec::new() }
    }

    fn push(&mut self, key: K, value: &[u8]) -> PyResult<()> {
        self.keys.push(key);
        self.values.append_value(value);
        if self.values.values_slice().len() > LARGE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> PyResult<()> {
        let keys = (self.column)(std::mem::take(&mut self.keys));
        self.batches.push(batch(self.names.into_iter().zip([keys, Arc::new(self.values.finish())]))?);
        Ok(())
    }

    fn finish(mut self) -> PyResult<Vec<RecordBatch>> {
        self.flush()?;
        Ok(self.batches)
    }
}

/// A column of sets' names.
fn names_column(names: Vec<[u8; 16]>) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(names))
}

/// Columns of values; estimates have intervals as well.
#[derive(Default)]
struct Values {
    values: Vec<f64>,
    intervals: [Vec<Option<f64>>; 2],
}

impl Values {
    fn push(&mut self, shuffle: &twinset::shuffle::Shuffle, value: f64) {
        let estimate = shuffle.estimate(value);
        self.values.push(estimate.map_or(value, |interval| interval.similarity));
        self.intervals[0].push(estimate.map(|interval| interval.low));
        self.intervals[1].push(estimate.map(|interval| interval.high));
    }

    fn columns(self) -> [(&'static str, ArrayRef); 3] {
        let [low, high] = self.intervals.map(|bounds| Arc::new(Float64Array::from(bounds)) as ArrayRef);
        [("value", Arc::new(Float64Array::from(self.values))), ("low", low), ("high", high)]
    }
}

fn batch(columns: impl IntoIterator<Item = (&'static str, ArrayRef)>) -> PyResult<RecordBatch> {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .map_err(failed)
}

/// A set's name as bytes.
fn named(name: SetName) -> [u8; 16] {
    name.to_be_bytes()
}

/// A column of bytes, whatever the kind of its offsets.
fn binary(column: &PyArray) -> PyResult<BinaryArray> {
    let large = column.array().as_binary_opt::<i64>();
    let column = column.array().as_binary_opt::<i32>().cloned();
    column.or_else(|| Some(large?.iter().collect())).ok_or_else(|| failed("this column holds no bytes"))
}

/// The numbers that bytes stand for.
fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|&number| u64::from_ne_bytes(number)).collect()
}

fn failed(error: impl ToString) -> PyErr {
    TwinsetError::new_err(error.to_string())
}
