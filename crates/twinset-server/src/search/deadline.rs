//! A search that ends when its time is over.

use std::io;
use std::time::Instant;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::Weight;
use tantivy::schema::Schema;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, SegmentReader, TERMINATED};

use crate::error::DeadlineExceeded;

/// What another collector collects, unless a moment comes before it is done.
pub(crate) struct WithDeadline<C> {
    pub(crate) collector: C,
    pub(crate) deadline: Instant,
}

/// After so many articles it looks at the clock.
const OFTEN: usize = 1000;

impl<C: Collector> WithDeadline<C> {
    fn check(&self) -> tantivy::Result<()> {
        match Instant::now() > self.deadline {
            true => Err(io::Error::new(io::ErrorKind::TimedOut, DeadlineExceeded).into()),
            false => Ok(()),
        }
    }
}

impl<C: Collector> Collector for WithDeadline<C> {
    type Fruit = C::Fruit;
    type Child = C::Child;

    fn check_schema(&self, schema: &Schema) -> tantivy::Result<()> {
        self.collector.check_schema(schema)
    }

    fn for_segment(&self, number: u32, segment: &SegmentReader) -> tantivy::Result<C::Child> {
        self.collector.for_segment(number, segment)
    }

    fn requires_scoring(&self) -> bool {
        self.collector.requires_scoring()
    }

    fn merge_fruits(&self, fruits: Vec<<C::Child as SegmentCollector>::Fruit>) -> tantivy::Result<C::Fruit> {
        self.collector.merge_fruits(fruits)
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        number: u32,
        segment: &SegmentReader,
    ) -> tantivy::Result<<C::Child as SegmentCollector>::Fruit> {
        self.check()?;
        let mut child = self.for_segment(number, segment)?;
        let mut found = weight.scorer(segment, 1.0)?;
        let alive = segment.alive_bitset();
        if self.requires_scoring() {
            while found.doc() != TERMINATED {
                self.check()?;
                for _ in 0..OFTEN {
                    let article = found.doc();
                    if article == TERMINATED {
                        break;
                    }
                    if alive.is_none_or(|alive| alive.is_alive(article)) {
                        child.collect(article, found.score());
                    }
                    found.advance();
                }
            }
            return Ok(child.harvest());
        }
        let mut some = [0; COLLECT_BLOCK_BUFFER_LEN];
        loop {
            self.check()?;
            let count = found.fill_buffer(&mut some);
            match alive {
                None => child.collect_block(&some[..count]),
                Some(alive) => {
                    let living = some[..count].iter().filter(|&&article| alive.is_alive(article));
                    living.for_each(|&article| child.collect(article, 0.0));
                }
            }
            if count < some.len() {
                return Ok(child.harvest());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tantivy::collector::{Count, TopDocs};
    use tantivy::query::{AllQuery, TermQuery};
    use tantivy::schema::{IndexRecordOption, TEXT};
    use tantivy::{Index, IndexWriter, TantivyDocument, TantivyError, Term};

    use super::*;

    #[test]
    fn a_search_finds_the_same_until_its_time_is_over() {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT);
        let index = Index::create_in_ram(schema.build());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        for number in 0..5000 {
            let mut document = TantivyDocument::new();
            document.add_text(text, format!("word {}", if number % 3 == 0 { "third word" } else { "other" }));
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.delete_term(Term::from_field_text(text, "other"));
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        let word = TermQuery::new(Term::from_field_text(text, "word"), IndexRecordOption::WithFreqs);
        let until = |deadline| WithDeadline { collector: (TopDocs::with_limit(10).order_by_score(), Count), deadline };
        let later = Instant::now() + Duration::from_secs(60);
        let expected = searcher.search(&word, &(TopDocs::with_limit(10).order_by_score(), Count)).unwrap();
        assert_eq!((expected.0.len(), expected.1), (10, 1667));
        assert_eq!(searcher.search(&word, &until(later)).unwrap(), expected);
        let count = |deadline| searcher.search(&AllQuery, &WithDeadline { collector: Count, deadline });
        assert_eq!(count(later).unwrap(), 1667);
        let over = Instant::now() - Duration::from_millis(1);
        let is_busy = |error: TantivyError| matches!(crate::Error::from(error), crate::Error::Busy(_));
        assert!(is_busy(searcher.search(&word, &until(over)).unwrap_err()));
        assert!(is_busy(count(over).unwrap_err()));
    }
}
