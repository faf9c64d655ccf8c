//! Why two records are, or are not, a pair: a small tree that can be printed or serialised.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A tree of named findings. Each method that explains itself adds a branch.
///
/// ```
/// # use twinset::Explanation;
/// let mut tree = Explanation::branch();
/// tree.add("size filter", Explanation::leaf("passed"));
/// assert_eq!(tree.to_string(), "size filter: passed\n");
/// assert_eq!(serde_json::to_string(&tree).unwrap(), r#"{"size filter":"passed"}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// A finding.
    Leaf(Value),
    /// Findings by name, in the order in which they were added.
    Branch(Vec<(String, Explanation)>),
}

impl Explanation {
    /// A finding: text, a number, a truth value, or a list.
    pub fn leaf(value: impl Into<Value>) -> Self {
        Self::Leaf(value.into())
    }

    /// A branch without findings yet.
    pub fn branch() -> Self {
        Self::Branch(Vec::new())
    }

    /// Adds a finding to a branch.
    pub fn add(&mut self, name: &str, child: Explanation) -> &mut Self {
        match self {
            Self::Branch(children) => children.push((name.to_owned(), child)),
            Self::Leaf(_) => *self = Self::Branch(vec![(name.to_owned(), child)]),
        }
        self
    }

    /// The finding of this name.
    pub fn get(&self, name: &str) -> Option<&Explanation> {
        match self {
            Self::Branch(children) => children.iter().find(|(own, _)| own == name).map(|(_, child)| child),
            Self::Leaf(_) => None,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let Self::Branch(children) = self else { return Ok(()) };
        for (name, child) in children {
            write!(f, "{:1$}{name}:", "", 2 * depth)?;
            match child {
                Self::Leaf(Value::String(text)) => writeln!(f, " {text}")?,
                // Shingles and lines have spaces of their own.
                Self::Leaf(Value::Array(values)) if values.iter().any(has_space) => {
                    writeln!(f)?;
                    for value in values {
                        writeln!(f, "{:1$}{2}", "", 2 * (depth + 1), value.as_str().unwrap_or_default())?;
                    }
                }
                Self::Leaf(Value::Array(values)) => {
                    for value in values {
                        match value {
                            Value::String(text) => write!(f, " {text}")?,
                            other => write!(f, " {other}")?,
                        }
                    }
                    writeln!(f)?;
                }
                Self::Leaf(value) => writeln!(f, " {value}")?,
                Self::Branch(_) => {
                    writeln!(f)?;
                    child.write(f, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

fn has_space(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(char::is_whitespace))
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Leaf(value) => value.serialize(serializer),
            Self::Branch(children) => serializer.collect_map(children.iter().map(|(name, child)| (name, child))),
        }
    }
}
