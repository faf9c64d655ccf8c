//! Many strings in one allocation.

/// A list of strings in two flat arrays: record ids, shown fields, or the texts that edit distance compares.
///
/// ```
/// # use twinset::support::Strings;
/// let names: Strings = ["ann", "bob"].into_iter().collect();
/// assert_eq!(names.get(1), "bob");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// Adds a string at the end.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len());
    }

    /// Adds all strings of another list.
    pub fn append(&mut self, other: &Strings) {
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// The string at a position.
    pub fn get(&self, position: usize) -> &str {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.text[start..self.ends[position]]
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        (self.text.capacity() + size_of::<usize>() * self.ends.capacity()) as u64
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|position| self.get(position))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut list = Self::default();
        for string in strings {
            list.push(string.as_ref());
        }
        list
    }
}
