//! A value as it is compared: what is written differently and means the same becomes the same text.

use crate::options::Normalize;

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Integer,
    Decimal,
    Date,
    Timestamp,
    Boolean,
    Text,
}

impl Class {
    /// As a member of a set of classes.
    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A value as it is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NormalizedValue<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) class: Class,
    /// Where it stands among numbers, or among dates.
    pub(crate) order: f64,
}

/// How values become what is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Normalizer {
    types: bool,
    case: bool,
    zeros: bool,
    space: bool,
}

impl Normalizer {
    pub(crate) fn new(normalize: &[Normalize]) -> Self {
        let has = |rule| normalize.contains(&rule);
        Self {
            types: !has(Normalize::None),
            case: has(Normalize::Case),
            zeros: has(Normalize::Zeros),
            space: has(Normalize::Space),
        }
    }

    /// Whether nothing was asked for besides.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::new(&[])
    }

    /// A value as it is compared, in the buffer if it has to be written anew.
    #[inline]
    pub(crate) fn apply<'a>(&self, raw: &'a [u8], buffer: &'a mut Vec<u8>) -> NormalizedValue<'a> {
        if self.types
            && let Some(first) = raw.first()
        {
            let found = match first {
                b'0'..=b'9' | b'-' | b'+' | b'.' if !self.space && !self.zeros => typed(raw, buffer),
                b't' | b'T' | b'f' | b'F' => boolean(raw),
                _ => None,
            };
            if let Some(found) = found {
                return Self::resolve(found, raw, buffer);
            }
        }
        if self.case || self.zeros || self.space {
            return self.rewritten(raw, buffer);
        }
        NormalizedValue { text: raw, class: Class::Text, order: 0.0 }
    }

    fn resolve<'a>(found: Found, raw: &'a [u8], buffer: &'a [u8]) -> NormalizedValue<'a> {
        let Found { text, class, order } = found;
        let text = match text {
            Written::Raw { start, end } => &raw[start..end],
            Written::Buffer => buffer,
            Written::As(text) => text.as_bytes(),
        };
        NormalizedValue { text, class, order }
    }

    /// The same with what the user asked for besides.
    fn rewritten<'a>(&self, raw: &[u8], buffer: &'a mut Vec<u8>) -> NormalizedValue<'a> {
        let mut text = String::from_utf8_lossy(raw).into_owned();
        if self.space {
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        if self.zeros {
            let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
            let rest = digits.trim_start_matches('0');
            if rest.len() < digits.len() {
                let rest =
                    if rest.starts_with(|c: char| c.is_ascii_digit()) { rest.to_owned() } else { format!("0{rest}") };
                text = format!("{sign}{rest}");
            }
        }
        if self.case {
            text = text.to_lowercase();
        }
        let found = if self.types { typed(text.as_bytes(), buffer).or_else(|| boolean(text.as_bytes())) } else { None };
        let (class, order) = found.as_ref().map_or((Class::Text, 0.0), |found| (found.class, found.order));
        match found.map(|found| found.text) {
            Some(Written::Buffer) => {}
            Some(Written::As(known)) => {
                buffer.clear();
                buffer.extend_from_slice(known.as_bytes());
            }
            Some(Written::Raw { start, end }) => {
                buffer.clear();
                buffer.extend_from_slice(&text.as_bytes()[start..end]);
            }
            None => {
                buffer.clear();
                buffer.extend_from_slice(text.as_bytes());
            }
        }
        NormalizedValue { text: buffer, class, order }
    }
}

/// A value whose class is known.
struct Found {
    text: Written,
    class: Class,
    order: f64,
}

/// Where the text of a value stands.
enum Written {
    Raw { start: usize, end: usize },
    Buffer,
    As(&'static str),
}

fn boolean(raw: &[u8]) -> Option<Found> {
    let text = match raw.len() {
        4 if raw.eq_ignore_ascii_case(b"true") => "true",
        5 if raw.eq_ignore_ascii_case(b"false") => "false",
        _ => return None,
    };
    Some(Found { text: Written::As(text), class: Class::Boolean, order: 0.0 })
}

/// Whether a text of a boolean column stands for true or for false.
pub(crate) fn truth(text: &[u8]) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    match (is_one_of(&["true", "1", "t", "yes", "y"]), is_one_of(&["false", "0", "f", "no", "n"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// A number or a date, if it is one.
fn typed(raw: &[u8], buffer: &mut Vec<u8>) -> Option<Found> {
    if raw.len() >= 10 && (raw[4] == b'-' || raw[4] == b'/') {
        return moment(raw, buffer);
    }
    number(raw, buffer)
}

fn number(raw: &[u8], buffer: &mut Vec<u8>) -> Option<Found> {
    let first = *raw.first()?;
    let is_negative = first == b'-';
    let start = usize::from(is_negative || first == b'+');
    let mut at = start;
    let mut value: u64 = 0;
    while let Some(digit) = raw.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let whole = at - start;
    // What begins with zeros is a code.
    if whole > 1 && raw[start] == b'0' {
        return None;
    }
    let signed = |value: f64| if is_negative { -value } else { value };
    if at == raw.len() {
        if whole == 0 {
            return None;
        }
        let parsed = || text_of(raw).parse().ok().filter(|order: &f64| order.is_finite());
        let order = if whole <= 18 { signed(value as f64) } else { parsed()? };
        let start = if is_negative && (value > 0 || whole > 18) { 0 } else { start };
        return Some(Found { text: Written::Raw { start, end: raw.len() }, class: Class::Integer, order });
    }
    let mut fraction = at..at;
    if raw[at] == b'.' {
        let digits = raw[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        fraction = at + 1..at + 1 + digits;
        at = fraction.end;
    }
    if whole + fraction.len() == 0 {
        return None;
    }
    if at < raw.len() {
        return scientific(raw, at, !fraction.is_empty(), buffer);
    }
    if fraction.is_empty() {
        // `12.` is written by some programs.
        return None;
    }
    let zeros = raw[fraction.clone()].iter().rev().take_while(|byte| **byte == b'0').count();
    let order = match TENS.get(fraction.len()) {
        // Both numbers are exact, so their quotient is the nearest there is.
        Some(tens) if whole + fraction.len() <= 15 => {
            let digits = raw[fraction.clone()].iter().fold(value, |sum, digit| 10 * sum + u64::from(digit - b'0'));
            signed(digits as f64 / tens)
        }
        _ => text_of(raw).parse().ok().filter(|order: &f64| order.is_finite())?,
    };
    let digits = &raw[start..start + whole];
    let is_zero = zeros == fraction.len() && digits.iter().all(|digit| *digit == b'0');
    buffer.clear();
    if is_negative && !is_zero {
        buffer.push(b'-');
    }
    buffer.extend_from_slice(if digits.is_empty() { b"0" } else { digits });
    if zeros == fraction.len() {
        return Some(Found { text: Written::Buffer, class: Class::Integer, order });
    }
    buffer.push(b'.');
    buffer.extend_from_slice(&raw[fraction.start..fraction.end - zeros]);
    Some(Found { text: Written::Buffer, class: Class::Decimal, order })
}

/// The powers of ten.
const TENS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A number with an exponent, which must have a sign or a point: `1E5` may be a code.
fn scientific(raw: &[u8], at: usize, has_point: bool, buffer: &mut Vec<u8>) -> Option<Found> {
    let rest = raw[at..].strip_prefix(b"e").or_else(|| raw[at..].strip_prefix(b"E"))?;
    let digits = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"-")).unwrap_or(rest);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) || (digits.len() == rest.len() && !has_point) {
        return None;
    }
    let order: f64 = text_of(raw).parse().ok().filter(|value: &f64| value.is_finite())?;
    let text = order.to_string();
    let class = if text.contains('.') { Class::Decimal } else { Class::Integer };
    buffer.clear();
    buffer.extend_from_slice(if order == 0.0 { b"0" } else { text.as_bytes() });
    Some(Found { text: Written::Buffer, class, order })
}

/// A date, or a date and a time.
fn moment(raw: &[u8], buffer: &mut Vec<u8>) -> Option<Found> {
    let digits = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = raw.get(range)?;
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| part.iter().fold(0, |sum, digit| 10 * sum + u32::from(digit - b'0')))
    };
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    if raw[7] != raw[4] || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let order = f64::from((year * 12 + month) * 31 + day) * 86_400.0;
    let is_plain = raw[4] == b'-';
    let date = |buffer: &mut Vec<u8>| {
        buffer.clear();
        buffer.extend_from_slice(&raw[..10]);
        (buffer[4], buffer[7]) = (b'-', b'-');
    };
    if raw.len() == 10 {
        let text = if is_plain {
            Written::Raw { start: 0, end: 10 }
        } else {
            date(buffer);
            Written::Buffer
        };
        return Some(Found { text, class: Class::Date, order });
    }
    if !matches!(raw[10], b'T' | b't' | b' ') || raw.get(13) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (digits(11..13)?, digits(14..16)?);
    let (mut at, mut second) = (16, 0);
    if raw.get(at) == Some(&b':') {
        second = digits(17..19)?;
        at = 19;
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let mut fraction: &[u8] = &[];
    if raw.get(at) == Some(&b'.') {
        let length = raw[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        fraction = &raw[at + 1..at + 1 + length];
        at += 1 + length;
    }
    while let Some((b'0', rest)) = fraction.split_last() {
        fraction = rest;
    }
    let offset = match &raw[at..] {
        b"" | b"Z" | b"z" | b"+00" | b"+00:00" | b"+0000" | b"-00:00" | b" UTC" | b" +00:00" => &[],
        rest @ [b'+' | b'-', ..]
            if rest.len() <= 6 && rest[1..].iter().all(|byte| byte.is_ascii_digit() || *byte == b':') =>
        {
            rest
        }
        _ => return None,
    };
    date(buffer);
    if hour + minute + second == 0 && fraction.is_empty() && offset.is_empty() {
        return Some(Found { text: Written::Buffer, class: Class::Date, order });
    }
    buffer.push(b'T');
    buffer.extend_from_slice(&raw[11..16]);
    buffer.push(b':');
    buffer.extend_from_slice(if second > 0 || raw.get(16) == Some(&b':') { &raw[17..19] } else { b"00" });
    if !fraction.is_empty() {
        buffer.push(b'.');
        buffer.extend_from_slice(fraction);
    }
    buffer.extend_from_slice(offset);
    let order = order + f64::from(hour * 3600 + minute * 60 + second);
    Some(Found { text: Written::Buffer, class: Class::Timestamp, order })
}

/// What consists of digits and signs.
fn text_of(raw: &[u8]) -> &str {
    std::str::from_utf8(raw).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str, rules: &[Normalize]) -> (String, Class) {
        let mut buffer = Vec::new();
        let normal = Normalizer::new(rules).apply(text.as_bytes(), &mut buffer);
        (String::from_utf8(normal.text.to_vec()).unwrap(), normal.class)
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        use Class::*;
        for (text, expected, class) in [
            ("7", "7", Integer),
            ("+7", "7", Integer),
            ("-7", "-7", Integer),
            ("-0", "0", Integer),
            ("7.0", "7", Integer),
            ("7.50", "7.5", Decimal),
            (".5", "0.5", Decimal),
            ("-0.00", "0", Integer),
            ("-00.5", "-00.5", Text),
            ("1.5e3", "1500", Integer),
            ("1e-3", "0.001", Decimal),
            ("123456789012345678901234567890", "123456789012345678901234567890", Integer),
            // What may be a code stays as it is.
            ("007", "007", Text),
            ("1E5", "1E5", Text),
            ("12.", "12.", Text),
            ("1.2.3", "1.2.3", Text),
            ("-", "-", Text),
            ("1-2", "1-2", Text),
            ("2024-02-03", "2024-02-03", Date),
            ("2024/02/03", "2024-02-03", Date),
            ("2024-02-03 00:00:00", "2024-02-03", Date),
            ("2024-02-03T00:00:00.000Z", "2024-02-03", Date),
            ("2024-02-03 04:05", "2024-02-03T04:05:00", Timestamp),
            ("2024-02-03T04:05:06.500+00:00", "2024-02-03T04:05:06.5", Timestamp),
            ("2024-02-03T04:05:06+02:00", "2024-02-03T04:05:06+02:00", Timestamp),
            ("2024-13-03", "2024-13-03", Text),
            ("2024-02-03x", "2024-02-03x", Text),
            ("2024-02-03 blue", "2024-02-03 blue", Text),
            ("2024-0é-03", "2024-0é-03", Text),
            ("True", "true", Boolean),
            ("FALSE", "false", Boolean),
            ("truth", "truth", Text),
            ("Alice", "Alice", Text),
            (" 7", " 7", Text),
        ] {
            assert_eq!(normal(text, &[]), (expected.to_owned(), class), "{text}");
        }
    }

    #[test]
    fn more_or_less_is_done_where_asked() {
        use Normalize::*;
        assert_eq!(normal("007", &[Zeros]), ("7".to_owned(), Class::Integer));
        assert_eq!(normal("-00.50", &[Zeros]), ("-0.5".to_owned(), Class::Decimal));
        assert_eq!(normal("000", &[Zeros]).0, "0");
        assert_eq!(normal("Straße ÄÖ", &[Case]).0, "straße äö");
        assert_eq!(normal("  a \t b ", &[Space]).0, "a b");
        assert_eq!(normal(" 7.0 ", &[Space]), ("7".to_owned(), Class::Integer));
        assert_eq!(normal("7.0", &[None]), ("7.0".to_owned(), Class::Text));
        assert_eq!(normal("TRUE", &[None, Case]), ("true".to_owned(), Class::Text));
    }
}
