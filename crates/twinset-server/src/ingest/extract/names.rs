//! The built-in extractor: names by capital letters and by what stands around them, acronyms, places of a list, days and sums.
//!
//! It is simpler than a trained model. How often it is right is measured on a small labelled set, by a test.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::gazetteer::Gazetteer;
use crate::article::{Entity, EntityKind};

/// Finds names.
pub(super) struct NameFinder {
    places: Gazetteer,
}

/// So many names of a text are looked at, and so many words of a name.
const MOST: u64 = 1000;
const LONGEST: usize = 12;

/// A word of a text.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Whether a sentence begins with it.
    begins: bool,
    /// Whether something other than a space stands between it and the word before.
    is_apart: bool,
}

/// Words by which names of a kind are known.
const ORGANIZATIONS: &str = "Inc Ltd Limited GmbH AG Corp Corporation Company Co LLC PLC Plc SA Group Holdings Bank University \
    College Institute Institution Academy School Ministry Department Agency Authority Commission Committee Council Court \
    Tribunal Party Union Association Federation Foundation Society Trust Club FC United City Rovers Athletic Airlines Airways \
    Railways Rail Hospital Clinic Laboratory Laboratories Observatory Museum Gallery Library Orchestra Police Guard Army Navy \
    Office Bureau Service Services Board Parliament Senate Congress Assembly Chamber Industries Systems Technologies \
    Technology Motors Energy Power Pharma Pharmaceuticals Partners Capital Insurance Media Press News Times Post Network \
    Alliance League Organization Organisation Fund Initiative Centre Center Works Foods Shipping Lines Logistics Software \
    Labs Studios Records Theatre Coalition Front Movement Guild Cooperative Consortium Treasury Registry Coastguard \
    Headquarters Team Squad Ferries Ferry Water Steel Mining Oil Gas Telecom Bancorp Savings Mutual Watch";
const EVENTS: &str = "Cup Festival Olympics Olympic Championship Championships Summit Conference Election Elections War Prize \
    Games Tournament Marathon Derby Fair Biennale Congress Forum Awards Award Open Trophy Grand-Prix Carnival Parade";
const PLACES: &str = "Street Road Avenue Square Bridge River Lake Bay Island Islands Mountain Mountains Mount Valley Beach \
    Harbour Harbor Port Airport Station Park Stadium Arena Forest Desert Peninsula County Province District Region Coast \
    Sea Ocean Strait Canal Cape Hill Hills Heights Village Castle Palace Cathedral Church Tower Dam Glacier Reef Gulf";
const TITLES: &str = "Mr Mrs Ms Miss Dr Prof Professor President Vice Prime Minister Chancellor Senator Congressman \
    Congresswoman Governor Mayor Judge Justice Captain Colonel General Major Sergeant Lieutenant Admiral Coach Sir Dame Lord \
    Lady King Queen Prince Princess Pope Bishop Archbishop Father Sister Rev Reverend Inspector Detective Chief Secretary \
    Ambassador Director Chairman Chairwoman Chair Commissioner Councillor Deputy Representative Spokesman Spokeswoman \
    Spokesperson Constable Superintendent Sheriff Imam Rabbi Sheikh Foreign Finance Interior Defence Health Education \
    Former Interim Acting Executive Editor Commander Engineer Officer Head Striker Goalkeeper Midfielder Doctor Nurse";
/// Words that may stand within a name.
const LINKS: &str = "of the de van von der den du da di del la le bin al el dos das ter ten and for";
/// Words that begin sentences, and are no names there.
const OTHERS: &str = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July \
    August September October November December French German British English American Russian Chinese Japanese Italian \
    Spanish Portuguese Dutch Swedish Norwegian Danish Finnish Polish Czech Greek Turkish Indian Pakistani Brazilian Mexican \
    Canadian Australian African European Asian Arab Arabic Israeli Palestinian Iranian Iraqi Egyptian Kenyan Nigerian \
    Ukrainian Hungarian Romanian Bulgarian Serbian Croatian Swiss Austrian Belgian Irish Scottish Welsh Icelandic Latvian \
    Lithuanian Estonian Korean Vietnamese Thai Indonesian Malaysian Argentine Chilean Colombian Peruvian Cuban Moroccan \
    Algerian Tunisian Ethiopian Somali Christian Christians Muslim Muslims Jewish Buddhist Hindu Catholic Catholics \
    Protestant Bangladeshi Nepali Slovak Slovenian Georgian Armenian Western Eastern Northern Southern Nordic Baltic Latin \
    Mandarin Hindi Bengali Urdu Farsi Hebrew Kurdish Afghan Syrian Lebanese Jordanian Saudi Yemeni Sudanese Ghanaian I I'm \
    I've I'll";

/// A set of words.
fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

struct Lists {
    organizations: HashSet<&'static str>,
    events: HashSet<&'static str>,
    places: HashSet<&'static str>,
    titles: HashSet<&'static str>,
    links: HashSet<&'static str>,
    others: HashSet<&'static str>,
    small: HashSet<&'static str>,
}

/// Small words, which are no names at the beginning of a sentence either.
const SMALL: &str = "a about above across after again against ago all almost along already also although always am amid among \
    an and another any anyone are around as ask asked at away back be because been before behind being below beneath beside \
    besides between beyond both but by call called can cannot come could critics days despite did do does down during each \
    earlier early either elsewhere engineers even every everyone ever experts few fewer fifty first five following for four from further \
    get give given go half had has have having he her here hers high him his how however hundreds i if in indeed inside instead into is it its \
    itself just last late later least less like little local low made make many may meanwhile might millions more most much \
    must my near nearly neither never new next nine no nobody none nor not nothing now of off officials often on once one only onto or \
    other others our out outside over own part people perhaps police put rather recent researchers residents said same say \
    says scientists see seven several shares she should since six so some someone something soon still such ten than that the their \
    them then there these they thirty this those though thousands three through throughout thus to today together tomorrow \
    too toward towards twelve twenty two under unless unlike until up upon us very was we well were what when where whether \
    which while who whom whose why will with within without witnesses workers would yes yesterday yet you your its it's that's \
    there's he's she's we're they're don't didn't isn't wasn't organisers fans voters patients students analysts investors \
    rescuers firefighters doctors teachers players investigators prosecutors lawyers divers passengers crews sales profits \
    turnout polls rain snow winds results tickets fares prices trading nearby asked according speaking founded born built \
    based led supported backed opened closed details talks negotiations plans work construction repairs tests trials";

static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    organizations: set(ORGANIZATIONS),
    events: set(EVENTS),
    places: set(PLACES),
    titles: set(TITLES),
    links: set(LINKS),
    others: set(OTHERS),
    small: set(SMALL),
});

const MONTH: &str = "(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)";

static DATES: LazyLock<Regex> = LazyLock::new(|| {
    let day = "[0-3]?[0-9](?:st|nd|rd|th)?";
    let pattern = format!(
        r"\b(?:{day} {MONTH}\.?(?:,? [12][0-9]{{3}})?|{MONTH}\.? {day}(?:, [12][0-9]{{3}}| [12][0-9]{{3}})?|{MONTH} [12][0-9]{{3}}|[12][0-9]{{3}}-[01][0-9]-[0-3][0-9])\b"
    );
    Regex::new(&pattern).expect("the pattern of dates is one")
});

static MONEY: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"[0-9]+(?:,[0-9]{2,3})*(?:\.[0-9]+)?";
    let scale = r"(?:[ -]?(?:thousand|million|billion|trillion|crore|lakh|m|bn|k)\b)?";
    let currency = "(?:dollars|euros|pounds|yen|rupees|francs|kroner|kronor|krona|krone|yuan|rand|shillings|pesos|reais|roubles|rubles|lira|won|dirhams|zloty|cents|pence|naira|ringgit|baht|forints|koruna)";
    let sign = r"(?:(?:US|A|C|NZ|HK|S)?\$|€|£|¥|₹|Rs\.? ?|CHF ?|EUR ?|USD ?|GBP ?|SEK ?|NOK ?|DKK ?)";
    Regex::new(&format!(r"{sign}{number}{scale}|\b{number}{scale} (?:(?:US|Swiss|Canadian|Australian|Norwegian|Swedish|Danish|Kenyan|Czech|Hong Kong) )?{currency}\b"))
        .expect("the pattern of sums is one")
});

impl NameFinder {
    pub(super) fn new() -> Self {
        Self { places: Gazetteer::new() }
    }

    /// The entities of a text, in the order in which they come up.
    pub(super) fn entities(&self, title: &str, text: &str) -> Vec<Entity> {
        let mut found: Vec<Entity> = Vec::new();
        let words: Vec<Vec<Word<'_>>> = text.lines().filter(|line| !is_shouted(line)).map(words).collect();
        // What also occurs in small letters, or only where a sentence begins, is hardly a name.
        let lower: HashSet<&str> =
            words.iter().flatten().map(|word| word.text).filter(|word| starts_lower(word)).collect();
        let inside: HashSet<&str> =
            words.iter().flatten().filter(|word| !word.begins && is_capital(word.text)).map(|word| word.text).collect();
        for line in &words {
            self.of_line(line, &lower, &inside, &mut found);
        }
        // A headline may capitalise every word, so it tells only what the text has, too, or the list of places.
        for line in words_of_title(title) {
            let mut of_title = Vec::new();
            self.of_line(&line, &lower, &inside, &mut of_title);
            found.extend(of_title.into_iter().filter(|entity| self.places.has(&entity.name)));
        }
        let mut found: Vec<Entity> = super::tidy(found, MOST);
        merge(&mut found);
        let matches = |pattern: &Regex, kind| {
            let found = pattern.find_iter(text).map(|found| found.as_str().trim().to_owned());
            found.map(|name| Entity { name, kind }).collect::<Vec<_>>()
        };
        found.extend(matches(&DATES, EntityKind::Date));
        found.extend(matches(&MONEY, EntityKind::Money));
        found
    }

    fn of_line(&self, line: &[Word<'_>], lower: &HashSet<&str>, inside: &HashSet<&str>, found: &mut Vec<Entity>) {
        let lists = &*LISTS;
        let mut at = 0;
        while at < line.len() {
            if !is_capital(line[at].text) {
                at += 1;
                continue;
            }
            // As many capital words as stand together, and small ones between them.
            let mut end = at + 1;
            // “Kenya's runner” are two.
            let is_owner = |word: &Word<'_>| word.text.ends_with("'s") || word.text.ends_with("’s");
            while end < line.len()
                && end - at < LONGEST
                && !line[end].is_apart
                && !line[end].begins
                && !is_owner(&line[end - 1])
            {
                let is_link = |word: &Word<'_>| lists.links.contains(word.text);
                if is_capital(line[end].text) {
                    end += 1;
                    continue;
                }
                let links = line[end..].iter().take(3).take_while(|word| is_link(word) && !word.is_apart).count();
                let after = line.get(end + links).filter(|word| is_capital(word.text) && !word.is_apart);
                let joins = links > 0
                    && after.is_some()
                    && self.may_join(&line[at..end], &line[end..end + links], &line[end + links..]);
                if !joins {
                    break;
                }
                end += links + 1;
            }
            self.of_run(
                &line[at..end],
                at.checked_sub(1).map(|before| line[before].text),
                line.get(end),
                lower,
                inside,
                found,
            );
            at = end;
        }
    }

    /// Whether small words join two parts of one name.
    fn may_join(&self, left: &[Word<'_>], links: &[Word<'_>], right: &[Word<'_>]) -> bool {
        let lists = &*LISTS;
        let last = left.last().map_or("", |word| word.text);
        let is_of = matches!(links[0].text, "of" | "for");
        let is_body = |word: &Word<'_>| {
            lists.organizations.contains(word.text)
                || lists.events.contains(word.text)
                || lists.places.contains(word.text)
        };
        match links[0].text {
            "and" => {
                // “Ministry of Health and Welfare”, but not “Anna and Bob”.
                links.len() == 1
                    && left.iter().any(|word| word.text == "of")
                    && left.iter().any(is_body)
                    && !right.is_empty()
                    && !self.places.has(right[0].text)
            }
            "the" | "le" | "al" if links.len() == 1 && links[0].text == "the" => false,
            _ if is_of => {
                is_body(&Word { text: last, begins: false, is_apart: false })
                    || ["Bank", "House", "Isle", "Republic", "Cape", "Gulf", "Duke", "Church"].contains(&last)
            }
            _ => links.iter().all(|word| !matches!(word.text, "the" | "for" | "and" | "of")),
        }
    }

    fn of_run(
        &self,
        run: &[Word<'_>],
        before: Option<&str>,
        after: Option<&Word<'_>>,
        lower: &HashSet<&str>,
        inside: &HashSet<&str>,
        found: &mut Vec<Entity>,
    ) {
        let lists = &*LISTS;
        let mut run = run;
        let mut is_titled = before.is_some_and(|before| {
            [
                "Mr",
                "Mrs",
                "Ms",
                "Dr",
                "Prof",
                "minister",
                "president",
                "captain",
                "coach",
                "mayor",
                "judge",
                "spokeswoman",
                "spokesman",
                "author",
                "singer",
                "engineer",
                "director",
                "secretary",
                "chairman",
                "professor",
                "skipper",
                "striker",
                "goalkeeper",
                "winger",
                "founder",
                "leader",
                "manager",
                "analyst",
                "senator",
                "governor",
            ]
            .contains(&before)
        });
        // Titles and the first words of sentences are no part of a name.
        while let Some(first) = run.first().filter(|_| !self.places.has(&joined(run))) {
            let lowered = first.text.to_lowercase();
            let is_small = lists.small.contains(lowered.as_str()) || lists.links.contains(lowered.as_str());
            let is_common = first.begins && (lower.contains(lowered.as_str()) || (run.len() > 1 && is_small));
            let is_title = lists.titles.contains(first.text.trim_end_matches('.')) && run.len() > 1;
            let is_body_title = is_title
                && run.iter().any(|word| lists.organizations.contains(word.text))
                && !first.text.ends_with('.')
                && !["Mr", "Mrs", "Ms", "Dr", "Sir", "President", "Minister", "Mayor", "Governor", "Judge"]
                    .contains(&first.text);
            if is_small || is_common || lists.others.contains(bare(first.text)) || (is_title && !is_body_title) {
                is_titled |= is_title;
                run = &run[1..];
            } else {
                break;
            }
        }
        while let Some(last) = run.last() {
            if lists.others.contains(bare(last.text)) || lists.links.contains(last.text) {
                run = &run[..run.len() - 1];
            } else {
                break;
            }
        }
        let Some(first) = run.first() else { return };
        let name = joined(run);
        let is_acronym = run.len() == 1
            && first.text.chars().filter(|c| c.is_uppercase()).count() >= 2
            && first.text.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || ".&-".contains(c));
        if run.len() == 1 {
            let is_known = self.places.has(&name) || is_acronym;
            let is_lone_start = first.begins && !inside.contains(first.text);
            if name.chars().count() < 2
                || (lists.titles.contains(first.text) && !is_known)
                || (is_lone_start && !is_known)
            {
                return;
            }
            if lists.organizations.contains(first.text) && !is_known
                || lists.events.contains(first.text)
                || lists.places.contains(first.text)
            {
                return;
            }
        }
        let has = |set: &HashSet<&str>| run.iter().any(|word| set.contains(word.text.trim_end_matches(['.', ','])));
        let ends = |set: &HashSet<&str>| run.last().is_some_and(|word| set.contains(word.text.trim_end_matches('.')));
        let last = run.last().map_or("", |word| word.text);
        // Where a report comes from is often written in capital letters.
        let kind = if self.places.has(&name) || is_acronym && self.places.has(&titled(&name)) {
            EntityKind::Place
        } else if is_titled && run.len() <= 4 && !has(&lists.organizations) {
            EntityKind::Person
        } else if ends(&lists.events) {
            EntityKind::Event
        } else if ends(&lists.places) || (lists.places.contains(first.text) && run.len() > 1) {
            EntityKind::Place
        } else if has(&lists.organizations) || is_acronym || name.contains('&') {
            EntityKind::Organization
        } else if has(&lists.events) {
            EntityKind::Event
        } else if run.len() >= 2 && run.len() <= 4 {
            EntityKind::Person
        } else if run.len() == 1
            && before.is_some_and(|before| matches!(before, "in" | "near" | "from" | "at" | "towards" | "outside"))
        {
            EntityKind::Place
        } else if run.len() == 1
            && (after.is_some_and(|after| matches!(after.text, "said" | "says" | "told" | "added" | "scored"))
                || last.ends_with("'s"))
        {
            EntityKind::Person
        } else {
            EntityKind::Other
        };
        found.push(Entity { name, kind });
    }
}

/// A name in capital letters as others are written.
fn titled(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(String::from).unwrap_or_default();
    first + &letters.as_str().to_lowercase()
}

/// A word without a possessive.
fn bare(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// The words of a run as a name, without a possessive.
fn joined(run: &[Word<'_>]) -> String {
    let name = run.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
    bare(&name).trim_end_matches(['\'', '’']).to_owned()
}

/// What stands for another that is longer is one with it: a surname, an acronym.
fn merge(found: &mut Vec<Entity>) {
    let all: Vec<Entity> = found.clone();
    let initials = |name: &str| -> String {
        name.split_whitespace().filter(|word| starts_upper(word)).filter_map(|word| word.chars().next()).collect()
    };
    found.retain(|entity| {
        let is_part = |longer: &Entity| {
            longer.name.len() > entity.name.len()
                && (longer.name.ends_with(&format!(" {}", entity.name))
                    || longer.name.starts_with(&format!("{} ", entity.name)))
                && longer.kind != EntityKind::Place
                && entity.kind != EntityKind::Place
        };
        let is_acronym = |longer: &Entity| {
            longer.name.contains(' ') && initials(&longer.name) == entity.name.replace('.', "") && entity.name.len() > 1
        };
        !all.iter().any(|longer| is_part(longer) || is_acronym(longer))
    });
}

fn starts_upper(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

fn starts_lower(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_lowercase)
}

/// Whether a word may be part of a name.
fn is_capital(word: &str) -> bool {
    starts_upper(word)
        || word.split_once(['\'', '’', '-']).is_some_and(|(first, rest)| first.len() <= 2 && starts_upper(rest))
}

/// A line in capital letters tells nothing by them.
fn is_shouted(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic());
    let (upper, all) = letters.fold((0, 0), |(upper, all), c| (upper + usize::from(c.is_uppercase()), all + 1));
    all > 12 && upper * 2 > all
}

fn words_of_title(title: &str) -> Vec<Vec<Word<'_>>> {
    if is_shouted(title) { Vec::new() } else { vec![words(title)] }
}

/// The words of a line, and how they stand to each other.
fn words(line: &str) -> Vec<Word<'_>> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:\p{L}\.){2,}|\p{Lu}\.(?: |$)|(?:Mr|Mrs|Ms|Dr|Prof|St|Rev|Inc|Ltd|Co|Jr|Sr|Lt|Gen|Col|Sgt|Gov|Sen)\.|[\p{L}\p{N}]+(?:[-'’&][\p{L}\p{N}]+)*")
            .expect("the pattern of words is one")
    });
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut end = 0;
    for found in WORD.find_iter(line) {
        let between = &line[end..found.start()];
        let is_first = words.is_empty();
        let ends_sentence = between.contains(['.', '!', '?', ':', ';', '…']);
        let opens_quote = between.contains(['"', '“', '‘', '«', '(', '[']);
        let is_apart = !between.trim().is_empty() || is_first;
        words.push(Word {
            text: found.as_str().trim_end(),
            begins: is_first || ends_sentence || opens_quote,
            is_apart,
        });
        end = found.end();
        if found.as_str().ends_with(' ') {
            end -= 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct LabelledPassage {
        text: String,
        entities: Vec<Entity>,
    }

    /// Of the entities that are found, the share that is right; and of those that are labelled, the share that is found.
    fn measured(is_kind_asked: bool) -> (f64, f64) {
        let names = NameFinder::new();
        let (mut right, mut found, mut labelled) = (0, 0, 0);
        for line in include_str!("../../../tests/data/entities.jsonl").lines() {
            let passage: LabelledPassage = serde_json::from_str(line).unwrap();
            let key = |entity: &Entity| (entity.name.clone(), is_kind_asked.then_some(entity.kind));
            let expected: HashSet<_> = passage.entities.iter().map(key).collect();
            let entities: HashSet<_> =
                crate::ingest::extract::tidy(names.entities("", &passage.text), 100).iter().map(key).collect();
            right += expected.intersection(&entities).count();
            found += entities.len();
            labelled += expected.len();
        }
        (right as f64 / found as f64, right as f64 / labelled as f64)
    }

    #[test]
    fn precision_and_recall_on_the_labelled_set_are_as_documented() {
        let (precision, recall) = measured(false);
        let (precision_of_kinds, recall_of_kinds) = measured(true);
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        let told = format!(
            "it finds {} of the names, and {} of what it finds is right; with the kind of the entity right as well, {} and {}.",
            percent(recall),
            percent(precision),
            percent(recall_of_kinds),
            percent(precision_of_kinds)
        );
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md")).unwrap();
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&told), "docs/serve.md does not say: {told}");
    }
}
