//! A number of bytes, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes: `64M`, `1G`, `1.5GiB`, `4096`. Units are powers of 1024.
///
/// ```
/// # use twinset_io::ByteSize;
/// assert_eq!("64M".parse::<ByteSize>().unwrap().bytes(), 64 << 20);
/// assert_eq!(ByteSize::new(1536 << 20).to_string(), "1536M");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub struct ByteSize(u64);

const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

impl ByteSize {
    /// So many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a size: write a number of bytes, or one with a unit such as 64M or 1G");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text[digits.len()..].to_ascii_uppercase();
        let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit);
        let shift = match unit {
            "" => 0,
            _ => UNITS.iter().find(|(name, _)| unit == name.to_string()).ok_or_else(bad)?.1,
        };
        let number: f64 = digits.trim().parse().map_err(|_| bad())?;
        let bytes = number * (1u64 << shift) as f64;
        if !(1.0..1e18).contains(&bytes) {
            return Err(bad());
        }
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, shift) in UNITS {
            // Only whole units, so that the text means the same number.
            if self.0 >= 1 << shift && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{name}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

/// A size in JSON: a number of bytes, or a text with a unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Bytes(u64),
    Text(String),
}

impl TryFrom<Written> for ByteSize {
    type Error = String;
    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Bytes(bytes) => bytes.to_string().parse(),
            Written::Text(text) => text.parse(),
        }
    }
}

impl From<ByteSize> for String {
    fn from(size: ByteSize) -> String {
        size.to_string()
    }
}
