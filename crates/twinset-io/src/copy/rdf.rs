//! Copies triples of RDF as N-Quads: all but those of resources that were removed.

use std::io::Write;

use twinset::Run;

use super::{Fate, Records, Sides, Target};
use crate::Result;
use crate::collection::Collection;
use crate::read::{Inputs, ReadOptions, Wanted, describe, for_each_quad};

pub(super) fn copy(
    (inputs, collection): (&Inputs, &Collection),
    options: &ReadOptions,
    (mut kept, mut removed): (Target, Option<Target>),
    fate: impl Fn(u32) -> Fate,
    run: &Run,
) -> Result<()> {
    let (described, rejected) = describe(&inputs.files, options, &Wanted::default(), run)?;
    let (mut first, mut gone, mut rejected_resources) = (0, Vec::new(), Vec::new());
    for (at, (layout, bad)) in collection.layout[0].iter().zip(&rejected).enumerate() {
        let mut records = Records { layout, position: 0, left_out: 0, next: first };
        bad.iter().for_each(|_| {
            records.next_ordinal();
        });
        for position in described.of_file(at) {
            match records.next_ordinal().map(&fate) {
                Some(Fate::Kept) => {}
                Some(Fate::Removed) => gone.push(position),
                None => rejected_resources.push(position),
            }
        }
        first = records.first_of_next_file();
    }
    let is_gone = described.with_what_hangs_below(&gone);
    let is_rejected = described.with_what_hangs_below(&rejected_resources);
    for (at, file) in inputs.files.iter().enumerate() {
        let removed = removed.as_mut().map(|target| target.open(at)).transpose()?;
        let mut sides = Sides { kept: kept.open(at)?, removed };
        for_each_quad(file, options, run, |quad| {
            // A bad line belongs to nothing.
            let Ok(quad) = quad else { return Ok(()) };
            let place = described.place(&quad, at);
            let is = |mask: &[bool]| place.is_some_and(|place| mask[place as usize]);
            if is(&is_rejected) {
                return Ok(());
            }
            let fate = if is(&is_gone) { Fate::Removed } else { Fate::Kept };
            let Some(output) = sides.of(fate) else { return Ok(()) };
            writeln!(output, "{quad} .").map_err(|error| output.failure(&error))
        })?;
        sides.finish()?;
    }
    Ok(())
}
