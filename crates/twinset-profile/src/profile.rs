//! From sources to relations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use twinset::estimate::Intervals;
use twinset::{Measure, Run};

use crate::cache::ProfileCache;
use crate::features::Feature;
use crate::features::encoder::ValueEncoder;
use crate::features::scan::scan_table;
use crate::inclusion;
use crate::inclusion::check::{Checker, Question};
use crate::inclusion::collector::Key;
use crate::inclusion::groups::Groups;
use crate::keys::{Scorer, factor};
use crate::relation::{Relation, RelationKind};
use crate::similar::similar;
use crate::sources::{self, Counts, Problem, Source, SourceOptions};
use crate::table::Table;
use crate::{Error, ProfileOptions, Result};

/// What was found in some sources.
#[derive(Debug, Clone, Default)]
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
    pub problems: Vec<Problem>,
    /// How many tables were not read, as they have not changed.
    pub unchanged: usize,
    /// What the second pass found.
    pub(crate) answers: Vec<(Question, Counts)>,
}

/// Reads sources, and finds what their features have in common. Tables that have not changed since they were saved are not read again.
pub fn profile(
    sources: &[String],
    options: &ProfileOptions,
    cache: Option<&ProfileCache>,
    run: &Run,
) -> Result<Profile> {
    options.check()?;
    run.install(|| profile_here(sources, options, cache, run))?
}

fn profile_here(
    addresses: &[String],
    options: &ProfileOptions,
    cache: Option<&ProfileCache>,
    run: &Run,
) -> Result<Profile> {
    let source_options = SourceOptions { needs_state: cache.is_some(), ..options.source_options() };
    let mut sources = sources::open_all(addresses, &source_options)?;
    let encoder = ValueEncoder::new(options)?;
    let mut profile =
        Profile { sources: sources.iter().map(|source| source.name().to_owned()).collect(), ..Profile::default() };
    let (is_cached, unread) = profile.scan(&mut sources, &encoder, options, cache, run)?;
    profile.name_features(&sources);
    let known = |question: &Question| {
        let is_known = question.left.iter().chain(&question.right).all(|&feature| is_cached[feature]);
        let cache = cache.filter(|_| is_known)?;
        let identities = (profile.identity(&question.left), profile.identity(&question.right));
        // The orphans of a key are known only if it was listed, or declared then; blank ones only if it was declared.
        let has_orphans =
            |counts: &&Counts| (counts.common == counts.left || !counts.orphans.is_empty()) && counts.blanks.is_some();
        cache.answers.get(&identities).filter(|counts| !question.is_declared || has_orphans(counts)).cloned()
    };
    let (declared, problems) = profile.declared_keys(&unread, options);
    let questions = profile.questions(declared, options);
    let known: Vec<Option<Counts>> = questions.iter().map(known).collect();
    profile.problems.extend(problems);
    profile.relate(&mut sources, questions, known, &encoder, options, run)?;
    Ok(profile)
}

impl Profile {
    /// Reads all tables once, unless they have not changed since they were saved. Tells for each feature whether it was, and which tables
    /// could not be read.
    fn scan(
        &mut self,
        sources: &mut [Box<dyn Source>],
        encoder: &ValueEncoder,
        options: &ProfileOptions,
        cache: Option<&ProfileCache>,
        run: &Run,
    ) -> Result<(Vec<bool>, Vec<Table>)> {
        let (mut is_cached, mut unread) = (Vec::new(), Vec::new());
        let mut tables = Vec::new();
        for (number, source) in sources.iter_mut().enumerate() {
            let (of_source, problems) = source.tables(run)?;
            self.problems.extend(problems);
            tables.extend(of_source.into_iter().map(|table| Table { source: number, ..table }));
        }
        for (option, names) in [("table", &options.table), ("schema", &options.schema)] {
            let is_there = |name: &&String| match option {
                "table" => tables.iter().any(|table| table.is_called(name)),
                _ => tables.iter().any(|table| table.schema.as_ref() == Some(*name)),
            };
            if let Some(name) = names.iter().find(|name| !is_there(name)) {
                return Err(Error::Usage(format!("--{option} {name}: there is none of this name")));
            }
        }
        run.begin("read", tables.iter().map(|table| (table.bytes > 0).then_some(table.bytes)).sum());
        for mut table in tables {
            run.check()?;
            let source = &mut sources[table.source];
            let known = cache.and_then(|cache| cache.unchanged(source.name(), &table));
            let was_cached = known.is_some();
            let looked = match known {
                Some(cached) => {
                    table.rows = cached.table.rows;
                    Ok((cached.features.clone(), Vec::new()))
                }
                None => scan_table(source.as_mut(), &mut table, encoder, &options.text_columns, run),
            };
            match looked {
                Ok((features, problems)) => {
                    let place = self.tables.len();
                    if !problems.is_empty() {
                        // So that the next run reads it again, and reports them again.
                        table.state.clear();
                    }
                    is_cached.extend(features.iter().map(|_| was_cached));
                    self.unchanged += usize::from(was_cached);
                    self.features.extend(features.into_iter().map(|feature| Feature { table: place, ..feature }));
                    self.tables.push(table);
                    self.problems.extend(problems);
                }
                Err(error) if error.is_final() => return Err(error),
                Err(error) => {
                    let (place, reason) = (format!("{} {}", source.name(), table.name), error.to_string());
                    self.problems.push(Problem { place: place.trim_end().to_owned(), reason });
                    unread.push(table);
                }
            }
        }
        Ok((is_cached, unread))
    }

    /// The names of the features of a key.
    pub fn key_name(&self, key: &[usize]) -> String {
        key.iter().map(|&feature| self.features[feature].name.as_str()).collect::<Vec<_>>().join(" + ")
    }

    /// What a key is, whatever else is read with it.
    pub(crate) fn identity(&self, key: &[usize]) -> String {
        let identity = |&feature: &usize| {
            let feature = &self.features[feature];
            let table = &self.tables[feature.table];
            (&self.sources[table.source], &table.schema, &table.name, &feature.column)
        };
        serde_json::to_string(&key.iter().map(identity).collect::<Vec<_>>()).unwrap_or_default()
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

    /// The foreign keys that databases declare, between features; and why some of them cannot be compared. Some tables could not be read.
    fn declared_keys(&self, unread: &[Table], options: &ProfileOptions) -> (BTreeSet<(Key, Key)>, Vec<Problem>) {
        let mut of_table: Vec<Vec<usize>> = vec![Vec::new(); self.tables.len()];
        self.features.iter().enumerate().for_each(|(number, feature)| of_table[feature.table].push(number));
        let (mut keys, mut problems) = (BTreeSet::new(), Vec::new());
        for (left, own) in self.tables.iter().enumerate() {
            // SQLite takes names that differ in case for the same.
            let same = |a: &str, b: &str| a == b || own.schema.is_none() && a.eq_ignore_ascii_case(b);
            let find = |table: usize, columns: &[String]| -> Option<Key> {
                let is = |column: &str, &feature: &usize| same(&self.features[feature].column, column);
                columns
                    .iter()
                    .map(|column| of_table[table].iter().copied().find(|feature| is(column, feature)))
                    .collect()
            };
            for key in &own.declared {
                let is_target = |table: &&Table| {
                    table.source == own.source
                        && same(&table.name, &key.to.1)
                        && (key.to.0.is_none() || key.to.0 == table.schema)
                };
                let target = self.tables.iter().position(|table| is_target(&table));
                let sides = target.and_then(|right| Some((find(left, &key.columns)?, find(right, &key.to_columns)?)));
                let mut report = |reason: &str| {
                    let place = format!("{} {}", self.sources[own.source], own.name);
                    let (from, to) = (key.columns.join(", "), key.to_columns.join(", "));
                    let to = if to.is_empty() { to } else { format!(" ({to})") };
                    let reason = format!("declared foreign key ({from}) to {}{to} {reason}", key.to.1);
                    problems.push(Problem { place, reason });
                };
                let Some((from, to)) = sides.filter(|(from, to)| !from.is_empty() && from.len() == to.len()) else {
                    let is_read = |schema: &Option<String>| {
                        let of_source = self.tables.iter().chain(unread).filter(|table| table.source == own.source);
                        schema.is_none() || of_source.into_iter().any(|table| table.schema == *schema)
                    };
                    let has_column =
                        |table: &Table, column: &String| table.columns.iter().any(|(own, _)| same(own, column));
                    match target.map(|right| &self.tables[right]).or(unread.iter().find(is_target)) {
                        // Other tables were not asked for.
                        None if !options.table.is_empty() || !options.schema.is_empty() => {}
                        None if !is_read(&key.to.0) => report("not checked: what it refers to was not read"),
                        // A server does not list tables that the user may not read.
                        None if key.to.0.is_some() => {
                            report("not checked: there is no table of this name, or it may not be read")
                        }
                        None => report("cannot hold: there is no table of this name"),
                        Some(table) => match key.to_columns.iter().find(|column| !has_column(table, column)) {
                            Some(column) => report(&format!("cannot hold: there is no column {column} in this table")),
                            None if key.to_columns.is_empty() => report("cannot hold: this table has no primary key"),
                            None if key.columns.len() != key.to_columns.len() => {
                                report("cannot hold: it refers to another number of columns");
                            }
                            None => report("not checked: what it refers to was not read"),
                        },
                    }
                    continue;
                };
                let are_comparable = from.iter().zip(&to).all(|(&from, &to)| {
                    let (from, to) = (&self.features[from], &self.features[to]);
                    let are_booleans =
                        from.is_boolean == to.is_boolean || from.values.is_empty() || to.values.is_empty();
                    !from.is_tokens && !to.is_tokens && are_booleans
                });
                if !are_comparable {
                    report("not checked: one side is compared by tokens, or as true and false");
                    continue;
                }
                let mut pairs: Vec<(usize, usize)> = from.into_iter().zip(to).collect();
                pairs.sort_unstable();
                keys.insert(pairs.into_iter().unzip());
            }
        }
        (keys, problems)
    }

    /// What is asked: which features may be contained in which, alone and two together, and whether declared keys hold.
    fn questions(&self, mut declared: BTreeSet<(Key, Key)>, options: &ProfileOptions) -> Vec<Question> {
        let scorer = Scorer::new(&self.features, &self.tables);
        let cut = |pairs| self.most_promising(pairs, &scorer, options.top);
        let groups = Groups::new(&self.features);
        // Pairs that are listed, that may be keys, or parts of keys.
        let is_wanted = |left, right| {
            groups.is_listed(left, right) || scorer.is_target(right) || self.may_be_part(left, right, &scorer)
        };
        let pairs = inclusion::candidates(&self.features, &groups, options.containment.as_f64(), is_wanted, cut);
        let single = pairs.iter().map(|&(left, right)| Question::candidate(vec![left], vec![right]));
        let composite = self.composites(&scorer, &pairs);
        let mut questions: Vec<Question> = single.chain(composite.into_iter().filter(|_| !options.no_check)).collect();
        for question in &mut questions {
            question.is_declared = declared.remove(&(question.left.clone(), question.right.clone()));
        }
        let others = declared.into_iter();
        questions.extend(others.map(|(left, right)| Question { left, right, is_candidate: false, is_declared: true }));
        questions
    }

    /// Of the features that one may be contained in, the most promising: by name, and by how many of their values it may cover.
    fn most_promising(&self, pairs: Vec<(usize, usize)>, scorer: &Scorer<'_>, top: usize) -> Vec<(usize, usize)> {
        let most = top.saturating_mul(LOOKED_AT);
        if pairs.len() <= most {
            return pairs;
        }
        let size = |right: usize| self.features[right].distinct.count;
        let ranked =
            pairs.into_iter().map(|(left, right)| (scorer.name(left, right) < TOLD, size(right), (left, right)));
        let mut ranked: Vec<(bool, f64, (usize, usize))> = ranked.collect();
        ranked.select_nth_unstable_by(most, |a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        ranked.truncate(most);
        let mut kept: Vec<(usize, usize)> = ranked.into_iter().map(|(_, _, pair)| pair).collect();
        kept.sort_unstable();
        kept
    }

    /// Finds the relations, given what is known of the answers.
    fn relate(
        &mut self,
        sources: &mut [Box<dyn Source>],
        questions: Vec<Question>,
        mut answers: Vec<Option<Counts>>,
        encoder: &ValueEncoder,
        options: &ProfileOptions,
        run: &Run,
    ) -> Result<()> {
        if !options.no_check {
            let open: Vec<usize> = (0..questions.len()).filter(|&at| answers[at].is_none()).collect();
            let asked: Vec<Question> = open.iter().map(|&at| questions[at].clone()).collect();
            let is_unsettled = |feature: &usize| self.features[*feature].unique.is_none();
            let unsettled: Vec<usize> = (0..self.features.len()).filter(is_unsettled).collect();
            let mut checker = Checker {
                sources,
                tables: &self.tables,
                features: &self.features,
                encoder,
                run,
                share: options.containment.as_f64(),
                problems: Vec::new(),
                distinct: BTreeMap::new(),
            };
            let mut found = checker.answer(&asked, &unsettled)?;
            checker.count_blanks(&asked, &mut found)?;
            for (at, answer) in open.into_iter().zip(found) {
                answers[at] = answer;
            }
            let (problems, distinct) = (checker.problems, checker.distinct);
            self.problems.extend(problems);
            for (key, &distinct) in &distinct {
                if let [feature] = key.as_slice() {
                    self.features[*feature].settle(distinct);
                }
            }
        }
        let share = options.containment.as_f64();
        let (mut contained, mut declared) = (Vec::new(), Vec::new());
        for (question, counts) in questions.iter().zip(&answers) {
            let relation = self.relation(question, counts.as_ref());
            // Two columns are a key together if no two rows have the same values.
            let rows = self.features[question.right[0]].rows;
            let is_target = question.right.len() == 1
                || counts.as_ref().is_some_and(|counts| counts.right == rows && counts.left > 0);
            let is_contained =
                question.is_candidate && is_target && !(relation.checked && relation.containment < share);
            if question.is_declared {
                declared.push(relation.clone());
            }
            if is_contained {
                contained.push(relation);
            }
        }
        let sides = |relation: &Relation| (relation.left.clone(), relation.right.clone());
        let all_declared: BTreeSet<(Key, Key)> = declared.iter().map(sides).collect();
        let all = questions.into_iter().zip(answers);
        self.answers = all.filter_map(|(question, counts)| Some((question, counts?))).collect();
        let scorer = Scorer::new(&self.features, &self.tables);
        let mut keys = scorer.foreign_keys(&contained, options.score);
        keys.extend(
            contained.iter().filter(|relation| relation.left.len() > 1).map(|relation| scorer.other_key(relation)),
        );
        let found: BTreeSet<(Key, Key)> = keys.iter().filter(|key| key.declared).map(sides).collect();
        declared.retain(|key| !found.contains(&sides(key)));
        keys.extend(declared.iter().map(|key| scorer.other_key(key)));
        keys.retain(|key| key.declared || key.score >= options.score);
        keys.iter_mut().filter(|key| key.declared).for_each(|key| key.evidence.push(factor("declared", 1.0)));
        let blanks: HashMap<(&Key, &Key), &Counts> = self
            .answers
            .iter()
            .filter(|(question, _)| question.is_declared)
            .map(|(question, counts)| ((&question.left, &question.right), counts))
            .collect();
        for key in keys.iter_mut().filter(|key| key.declared) {
            if let Some(counts) = blanks.get(&(&key.left, &key.right)) {
                key.add_blanks(counts);
            }
        }
        let groups = Groups::new(&self.features);
        contained.retain(|relation| {
            matches!((&relation.left[..], &relation.right[..]), (&[left], &[right]) if groups.is_listed(left, right))
        });
        let similar = similar(&self.features, &groups, &self.answers, &all_declared, options, run)?;
        let mut relations = Vec::new();
        for mut of_kind in [keys, contained, similar] {
            let order = |relation: &Relation| (relation.left.clone(), relation.right.clone());
            of_kind.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b))));
            let mut listed: HashMap<Vec<usize>, usize> = HashMap::new();
            of_kind.retain(|relation| {
                let count = listed.entry(relation.left.clone()).or_insert(0);
                *count += 1;
                // Of similar features the best of either side are there already.
                *count <= options.top || relation.declared || relation.kind == RelationKind::Similar
            });
            relations.extend(of_kind);
        }
        self.relations = relations;
        Ok(())
    }

    /// How far one key is contained in another.
    fn relation(&self, question: &Question, counts: Option<&Counts>) -> Relation {
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
            declared: question.is_declared,
            orphans: Vec::new(),
            orphan_values: 0,
            orphan_rows: 0,
            evidence: Vec::new(),
        };
        match counts {
            Some(counts) => {
                let (l, r, common) = (counts.left as f64, counts.right as f64, counts.common as f64);
                relation.containment = counts.containment();
                relation.coverage = if r > 0.0 { (common / r).min(1.0) } else { 0.0 };
                relation.similarity = common / (l + r - common).max(1.0);
                let with = |right: f64| common / (l + right - common).max(1.0);
                (relation.low, relation.high) = match counts.right_is_estimate {
                    true => (with(right.distinct.high), with(right.distinct.low.max(common))),
                    false => (relation.similarity, relation.similarity),
                };
                relation.orphan_rows = counts.orphan_rows;
                relation.checked = true;
                relation.orphans = counts.orphans.clone();
                relation.orphan_values = counts.left - counts.common;
            }
            None => {
                let comparison = left.synopsis().compare(right.synopsis());
                let interval = Intervals::new(Measure::Jaccard).of(&comparison);
                (relation.similarity, relation.low, relation.high) = (interval.similarity, interval.low, interval.high);
                relation.containment = inclusion::estimate(left, right);
                relation.coverage =
                    (relation.containment * left.distinct.count / right.distinct.count.max(1.0)).min(1.0);
            }
        }
        relation.score = relation.containment * (0.5 + 0.5 * relation.coverage.sqrt());
        relation
    }

    /// Whether two features may be parts of keys of two columns.
    fn may_be_part(&self, left: usize, right: usize, scorer: &Scorer<'_>) -> bool {
        let (l, r) = (&self.features[left], &self.features[right]);
        l.table != r.table
            && !self.tables[l.table].is_xml()
            && !self.tables[r.table].is_xml()
            && r.unique == Some(false)
            && r.nulls == 0
            && l.kind == r.kind
            && scorer.name(left, right) >= TOLD
    }

    /// Pairs of columns of one table that may refer to pairs of another, none of which is a key by itself.
    fn composites(&self, scorer: &Scorer<'_>, pairs: &[(usize, usize)]) -> Vec<Question> {
        let features = &self.features;
        let mut by_tables: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
        for &(left, right) in pairs.iter().filter(|&&(left, right)| self.may_be_part(left, right, scorer)) {
            by_tables.entry((features[left].table, features[right].table)).or_default().push((left, right));
        }
        let mut questions = Vec::new();
        for singles in by_tables.values() {
            let mut found: Vec<(f64, Question)> = Vec::new();
            for (at, &(a, b)) in singles.iter().enumerate() {
                for &(c, d) in &singles[at + 1..] {
                    let rows = features[b].rows as f64;
                    let is_enough = features[b].distinct.high * features[d].distinct.high >= rows;
                    let name = scorer.name(a, b).min(scorer.name(c, d));
                    if a != c && b != d && is_enough {
                        found.push((name, Question::candidate(vec![a, c], vec![b, d])));
                    }
                }
            }
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            questions.extend(found.into_iter().take(COMPOSITES).map(|(_, question)| question));
        }
        questions
    }
}

/// For each relation of a column that is listed, so many are looked at.
const LOOKED_AT: usize = 5;
/// How well the names of two columns must tell that one refers to the other.
const TOLD: f64 = 0.6;
/// So many pairs of columns are tried for each pair of tables.
const COMPOSITES: usize = 3;
