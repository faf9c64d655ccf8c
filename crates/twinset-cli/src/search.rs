//! Runs the plan of a search on collections that were read from files.

use twinset::Run;
use twinset::exact::{Input, JoinResult, Plan};
use twinset_io::read::Inputs;
use twinset_io::{Collection, Content, Keeping, ReadOptions, Source, load};

/// What was read, so that it can be read again.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) sides: &'a [Inputs],
    pub(crate) read: &'a ReadOptions,
    pub(crate) keeping: Keeping<'a>,
}

/// The files and tables of one collection or two, of which one at most is standard input.
pub(crate) fn open_inputs(sides: &[&[Source]], read: &ReadOptions) -> anyhow::Result<Vec<Inputs>> {
    if sides.iter().copied().flatten().filter(|source| source.is_standard()).count() > 1 {
        return Err(twinset_io::Error::Usage("standard input can be read only once".to_owned()).into());
    }
    let sides = sides.iter().filter(|sources| !sources.is_empty());
    Ok(sides.map(|sources| Inputs::find(*sources, read.format)).collect::<Result<_, _>>()?)
}

/// Finds the pairs. If the plan verifies estimates, the input is read again, and its token sets are returned as well.
pub(crate) fn find(
    plan: &Plan,
    input: Input<'_>,
    classes: Option<&[u32]>,
    origin: Origin<'_>,
    run: &Run,
) -> anyhow::Result<(JoinResult, Option<Collection>)> {
    let joined = plan.find(input, classes, run)?;
    if !plan.verifies() {
        return Ok((joined, None));
    }
    let keeping = Keeping { content: Content::Sets(plan.tokens()), again: true, ..origin.keeping };
    let exact = load(origin.sides, origin.read, keeping, run)?;
    let verified = plan.verify(&joined, exact.input(), run)?;
    Ok((verified, Some(exact)))
}
