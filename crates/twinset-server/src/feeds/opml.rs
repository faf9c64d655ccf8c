//! Lists of feeds in OPML, as other readers export them.

use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use crate::{Error, Result};

/// A feed of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Where it is, as the list says.
    pub(crate) address: String,
    /// What the list calls it.
    pub(crate) title: String,
}

/// Whether a document is a list of feeds: its outermost element tells.
pub(crate) fn is_list(text: &str) -> bool {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                return element.name().as_ref().eq_ignore_ascii_case("opml");
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// The feeds of a list, in their order.
pub(crate) fn outlines(opml: &str) -> Result<Vec<Outline>> {
    let broken = |reason: String| Error::Request(format!("this is no OPML list: {reason}"));
    let mut reader = Reader::from_str(opml);
    let mut outlines = Vec::new();
    loop {
        match reader.read_event().map_err(|error| broken(error.to_string()))? {
            Event::Start(element) | Event::Empty(element)
                if element.name().as_ref().eq_ignore_ascii_case("outline") =>
            {
                let (mut address, mut title) = (None, String::new());
                for attribute in element.attributes().flatten() {
                    // An address with a bare `&` is meant as it stands.
                    let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap_or(attribute.value.clone());
                    match attribute.key.as_ref().to_ascii_lowercase().as_str() {
                        "xmlurl" => address = Some(value.into_owned()),
                        "title" => title = value.into_owned(),
                        "text" if title.is_empty() => title = value.into_owned(),
                        _ => {}
                    }
                }
                outlines.extend(address.map(|address| Outline { address, title }));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if outlines.is_empty() { Err(broken("it has no outline with an xmlUrl".to_owned())) } else { Ok(outlines) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_told_from_a_feed_that_speaks_of_one() {
        assert!(is_list("\u{feff}<?xml version='1.0'?>\n<!-- mine --><OPML version='2.0'><body/></OPML>"));
        assert!(!is_list("<rss><channel><title><![CDATA[<opml>]]></title></channel></rss>"));
        assert!(!is_list("opml"));
    }

    #[test]
    fn outlines_may_lie_in_each_other_and_be_written_carelessly() {
        let list = "<opml><body><outline text='Towns'><outline TEXT='One &amp; all' xmlUrl='https://a.example/?b=1&amp;c=2'/>\
                    <outline text='Two' title='Second' xmlurl='https://b.example/?b=1&c=2'/></outline></body></opml>";
        let outline = |address: &str, title: &str| Outline { address: address.to_owned(), title: title.to_owned() };
        let expected =
            [outline("https://a.example/?b=1&c=2", "One & all"), outline("https://b.example/?b=1&c=2", "Second")];
        assert_eq!(outlines(list).unwrap(), expected);
        assert!(outlines("<opml><body/></opml>").unwrap_err().to_string().contains("no outline"));
        assert!(outlines("<opml></body>").unwrap_err().to_string().contains("no OPML list"));
    }
}
