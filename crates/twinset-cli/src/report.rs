//! The page that shows what a dedup did.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use twinset::estimate::Interval;
use twinset::exact::{Links, Plan, steps};
use twinset::{Measure, Representative, Run};
use twinset_io::read::Inputs;
use twinset_io::{Collection, Output, Source, read_texts, tokens_for};
use twinset_report::{Against, DedupReport, Member, ShownGroup, Steps};

use crate::dedup::{Dedup, Outcome};
use crate::session::write_text;

/// So many groups are shown, of each so many records, of each so many characters.
const GROUPS: usize = 20;
const MEMBERS: usize = 10;
const CHARACTERS: usize = 2000;
/// The most steps of the slider.
const STEPS: u64 = 50;

impl Dedup {
    /// Writes the page.
    pub(crate) fn write_report(
        &self,
        output: Output,
        (sides, collection): (&[Inputs], &Collection),
        outcome: &Outcome,
        plan: &Plan,
        run: &Run,
    ) -> anyhow::Result<()> {
        let inputs = &sides[0];
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (record, representative) in (0..).zip(&outcome.deduped.representatives) {
            if let Representative::Own(own) = representative {
                groups.entry(*own).or_default().push(record);
            }
        }
        groups.retain(|_, members| members.len() > 1);
        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        groups.values().for_each(|members| *sizes.entry(size_class(members.len())).or_default() += 1);
        let mut largest: Vec<(&u32, &Vec<u32>)> = groups.iter().collect();
        largest.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        largest.truncate(GROUPS);
        let shown = |(own, members): &(&u32, &Vec<u32>)| -> Vec<u32> {
            let others = members.iter().filter(|member| member != own).take(MEMBERS);
            [**own].into_iter().chain(others.copied()).collect()
        };
        let wanted: BTreeSet<u32> = largest.iter().flat_map(shown).collect();
        let texts = read_texts(inputs, (collection, 0), &self.read, &wanted, run)?;
        let member = |record: u32| Member {
            id: collection.left.get(record as usize).into_owned(),
            value: self.value_in_words(outcome.deduped.values[record as usize], plan),
            text: texts.get(&record).map(|text| text.chars().take(CHARACTERS).collect()).unwrap_or_default(),
        };
        let groups_shown = largest.iter().map(|group| {
            let records = shown(group);
            ShownGroup {
                size: group.1.len() as u64,
                representative: member(records[0]),
                members: records[1..].iter().map(|&record| member(record)).collect(),
            }
        });
        let (stats, steps) = (&outcome.deduped.stats, self.steps(&outcome.deduped.links, plan));
        let kept = stats.kept.unwrap_or(0);
        let number = |name: &str, value: u64| (name.to_owned(), indicatif::HumanCount(value).to_string());
        let report = DedupReport {
            title: format!("Near duplicates in {}", self.title()),
            summary: vec![
                number("records", collection.left.len() as u64),
                number("pairs", stats.pairs),
                number("groups", stats.groups.unwrap_or(0)),
                number("records kept", kept),
                number("records removed", collection.left.len() as u64 - kept),
            ],
            values: histogram(&steps, outcome.deduped.links.measure()),
            sizes: sizes.into_iter().map(|(class, groups)| (class_name(class), groups)).collect(),
            steps,
            groups: groups_shown.collect(),
            against: self.against_report(sides, collection, outcome, plan, run)?,
            settings: vec![
                (
                    "threshold".to_owned(),
                    plan.wanted().threshold.map_or(String::new(), |threshold| threshold.to_string()),
                ),
                ("measure".to_owned(), self.join.measure.to_string()),
                ("method".to_owned(), self.estimate.method.to_string()),
                (
                    "tokens".to_owned(),
                    tokens_for(std::slice::from_ref(inputs), &self.read, &self.tokens)?.kind().to_string(),
                ),
                ("keep".to_owned(), self.dedup.keep.to_string()),
                ("link".to_owned(), self.dedup.link.to_string()),
                ("against".to_owned(), self.against.as_ref().map_or("-".to_owned(), Source::name)),
                ("against only".to_owned(), if self.against_only { "yes" } else { "no" }.to_owned()),
            ],
        };
        write_text(output, &report.render())
    }

    /// The records that are near one of the other collection, under those of it that removed most.
    fn against_report(
        &self,
        sides: &[Inputs],
        collection: &Collection,
        outcome: &Outcome,
        plan: &Plan,
        run: &Run,
    ) -> anyhow::Result<Option<Against>> {
        let (Some(against), [inputs, others]) = (&self.against, sides) else { return Ok(None) };
        let mut removed_by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (record, representative) in (0..).zip(&outcome.deduped.representatives) {
            if let Representative::Other(other) = representative {
                removed_by.entry(*other).or_default().push(record);
            }
        }
        let removed = removed_by.values().map(|records| records.len() as u64).sum();
        let mut largest: Vec<(u32, Vec<u32>)> = removed_by.into_iter().collect();
        largest.sort_by_key(|(_, records)| std::cmp::Reverse(records.len()));
        largest.truncate(GROUPS);
        let wanted = largest.iter().flat_map(|(_, records)| records.iter().take(MEMBERS)).copied().collect();
        let texts = read_texts(inputs, (collection, 0), &self.read, &wanted, run)?;
        let wanted = largest.iter().map(|(other, _)| *other).collect();
        let texts_of_others = read_texts(others, (collection, 1), &self.read, &wanted, run)?;
        let beginning = |text: Option<&String>| text.map(|text| text.chars().take(CHARACTERS).collect());
        let group = |(other, records): &(u32, Vec<u32>)| ShownGroup {
            size: 1 + records.len() as u64,
            representative: Member {
                id: collection.right_ids().get(*other as usize).into_owned(),
                value: String::new(),
                text: beginning(texts_of_others.get(other)).unwrap_or_default(),
            },
            members: (records.iter().take(MEMBERS))
                .map(|record| Member {
                    id: collection.left.get(*record as usize).into_owned(),
                    value: self.value_in_words(outcome.deduped.values[*record as usize], plan),
                    text: beginning(texts.get(record)).unwrap_or_default(),
                })
                .collect(),
        };
        let groups = largest.iter().map(group).collect();
        Ok(Some(Against { name: against.name(), removed, groups }))
    }

    fn title(&self) -> String {
        let names = self.input.iter().map(|source| match source.path().and_then(Path::file_name) {
            Some(name) => name.to_string_lossy().into_owned(),
            None => source.name(),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn value_in_words(&self, value: f64, plan: &Plan) -> String {
        match plan.entries() {
            Some(entries) => {
                let Interval { similarity, low, high } = Interval::of_agreement(value as u32, entries);
                format!("about {similarity:.2} ({low:.2} to {high:.2})")
            }
            None if plan.is_estimated() => format!("about {value:.2}"),
            None if self.join.measure.is_count() => format!("{value}"),
            None => format!("{value:.3}"),
        }
    }

    /// The thresholds of the slider, from strict to lax, and how they are written.
    fn thresholds(&self, links: &Links, plan: &Plan) -> Vec<(f64, String)> {
        let entries = plan.entries();
        let values = links.valued_pairs().into_iter().map(|pairs| pairs.value);
        // Without a threshold, that of the pairs which are least alike.
        let loosest = plan.selection().threshold.map(|threshold| threshold.as_f64()).unwrap_or_else(|| {
            if links.measure().is_distance() {
                values.fold(0.0, f64::max)
            } else {
                values.fold(f64::INFINITY, f64::min).min(1e9)
            }
        });
        match links.measure() {
            // A slider of whole numbers: distances from 0, overlaps from the largest.
            measure if measure.is_count() => {
                let largest = match (measure, entries) {
                    (_, Some(entries)) => f64::from(entries),
                    (Measure::Overlap, None) => {
                        links.valued_pairs().iter().map(|pairs| pairs.value).fold(loosest, f64::max)
                    }
                    _ => loosest,
                };
                let (from, to) =
                    if measure.is_distance() { (0, loosest as u64) } else { (loosest as u64, largest as u64) };
                let step = ((to - from) / STEPS).max(1) as usize;
                let mut values: Vec<u64> = (from..=to).rev().step_by(step).collect();
                if measure.is_distance() {
                    values.reverse();
                }
                if values.last() != Some(&(loosest as u64)) {
                    values.push(loosest as u64);
                }
                let name = |value: u64| match entries {
                    Some(entries) => format!("{:.2}", value as f64 / f64::from(entries)),
                    None => value.to_string(),
                };
                values.into_iter().map(|value| (value as f64, name(value))).collect()
            }
            _ => {
                let mut values: Vec<f64> = (0..=100).rev().map(|hundredth| f64::from(hundredth) / 100.0).collect();
                values.retain(|&value| value >= loosest);
                if values.last().is_none_or(|&last| last > loosest) {
                    values.push(loosest);
                }
                values.into_iter().map(|value| (value, format!("{value:.2}"))).collect()
            }
        }
    }

    fn steps(&self, links: &Links, plan: &Plan) -> Steps {
        let thresholds = self.thresholds(links, plan);
        let values: Vec<f64> = thresholds.iter().map(|(value, _)| *value).collect();
        let steps = steps(links, &values);
        Steps {
            thresholds: thresholds.into_iter().map(|(_, name)| name).collect(),
            pairs: steps.iter().map(|step| step.pairs).collect(),
            groups: steps.iter().map(|step| step.groups).collect(),
            removed: steps.iter().map(|step| step.removed).collect(),
        }
    }
}

/// How many pairs lie between each two steps of the slider.
fn histogram(steps: &Steps, measure: Measure) -> Vec<(String, u64)> {
    let before = [0].into_iter().chain(steps.pairs.iter().copied());
    let counts = steps.pairs.iter().zip(before).map(|(pairs, before)| pairs - before);
    let mut columns: Vec<(String, u64)> = steps.thresholds.iter().cloned().zip(counts).collect();
    if !measure.is_distance() {
        columns.reverse();
    }
    columns
}

/// Sizes that are shown together: 2, 3, 4, 5 to 8, 9 to 16, …
fn size_class(size: usize) -> usize {
    if size <= 4 { size } else { size.next_power_of_two() }
}

fn class_name(class: usize) -> String {
    if class <= 4 { format!("{class} records") } else { format!("{} to {class} records", class / 2 + 1) }
}
