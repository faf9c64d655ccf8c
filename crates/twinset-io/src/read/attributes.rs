//! How many attributes the elements of a page have, counted before a parser sees them: looking for repeated ones, it takes as long as
//! the square of their number.

/// Whether a tag has more than so many attributes, as the tokenizer of HTML separates them: by white space, by `/`, or by nothing
/// after a quoted value.
///
/// What begins with `<` and a letter may be a tag, or lie in a script, a comment or a value; which of them, only a parser knows, so
/// all are counted, and none can hide behind another. To do that in one go, the page is read from its end: for each state of the
/// tokenizer it is known how many attributes would follow from here until the tag ends.
pub(super) fn has_more_attributes(html: &str, most: u64) -> bool {
    let html = html.as_bytes();
    // Each takes a letter and what separates it from the one before.
    if html.len() as u64 <= 2 * most {
        return false;
    }
    let mut after = Following::default();
    for (at, &byte) in html.iter().enumerate().rev() {
        after = after.before(byte);
        let may_begin = byte.is_ascii_alphabetic() && (html[..at].ends_with(b"<") || html[..at].ends_with(b"</"));
        if may_begin && after.in_tag_name > most {
            return true;
        }
    }
    false
}

/// How many attributes begin from a place on until the tag ends, if the tokenizer is in one state or another there.
#[derive(Clone, Copy, Default)]
struct Following {
    in_tag_name: u64,
    /// Also after a quoted value, and after a `/`.
    before_name: u64,
    in_name: u64,
    after_name: u64,
    before_value: u64,
    in_double_quotes: u64,
    in_single_quotes: u64,
    in_plain_value: u64,
}

impl Following {
    /// The same for the place before a character.
    fn before(self, byte: u8) -> Self {
        match byte {
            b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' => Self {
                in_tag_name: self.before_name,
                in_name: self.after_name,
                in_plain_value: self.before_name,
                ..self
            },
            b'/' => Self {
                in_tag_name: self.before_name,
                in_name: self.before_name,
                after_name: self.before_name,
                before_value: self.in_plain_value,
                ..self
            },
            b'>' => Self {
                in_double_quotes: self.in_double_quotes,
                in_single_quotes: self.in_single_quotes,
                ..Self::default()
            },
            b'=' => Self {
                before_name: 1 + self.in_name,
                in_name: self.before_value,
                after_name: self.before_value,
                before_value: self.in_plain_value,
                ..self
            },
            b'"' => {
                Self { before_value: self.in_double_quotes, in_double_quotes: self.before_name, ..self.before_letter() }
            }
            b'\'' => {
                Self { before_value: self.in_single_quotes, in_single_quotes: self.before_name, ..self.before_letter() }
            }
            _ => self.before_letter(),
        }
    }

    fn before_letter(self) -> Self {
        Self { before_name: 1 + self.in_name, after_name: 1 + self.in_name, before_value: self.in_plain_value, ..self }
    }
}

#[cfg(test)]
mod tests {
    use dom_query::Document;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The most attributes that a tag has.
    fn counted(html: &str) -> u64 {
        // What comes after it makes the page long enough to be looked at.
        let html = format!("{html}{}", " ".repeat(2 * html.len() + 20));
        (0..).find(|&most| !has_more_attributes(&html, most)).unwrap()
    }

    #[test]
    fn attributes_are_counted_as_html_separates_them() {
        for (html, count) in [
            ("<p>", 0),
            ("a < b c d", 0),
            ("<p a b=1 c='x y' d=\"> e f\" g>", 5),
            ("<p/a/b/c/>", 3),
            ("<p a='1'b=\"2\"c>", 3),
            ("<p a=/b/c d>", 2),
            ("<p =a/=b>", 2),
            ("<p a = 1 b = '2'>", 2),
            ("</p a b/c>", 3),
            ("<p\ta\nb\x0cc\rd", 4),
            // What is in quotes may be a tag all the same, if the quotes lie in a script.
            ("<script>x<y z='</script><p a b c>'", 3),
            ("<!-- <p '--><p a b>", 2),
        ] {
            assert_eq!(counted(html), count, "{html}");
        }
    }

    #[test]
    fn no_page_hides_attributes_from_the_count() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let pieces = [
            "<p",
            "<b",
            "</p",
            "<script>",
            "</script>",
            "<title>",
            "</title>",
            "<!--",
            "-->",
            "<svg>",
            "<![CDATA[",
            "]]>",
            " ",
            "/",
            ">",
            "=",
            "\"",
            "'",
            "\n",
            "\0",
            "&",
        ];
        let mut most = 0;
        for number in 0..5_000 {
            let mut html = String::new();
            for place in 0..random.random_range(1..40) {
                html += pieces[random.random_range(0..pieces.len())];
                // Names that differ are not taken for one.
                html += &format!("x{place}");
            }
            let document = Document::from(html.as_str());
            let seen = document.select("*").nodes().iter().map(|node| node.attrs().len() as u64).max().unwrap_or(0);
            most = most.max(seen);
            assert!(counted(&html) >= seen, "{number}: {html}");
        }
        assert!(most > 5, "{most}");
    }
}
