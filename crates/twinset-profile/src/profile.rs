//! From sources to relations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use twinset::{Comparison, Input, Intervals, JoinOptions, Measure, Run, Synopses, Threshold};

use crate::check::{Checker, Question};
use crate::feature::{Feature, Making};
use crate::inclusion;
use crate::keys::Scorer;
use crate::look::first_look;
use crate::relation::{Relation, RelationKind};
use crate::source::{self, Counts, Problem, Source};
use crate::table::Table;
use crate::{ProfileOptions, Result};

/// What was found in some sources.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Profile {
    /// The sources, without passwords.
    pub sources: Vec<String>,
    /// Their tables.
    pub tables: Vec<Table>,
    /// The tables' columns, and the paths of documents.
    pub features: Vec<Feature>,
    /// What they have to do with each other: foreign keys, then contained, then similar features, best first.
    pub relations: Vec<Relation>,
    /// What could not be read.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Reads sources, and finds what their features have in common.
pub fn profile(sources: &[String], options: &ProfileOptions, run: &Run) -> Result<Profile> {
    options.check()?;
    run.install(|| profile_here(sources, options, run))?
}

fn profile_here(addresses: &[String], options: &ProfileOptions, run: &Run) -> Result<Profile> {
    let choice = options.choice();
    let mut sources: Vec<Box<dyn Source>> =
        addresses.iter().map(|text| source::open(text, &choice)).collect::<Result<_>>()?;
    let making = Making::new(options)?;
    let mut profile =
        Profile { sources: sources.iter().map(|source| source.name().to_owned()).collect(), ..Profile::default() };
    profile.look(&mut sources, &making, options, run)?;
    profile.name_features(&sources);
    profile.relate(&mut sources, &making, options, run)?;
    Ok(profile)
}

impl Profile {
    /// Reads all tables once.
    fn look(
        &mut self,
        sources: &mut [Box<dyn Source>],
        making: &Making,
        options: &ProfileOptions,
        run: &Run,
    ) -> Result<()> {
        run.begin("read", None);
        for (number, source) in sources.iter_mut().enumerate() {
            let (tables, problems) = source.tables(run)?;
            self.problems.extend(problems);
            for mut table in tables {
                run.check()?;
                table.source = number;
                match first_look(source.as_mut(), &mut table, making, &options.text_columns, run) {
                    Ok((features, problems)) => {
                        let place = self.tables.len();
                        self.features.extend(features.into_iter().map(|feature| Feature { table: place, ..feature }));
                        self.tables.push(table);
                        self.problems.extend(problems);
                    }
                    Err(error) if error.is_final() => return Err(error),
                    Err(error) => {
                        let (place, reason) = (format!("{} {}", source.name(), table.name), error.to_string());
                        self.problems.push(Problem { place: place.trim_end().to_owned(), reason });
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives each feature a name that no other has.
    fn name_features(&mut self, sources: &[Box<dyn Source>]) {
        let schemas: BTreeSet<(usize, &Option<String>)> =
            self.tables.iter().map(|table| (table.source, &table.schema)).collect();
        let has_schemas = |source: usize| schemas.iter().filter(|(own, _)| *own == source).count() > 1;
        let base = |table: &Table| match &table.schema {
            Some(schema) if has_schemas(table.source) => format!("{schema}.{}", table.name),
            _ => table.name.clone(),
        };
        let mut owners: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for table in &self.tables {
            owners.entry(base(table)).or_default().insert(table.source);
        }
        let mut shorts: HashMap<String, usize> = HashMap::new();
        let shorts: Vec<String> = sources
            .iter()
            .map(|source| {
                let short = source.short();
                let count = shorts.entry(short.clone()).or_insert(0);
                *count += 1;
                if *count == 1 { short } else { format!("{short}{count}") }
            })
            .collect();
        for feature in &mut self.features {
            let table = &self.tables[feature.table];
            let base = base(table);
            let is_shared = owners[&base].len() > 1;
            let short = &shorts[table.source];
            feature.name = match (table.is_xml(), is_shared) {
                (true, false) => feature.column.clone(),
                (true, true) => format!("{short}:{}", feature.column),
                (false, false) => format!("{base}.{}", feature.column),
                (false, true) => format!("{short}.{base}.{}", feature.column),
            };
        }
    }

    /// Finds the relations.
    fn relate(
        &mut self,
        sources: &mut [Box<dyn Source>],
        making: &Making,
        options: &ProfileOptions,
        run: &Run,
    ) -> Result<()> {
        let pairs = inclusion::candidates(&self.features, options.containment);
        let questions: Vec<Question> =
            pairs.iter().map(|&(left, right)| Question { left: vec![left], right: vec![right] }).collect();
        let mut composite = Vec::new();
        let mut answers: Vec<Option<Counts>> = vec![None; questions.len()];
        if !options.no_check {
            let scorer = Scorer::new(&self.features, &self.tables);
            composite = composites(&self.features, &scorer, &pairs);
            let all: Vec<Question> = questions.iter().chain(&composite).cloned().collect();
            let unsettled: Vec<usize> =
                (0..self.features.len()).filter(|&feature| self.features[feature].unique.is_none()).collect();
            let mut checker = Checker {
                sources,
                tables: &self.tables,
                features: &self.features,
                making,
                run,
                share: options.containment,
                problems: Vec::new(),
                distinct: BTreeMap::new(),
            };
            answers = checker.answer(&all, &unsettled)?;
            let (problems, distinct) = (checker.problems, checker.distinct);
            self.problems.extend(problems);
            for (key, &distinct) in &distinct {
                if let [feature] = key.as_slice() {
                    self.features[*feature].settle(distinct);
                }
            }
            composite.retain(|question| {
                let rows = self.features[question.right[0]].rows;
                distinct.get(&question.right) == Some(&rows)
            });
            let answered: Vec<(Question, Option<Counts>)> = all.into_iter().zip(answers).collect();
            let kept = answered
                .into_iter()
                .enumerate()
                .filter(|(at, (question, _))| *at < questions.len() || composite.contains(question));
            let (_, kept): (Vec<usize>, Vec<(Question, Option<Counts>)>) = kept.unzip();
            answers = kept.into_iter().map(|(_, counts)| counts).collect();
        }
        let mut contained = Vec::new();
        for (question, counts) in questions.iter().chain(&composite).zip(&answers) {
            contained.extend(self.contained(question, counts.as_ref(), options.containment));
        }
        let scorer = Scorer::new(&self.features, &self.tables);
        let mut keys = scorer.foreign_keys(&contained);
        keys.extend(
            contained.iter().filter(|relation| relation.left.len() == 2).map(|relation| scorer.composite(relation)),
        );
        keys.retain(|key| key.score >= options.score);
        contained.retain(|relation| relation.left.len() == 1);
        let similar = self.similar(options, run)?;
        let mut relations = Vec::new();
        for mut of_kind in [keys, contained, similar] {
            of_kind.iter_mut().for_each(|relation| relation.declared = self.is_declared(relation));
            let order = |relation: &Relation| (relation.left.clone(), relation.right.clone());
            of_kind.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b))));
            let mut listed: HashMap<Vec<usize>, usize> = HashMap::new();
            of_kind.retain(|relation| {
                let count = listed.entry(relation.left.clone()).or_insert(0);
                *count += 1;
                *count <= options.top
            });
            relations.extend(of_kind);
        }
        self.relations = relations;
        Ok(())
    }

    /// How one key is contained in another, if it is.
    fn contained(&self, question: &Question, counts: Option<&Counts>, share: f64) -> Option<Relation> {
        let (left, right) = (&self.features[question.left[0]], &self.features[question.right[0]]);
        let mut relation = Relation {
            kind: RelationKind::Contained,
            left: question.left.clone(),
            right: question.right.clone(),
            score: 0.0,
            similarity: 0.0,
            low: 0.0,
            high: 0.0,
            containment: 0.0,
            coverage: 0.0,
            checked: false,
            declared: false,
            orphans: Vec::new(),
            orphan_values: 0,
            evidence: Vec::new(),
        };
        match counts {
            Some(counts) => {
                let (l, r, common) = (counts.left as f64, counts.right as f64, counts.common as f64);
                relation.containment = if l > 0.0 { common / l } else { 0.0 };
                relation.coverage = if r > 0.0 { (common / r).min(1.0) } else { 0.0 };
                relation.similarity = common / (l + r - common).max(1.0);
                (relation.low, relation.high) = (relation.similarity, relation.similarity);
                relation.checked = true;
                relation.orphans = counts.orphans.clone();
                relation.orphan_values = counts.left - counts.common;
                if relation.containment < share {
                    return None;
                }
            }
            None => {
                let comparison = left.synopsis().compare(right.synopsis());
                let interval = Intervals::new(Measure::Jaccard).of(&comparison);
                (relation.similarity, relation.low, relation.high) = (interval.similarity, interval.low, interval.high);
                relation.containment = estimated_containment(left, right);
                relation.coverage =
                    (relation.containment * left.distinct.count / right.distinct.count.max(1.0)).min(1.0);
            }
        }
        relation.score = relation.containment * (0.5 + 0.5 * relation.coverage.sqrt());
        Some(relation)
    }

    /// Pairs of features that have much the same values.
    fn similar(&self, options: &ProfileOptions, run: &Run) -> Result<Vec<Relation>> {
        let mut relations = Vec::new();
        for is_tokens in [false, true] {
            let members: Vec<usize> =
                (0..self.features.len()).filter(|&feature| self.features[feature].is_tokens == is_tokens).collect();
            let mut synopses = Synopses::new(options.size)?;
            members.iter().for_each(|&feature| synopses.push(self.features[feature].synopsis()));
            let threshold: Threshold = options.threshold.to_string().parse()?;
            let joined = twinset::join(Input::Synopses(&synopses), &JoinOptions::at(threshold), run)?;
            let mut intervals = Intervals::new(Measure::Jaccard);
            for pair in joined.iter() {
                let pair = pair?;
                let (left, right) = (members[pair.left as usize], members[pair.right as usize]);
                let comparison: Comparison = self.features[left].synopsis().compare(self.features[right].synopsis());
                let interval = intervals.of(&comparison);
                relations.push(Relation {
                    kind: RelationKind::Similar,
                    left: vec![left],
                    right: vec![right],
                    score: interval.similarity,
                    similarity: interval.similarity,
                    low: interval.low,
                    high: interval.high,
                    containment: comparison.value(Measure::Containment),
                    coverage: comparison.swapped().value(Measure::Containment),
                    checked: comparison.is_exact(),
                    declared: false,
                    orphans: Vec::new(),
                    orphan_values: 0,
                    evidence: Vec::new(),
                });
            }
        }
        Ok(relations)
    }

    fn is_declared(&self, relation: &Relation) -> bool {
        let columns = |key: &[usize]| -> Vec<&str> {
            key.iter().map(|&feature| self.features[feature].column.as_str()).collect()
        };
        let (left, right) =
            (&self.tables[self.features[relation.left[0]].table], &self.tables[self.features[relation.right[0]].table]);
        let same = |a: &str, b: &str| a == b || left.schema.is_none() && a.eq_ignore_ascii_case(b);
        let (from, to) = (columns(&relation.left), columns(&relation.right));
        left.source == right.source
            && left.declared.iter().any(|key| {
                let mut pairs: Vec<(&str, &str)> =
                    key.columns.iter().map(String::as_str).zip(key.to_columns.iter().map(String::as_str)).collect();
                let mut own: Vec<(&str, &str)> = from.iter().copied().zip(to.iter().copied()).collect();
                pairs.sort_unstable();
                own.sort_unstable();
                same(&key.to.1, &right.name)
                    && (key.to.0.is_none() || key.to.0 == right.schema)
                    && pairs.len() == own.len()
                    && pairs.iter().zip(&own).all(|(a, b)| same(a.0, b.0) && same(a.1, b.1))
            })
    }
}

/// Which share of the left one's values is in the right one, as far as synopses tell.
fn estimated_containment(left: &Feature, right: &Feature) -> f64 {
    let limit = if right.is_complete { u64::MAX } else { right.values.last().copied().unwrap_or(0) };
    let known: Vec<&u64> = left.values.iter().take_while(|value| **value <= limit).collect();
    let found = known.iter().filter(|value| right.values.binary_search(value).is_ok()).count();
    // Where nothing is known, what was not denied is taken to be contained.
    if known.is_empty() { 1.0 } else { found as f64 / known.len() as f64 }
}

/// So many pairs of columns are tried for each pair of tables.
const COMPOSITES: usize = 3;

/// Pairs of columns of one table that may refer to pairs of another, none of which is a key by itself.
fn composites(features: &[Feature], scorer: &Scorer<'_>, pairs: &[(usize, usize)]) -> Vec<Question> {
    let mut by_tables: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
    for &(left, right) in pairs {
        let (l, r) = (&features[left], &features[right]);
        if l.table != r.table
            && r.unique == Some(false)
            && r.nulls == 0
            && l.kind == r.kind
            && scorer.name(left, right) > 0.0
        {
            by_tables.entry((l.table, r.table)).or_default().push((left, right));
        }
    }
    let mut questions = Vec::new();
    for singles in by_tables.values() {
        let mut found: Vec<(f64, Question)> = Vec::new();
        for (at, &(a, b)) in singles.iter().enumerate() {
            for &(c, d) in &singles[at + 1..] {
                let rows = features[b].rows as f64;
                let is_enough = features[b].distinct.high * features[d].distinct.high >= rows;
                let name = scorer.name(a, b).min(scorer.name(c, d));
                if a != c && b != d && is_enough && name >= 0.6 {
                    found.push((name, Question { left: vec![a, c], right: vec![b, d] }));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        questions.extend(found.into_iter().take(COMPOSITES).map(|(_, question)| question));
    }
    questions
}
