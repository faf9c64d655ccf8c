//! Web pages: their encoding, their title, and their text.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use dom_query::{Document, NodeRef, Selection};
use dom_smoothie::{Config, Readability, TextMode};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;
use twinset::Run;

use super::attributes::has_more_attributes;
use super::block::{Bad, Record, Source};
use super::inputs::InputFile;
use super::lines::too_long;
use super::options::{PageText, ReadOptions};
use super::pieces::whole_file;
use crate::Limits;
use crate::guard::guarded;

/// The fields of a page.
pub(super) const FIELDS: [&str; 3] = ["url", "title", "text"];

/// A page as it was read.
pub(super) struct Page {
    /// Where it comes from.
    pub(super) url: String,
    /// The encoding, where something else than the page itself tells it.
    pub(super) encoding: Option<&'static Encoding>,
    pub(super) bytes: Vec<u8>,
    pub(super) kind: PageKind,
}

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Html,
    /// Text alone.
    Plain,
}

/// How many bytes are searched for a declared encoding.
const DECLARATION: usize = 4096;

/// Reads a file that holds one page, or reports what is wrong with it.
pub(super) fn read(
    input: &InputFile,
    encoding: Option<&'static Encoding>,
    options: &ReadOptions,
    run: &Run,
) -> crate::Result<(Vec<Page>, Vec<Bad>)> {
    let (url, largest) = (input.path.display().to_string(), options.limits.record);
    let bytes = whole_file(input, options, run)?;
    Ok(match bytes.len() as u64 > largest {
        true => (Vec::new(), vec![too_long(1, largest, url.as_bytes())]),
        false => (vec![Page { url, encoding, bytes, kind: PageKind::Html }], Vec::new()),
    })
}

/// Finds the title and the text of a page.
pub(super) fn parse(page: &Page, line: u64, source: &Source) -> Result<Record<'static>, Bad> {
    let Source { fields, page: how, limits, .. } = source;
    let bad = |reason: String| Bad::new(line, None, reason, page.url.as_bytes());
    let html = decoded(&page.bytes, page.encoding);
    if page.kind == PageKind::Plain {
        return fields.record(&[Cow::Owned(page.url.clone()), Cow::Borrowed(""), Cow::Owned(html.into_owned())], line);
    }
    let (title, text) = text_of_page(&html, *how, limits).map_err(bad)?;
    fields.record(&[Cow::Owned(page.url.clone()), Cow::Owned(title), Cow::Owned(text)], line)
}

/// The title and the text of a page; the reason if it has too much of something, or cannot be understood.
pub fn text_of_page(html: &str, how: PageText, limits: &Limits) -> Result<(String, String), String> {
    let deepest = limits.page_depth as usize;
    let too_deep =
        || format!("the page's elements lie more than {deepest} deep in each other; --limit page-depth=N allows more");
    if has_more_attributes(html, limits.attributes) {
        let most = limits.attributes;
        return Err(format!("an element has more than {most} attributes; --limit attributes=N allows more"));
    }
    // A parser takes as long as the square of the depth.
    if depth(html, deepest) > deepest {
        return Err(too_deep());
    }
    // Pages are what anybody may have written.
    let extracted = guarded(|| extract(html, how, deepest));
    extracted.ok_or_else(|| "the page cannot be understood".to_owned())?.ok_or_else(too_deep)
}

/// The title and the text; `None` if elements lie too deep in each other.
fn extract(html: &str, how: PageText, deepest: usize) -> Option<(String, String)> {
    let document = Document::from(html);
    if has_deeper(&document, deepest) {
        return None;
    }
    let title = document.select("title").first().text().trim().to_owned();
    let text = match how {
        PageText::Text => whole_text(&document),
        PageText::Main => main_text(document),
    };
    Some((title, text))
}

/// All text of a page that a reader sees.
fn whole_text(document: &Document) -> String {
    document.select(INVISIBLE).remove();
    body_text(document)
}

/// Elements that hold the content of a page.
const MAIN: &str = "main, [role='main' i]";
/// Elements whose text no reader sees.
const INVISIBLE: &str = "script, style, noscript, template";

fn body_text(document: &Document) -> String {
    document.body().unwrap_or_else(|| document.root()).formatted_text().to_string()
}

/// An extract with a smaller share of the page's text than this is not its article. Of 175 pages of manuals without landmarks, 164 had
/// extracts with at least half of their text. Below two fifths the extract was a copyright notice, or one of several lists.
const LEAST_SHARE: f64 = 0.4;
/// A `main` element may be a short page among menus that nothing marks, but with less than this it is a heading beside the content.
const LEAST_SHARE_OF_MAIN: f64 = 0.1;

/// Elements that are shown later, if at all.
const HIDDEN: &str = "[hidden]";

/// The text of the page's content, without what every page of its site has. It is empty if nothing else is there.
fn main_text(document: Document) -> String {
    document.select(INVISIBLE).remove();
    document.select(HIDDEN).remove();
    let Landmarks { main, articles, repeated, surrounds_main } = landmarks(&document);
    repeated.iter().for_each(NodeRef::remove_from_parent);
    let text_of = |nodes: &[NodeRef<'_>]| {
        let texts = nodes.iter().map(|node| node.formatted_text().to_string());
        texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
    };
    // The author says what the content is. An article within `main` may be one of several, or a small part of it.
    let (main, articles, all) = (text_of(&main), text_of(&articles), body_text(&document));
    if has_share(&main, &all, if surrounds_main { 0.0 } else { LEAST_SHARE_OF_MAIN }) {
        return main;
    }
    if has_share(&articles, &all, LEAST_SHARE) {
        return articles;
    }
    remove_named_furniture(&document);
    let rest = body_text(&document);
    // Without landmarks, what looks like furniture by its name may be all that there is.
    let rest = if rest.trim().is_empty() { all } else { rest };
    let config = Config { text_mode: TextMode::Formatted, disable_json_ld: true, ..Config::default() };
    let article = Readability::with_document(document, None, Some(config)).and_then(|mut reader| reader.parse());
    match article {
        Ok(article) if has_share(&article.text_content, &rest, LEAST_SHARE) => article.text_content.to_string(),
        _ if rest.trim().is_empty() => String::new(),
        _ => rest,
    }
}

/// Whether an extract has text, and at least this share of all.
fn has_share(extract: &str, all: &str, least: f64) -> bool {
    let length = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count() as f64;
    length(extract) >= (length(all) * least).max(1.0)
}

/// Ids and classes of footers.
const FOOTERS: [&str; 4] = ["copyright", "footer", "page-footer", "site-footer"];
/// Ids and classes of elements that are navigation if most of their text is links.
const MENUS: [&str; 9] =
    ["breadcrumb", "breadcrumbs", "main-menu", "menu", "nav", "navbar", "navigation", "sidebar", "topnav"];

/// Removes footers and navigation that only their ids and classes tell, as on pages without landmarks.
fn remove_named_furniture(document: &Document) {
    let length = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    for node in document.select("div[id], div[class], ul[id], ul[class], p[id], p[class], td[id], td[class]").nodes() {
        let names = [node.attr("id"), node.attr("class")];
        let has = |known: &[&str]| {
            let names = names.iter().flatten().flat_map(|names| names.split_ascii_whitespace());
            names.into_iter().any(|name| known.iter().any(|known| name.eq_ignore_ascii_case(known)))
        };
        let is_of_links = || {
            let links = Selection::from(*node).select("a").iter().map(|link| length(&link.text())).sum::<usize>();
            2 * links >= length(&node.text())
        };
        if has(&FOOTERS) || has(&MENUS) && is_of_links() {
            node.remove_from_parent();
        }
    }
}

/// The elements of a page that say which part of it they are, by their names or their ARIA roles.
#[derive(Default)]
struct Landmarks<'a> {
    /// `main` elements, without those in others.
    main: Vec<NodeRef<'a>>,
    /// `article` elements, without those in others.
    articles: Vec<NodeRef<'a>>,
    /// Navigation, footers, asides, and headers of the page: what is repeated from page to page.
    repeated: Vec<NodeRef<'a>>,
    /// Whether such an element has a `main` element in it, so that much of the remaining text may be repeated as well.
    surrounds_main: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Landmark {
    Main,
    Article,
    Section,
    Header,
    Repeated,
}

impl Landmark {
    fn of(node: &NodeRef<'_>) -> Option<Self> {
        let name = node.qual_name_ref()?;
        let role = node.attr("role");
        // A role counts more than a name.
        let role = role.iter().flat_map(|role| role.split_ascii_whitespace()).find_map(|role| {
            match role.to_ascii_lowercase().as_str() {
                "main" => Some(Self::Main),
                "article" => Some(Self::Article),
                "contentinfo" | "navigation" | "banner" | "complementary" => Some(Self::Repeated),
                _ => None,
            }
        });
        role.or(match &*name.local {
            "main" => Some(Self::Main),
            "article" => Some(Self::Article),
            "section" => Some(Self::Section),
            "header" => Some(Self::Header),
            "footer" | "nav" | "aside" => Some(Self::Repeated),
            _ => None,
        })
    }
}

/// Finds the landmarks of a page. As in the standard of HTML, a `header` within `main`, `article` or `section` introduces that part,
/// and often has its title; any other is the page's.
fn landmarks(document: &Document) -> Landmarks<'_> {
    /// Which landmarks a node lies in.
    #[derive(Clone, Copy, Default)]
    struct Within {
        main: bool,
        article: bool,
        section: bool,
    }
    let (mut found, mut outer) = (Landmarks::default(), Vec::new());
    let (mut node, mut within) = (document.root(), Within::default());
    loop {
        let landmark = Landmark::of(&node);
        let is_furniture = match landmark {
            Some(Landmark::Repeated) => true,
            Some(Landmark::Header) => !within.main && !within.article && !within.section,
            _ => false,
        };
        let is_repeated = is_furniture && !has_main(&node);
        found.surrounds_main |= is_furniture && !is_repeated;
        match landmark {
            _ if is_repeated => found.repeated.push(node),
            Some(Landmark::Main) if !within.main => found.main.push(node),
            Some(Landmark::Article) if !within.article => found.articles.push(node),
            _ => {}
        }
        if let Some(child) = node.first_child().filter(|_| !is_repeated) {
            outer.push(within);
            within = Within {
                main: within.main || landmark == Some(Landmark::Main),
                article: within.article || landmark == Some(Landmark::Article),
                section: within.section || landmark == Some(Landmark::Section),
            };
            node = child;
            continue;
        }
        node = loop {
            if let Some(next) = node.next_sibling() {
                break next;
            }
            let (Some(parent), Some(own)) = (node.parent(), outer.pop()) else { return found };
            (node, within) = (parent, own);
        };
    }
}

/// Whether a `main` element lies within an element, which then is no furniture.
fn has_main(node: &NodeRef<'_>) -> bool {
    Selection::from(*node).select(MAIN).exists()
}

/// Whether elements of a document lie more than so deep in each other.
pub fn has_deeper(document: &Document, deepest: usize) -> bool {
    let (mut node, mut depth) = (document.root(), 0);
    loop {
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            if depth > deepest && node.is_element() {
                return true;
            }
            continue;
        }
        while node.next_sibling().is_none() {
            let Some(parent) = node.parent() else { return false };
            (node, depth) = (parent, depth - 1);
        }
        let Some(next) = node.next_sibling() else { return false };
        node = next;
    }
}

/// The text of a page whose encoding nobody but itself tells.
pub fn decoded_page(bytes: &[u8]) -> Cow<'_, str> {
    decoded(bytes, None)
}

/// A mark tells the encoding, else whoever fetched the page, else the page itself; else it is guessed.
fn decoded<'a>(bytes: &'a [u8], told: Option<&'static Encoding>) -> Cow<'a, str> {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, &bytes[length..]),
        None => (told.or_else(|| declared(bytes)).unwrap_or_else(|| guessed(bytes)), bytes),
    };
    encoding.decode_without_bom_handling(bytes).0
}

/// What `<meta charset=…>`, `<meta … content="…; charset=…">` or an XML declaration says.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes[..bytes.len().min(DECLARATION)].to_ascii_lowercase();
    let label = |key: &[u8]| {
        let after = memmem::find_iter(&start, key).find_map(|at| {
            let rest = start[at + key.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            Some(rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest))
        })?;
        let end = after.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_.:".contains(byte));
        Encoding::for_label(&after[..end.unwrap_or(after.len())])
    };
    let found = label(b"charset").or_else(|| label(b"encoding"))?;
    // What is read as ASCII up to here cannot be UTF-16.
    Some(if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found })
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    // UTF-16 without a mark: every other byte of ASCII is zero.
    let start = &bytes[..bytes.len().min(DECLARATION)];
    let zeros = |first: usize| start.iter().skip(first).step_by(2).filter(|&&byte| byte == 0).count();
    match (zeros(0), zeros(1), start.len() / 3) {
        (_, odd, third) if odd > third => return UTF_16LE,
        (even, _, third) if even > third => return UTF_16BE,
        _ => {}
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// About how deep elements lie in each other, as far as that is of interest. Those that need no end do not count, but within
/// pictures and formulas. An end that belongs to nothing closes nothing, and so does one whose beginning lies outside of a table or the like.
fn depth(html: &str, interesting: usize) -> usize {
    const WITHOUT_END: [&str; 33] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
        "p", "li", "dt", "dd", "option", "tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "rp", "rt", "html",
        "head", "body", "rb", "rtc",
    ];
    const WALLS: [&str; 9] = ["table", "template", "caption", "marquee", "object", "applet", "select", "svg", "math"];
    let is_one_of = |names: &[&str], name: &[u8]| names.iter().any(|own| own.as_bytes() == name);
    let (mut open, mut deepest): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    for at in memchr::memchr_iter(b'<', html.as_bytes()) {
        let rest = &html.as_bytes()[at + 1..];
        let is_end = rest.first() == Some(&b'/');
        let name = &rest[usize::from(is_end)..];
        let length = name.iter().take(12).position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(name.len().min(12));
        let name = name[..length].to_ascii_lowercase();
        if !name.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let is_drawn = || open.iter().any(|own| own == b"svg" || own == b"math");
        if is_end {
            let own = open.iter().rposition(|own| *own == name);
            let wall = open.iter().rposition(|own| is_one_of(&WALLS, own));
            if let Some(own) = own.filter(|&own| wall.is_none_or(|wall| wall <= own) || is_one_of(&WALLS, &name)) {
                open.truncate(own);
            }
            continue;
        }
        let is_closed = || memchr::memchr(b'>', rest).is_some_and(|end| rest[..end].ends_with(b"/"));
        let counts = if is_drawn() { !is_closed() } else { !is_one_of(&WITHOUT_END, &name) };
        if counts {
            open.push(name);
            deepest = deepest.max(open.len());
            if deepest > interesting {
                break;
            }
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEPEST: usize = 1000;

    #[test]
    fn encodings_are_declared_marked_or_guessed() {
        let decoded = |bytes: &[u8]| decoded_page(bytes).into_owned();
        assert!(decoded(b"<meta charset=windows-1252>caf\xe9").ends_with("café"));
        assert!(decoded(b"<META http-equiv=x content='text/html; charset=ISO-8859-5'>\xbf").ends_with('П'));
        assert!(decoded(b"<?xml version='1.0' encoding=\"koi8-r\"?>\xf0").ends_with('П'));
        assert_eq!(decoded(b"\xff\xfea\0\xe9\0"), "aé");
        assert_eq!(decoded(b"<\0p\0>\0a\0b\0c\0"), "<p>abc");
        assert_eq!(decoded("<p>schön und größer".as_bytes()), "<p>schön und größer");
        assert_eq!(
            decoded(b"<p>sch\xf6n und gr\xf6\xdfer, aber nicht f\xfcr alle"),
            "<p>schön und größer, aber nicht für alle"
        );
        assert_eq!(decoded(b""), "");
    }

    #[test]
    fn deep_pages_are_refused_whatever_their_ends_say() {
        let limits = Limits { page_depth: DEEPEST as u64, ..Limits::default() };
        for hidden in ["<div></x>", "<b a=1><p></b>", "<ruby><rt>", "<a><div>", "<div a='/>'>", "<rt>"] {
            for how in [PageText::Main, PageText::Text] {
                let told = text_of_page(&hidden.repeat(3000), how, &limits);
                assert!(told.is_err() || !has_deeper(&Document::from(hidden.repeat(3000)), DEEPEST), "{hidden}");
            }
        }
        assert!(text_of_page(&"<div><p>x</div>".repeat(3000), PageText::Text, &limits).is_ok());
    }

    #[test]
    fn deep_pages_are_told_from_long_ones() {
        let depth = |html: &str| depth(html, DEEPEST);
        assert_eq!(depth("<html><body><div><p>a<p>b<br><div>c</div></div>"), 2);
        assert!(depth(&"<p>a<li>b<td>".repeat(5000)) <= 1);
        assert!(depth(&"<div>".repeat(5000)) > DEEPEST);
        assert_eq!(depth("1 < 2 <!-- <"), 0);
        // Ends that close nothing.
        for hidden in ["<div></x>", "<div><table></div></table>", "<optgroup>", "<svg><tr>"] {
            assert!(depth(&hidden.repeat(3000)) > DEEPEST, "{hidden}");
        }
        assert!(depth(&format!("<svg>{}</svg>", "<path d=x/>".repeat(3000))) < 3);
        assert!(depth(&"<div><b><p><i>x</div>".repeat(3000)) < 5);
    }

    /// Pages as documentation generators and news sites build them. `ARTICLE` stands for a short article; what is called `furniture`
    /// is on every page.
    const SKELETONS: [(&str, &str); 20] = [
        ("plain", "<main><article>ARTICLE</article></main><footer>FURNITURE</footer>"),
        (
            "sphinx",
            "<div class=related role=navigation>FURNITURE</div><div class=document><div class=documentwrapper><div class=bodywrapper>\
             <div class=body role=main>ARTICLE</div></div></div><div class=sphinxsidebar role=navigation>FURNITURE</div></div>\
             <div class=footer role=contentinfo>FURNITURE</div>",
        ),
        (
            "read the docs",
            "<nav class=wy-nav-side>FURNITURE</nav><section class=wy-nav-content-wrap><nav class=wy-nav-top>FURNITURE</nav>\
             <div role=navigation>FURNITURE</div><div role=main class=document><div itemprop=articleBody>ARTICLE</div></div>\
             <footer>FURNITURE</footer></section>",
        ),
        (
            "mdbook",
            "<nav id=mdbook-sidebar>FURNITURE</nav><div class=page><div id=menu-bar></div><div class=content><main>ARTICLE</main>\
             <nav class=nav-wrapper>FURNITURE</nav></div></div>",
        ),
        (
            "mkdocs material",
            "<header class=md-header>FURNITURE</header><main class=md-main><div class=md-sidebar><nav>FURNITURE</nav></div>\
             <div class=md-content><article class=md-typeset>ARTICLE<aside class=md-source-file>FURNITURE</aside></article></div></main>\
             <footer class=md-footer>FURNITURE</footer>",
        ),
        (
            "rustdoc",
            "<rustdoc-topbar></rustdoc-topbar><nav class=sidebar>FURNITURE</nav><main><section id=main-content>ARTICLE</section></main>",
        ),
        (
            "docusaurus",
            "<nav class=navbar>FURNITURE</nav><aside class=theme-doc-sidebar-container>FURNITURE</aside><main><nav>FURNITURE</nav>\
             <article><header>ARTICLE</header></article><nav class=pagination-nav>FURNITURE</nav></main><footer>FURNITURE</footer>",
        ),
        (
            "hugo list",
            "<header>FURNITURE</header><article>ARTICLE</article><article>Second teaser.</article><footer>FURNITURE</footer>",
        ),
        (
            "roles in any case, among others",
            "<div role='Banner'>FURNITURE</div><div role='none MAIN'>ARTICLE</div><div role='region contentinfo'>FURNITURE</div>",
        ),
        ("role of an article", "<div role=complementary>FURNITURE</div><div role=article>ARTICLE</div>"),
        ("without landmarks", "<div id=top></div><div id=content>ARTICLE</div><footer>FURNITURE</footer>"),
        ("footer in the article", "<article>ARTICLE<footer>FURNITURE</footer></article><footer>FURNITURE</footer>"),
        ("empty main", "<nav>FURNITURE</nav><main></main><div>ARTICLE</div><footer>FURNITURE</footer>"),
        (
            "empty main, article outside",
            "<main><nav>FURNITURE</nav></main><article>ARTICLE</article><footer>FURNITURE</footer>",
        ),
        ("articles in an aside", "<main>ARTICLE</main><aside><article>FURNITURE</article></aside>"),
        ("nested articles", "<article>ARTICLE<article>Second teaser.</article></article><footer>FURNITURE</footer>"),
        ("main in main", "<main>ARTICLE<div role=main>Second teaser.</div></main><footer>FURNITURE</footer>"),
        ("main in the header", "<header><div>FURNITURE</div><main>ARTICLE</main></header><footer>FURNITURE</footer>"),
        ("hidden main", "<main>ARTICLE</main><main hidden>FURNITURE</main>"),
        (
            "header of a section",
            "<header>FURNITURE</header><section><header>ARTICLE</header></section><footer>FURNITURE</footer>",
        ),
    ];

    #[test]
    fn the_main_text_is_the_article_whatever_is_around_it() {
        let furniture =
            "<p>Furniture of the site, with its terms of use, its partners and its long history.</p>".repeat(30);
        for length in [1, 40] {
            for (name, skeleton) in SKELETONS {
                let article =
                    format!("<h1>Headline</h1>{}", "<p>The river rose, and a bridge was closed.</p>".repeat(length));
                let body = skeleton.replace("ARTICLE", &article).replace("FURNITURE", &furniture);
                let html =
                    format!("<html><head><title>A title</title></head><body>{body}<script>x</script></body></html>");
                let (title, text) = text_of_page(&html, PageText::Main, &Limits::default()).unwrap();
                assert_eq!(title, "A title", "{name}");
                assert_eq!(text.matches("The river rose").count(), length, "{name}: {text}");
                assert!(!text.contains("Furniture") && text.contains("Headline"), "{name}: {text}");
                assert_eq!(text.matches("Second").count(), skeleton.matches("Second").count(), "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_page_of_furniture_alone_is_empty() {
        for html in [
            "<footer>Copyright</footer>",
            "<nav>Copyright</nav><main></main>",
            "<header><h1>Copyright</h1></header>",
            "<main><img src=a.jpg></main><footer>Copyright</footer>",
        ] {
            let (_, text) = text_of_page(html, PageText::Main, &Limits::default()).unwrap();
            assert_eq!(text.trim(), "", "{html}");
        }
    }

    #[test]
    fn small_articles_beside_the_text_are_not_the_page() {
        let cards =
            "<article class=card>Related: ten bridges</article><article class=card>Related: a library</article>";
        let body = "<p>The river rose, and a bridge was closed.</p>".repeat(20);
        let html = format!("<body><div class=post-content>{body}</div>{cards}");
        let (_, text) = text_of_page(&html, PageText::Main, &Limits::default()).unwrap();
        assert_eq!(text.matches("The river rose").count(), 20, "{text}");
    }

    #[test]
    fn a_heading_in_main_is_not_the_page() {
        let body = "<p>The river rose, and a bridge was closed.</p>".repeat(20);
        let html = format!("<body><main><h1>News</h1></main><div>{body}</div><footer>Furniture</footer>");
        let (_, text) = text_of_page(&html, PageText::Main, &Limits::default()).unwrap();
        assert_eq!(text.matches("The river rose").count(), 20, "{text}");
        assert!(!text.contains("Furniture"), "{text}");
    }

    #[test]
    fn furniture_is_known_by_its_name_where_there_are_no_landmarks() {
        let footer = "<p>Furniture of the site, with its terms of use.</p>".repeat(30);
        let links = "<li><a href=/>Furniture</a>".repeat(30);
        for furniture in [
            format!("<div class='footer' id='footer'>{footer}</div>"),
            format!("<div class='wide Site-Footer'>{footer}</div>"),
            format!("<ul class=menu>{links}</ul>"),
        ] {
            let html = format!("<body><div>A bridge was closed on Sunday.</div>{furniture}");
            let (_, text) = text_of_page(&html, PageText::Main, &Limits::default()).unwrap();
            assert_eq!(text.trim(), "A bridge was closed on Sunday.", "{html}");
        }
        // The menu of a restaurant has no links; and what has no other text is compared.
        for html in ["<div id=menu>Soup, bread, and cake.</div>", "<div class=footer>Soup, bread, and cake.</div>"] {
            let (_, text) = text_of_page(html, PageText::Main, &Limits::default()).unwrap();
            assert_eq!(text.trim(), "Soup, bread, and cake.", "{html}");
        }
    }

    #[test]
    fn an_extract_that_leaves_most_out_is_not_the_article() {
        // What looks like an article to the extraction is a notice; the page is a long table.
        let notice = "<div class=article><p>Prices, with taxes, are those of the day, unless told otherwise, and may change.</p></div>";
        let rows: String = (0..300).map(|row| format!("<tr><td><a href=x>Part {row}</a><td>{row} pieces")).collect();
        let html = format!("<body>{notice}<table>{rows}</table><footer>Copyright</footer>");
        let (_, text) = text_of_page(&html, PageText::Main, &Limits::default()).unwrap();
        assert!(text.contains("Part 7") && text.contains("Part 299") && !text.contains("Copyright"), "{text}");
    }
}
