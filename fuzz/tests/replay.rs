//! All seeds, all findings, and mutations of them show no fault.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use twinset_fuzz::{TARGETS, Target};

/// So many mutations are tried on each target.
const MUTATIONS: usize = 120;

#[test]
fn seeds_findings_and_their_mutations_show_no_fault() {
    let faults: Vec<String> = std::thread::scope(|scope| {
        // Every other target, as some take longer.
        let half =
            |first: usize| move || TARGETS.iter().skip(first).step_by(2).filter_map(replayed).collect::<Vec<_>>();
        let threads = [scope.spawn(half(0)), scope.spawn(half(1))];
        threads.into_iter().flat_map(|thread| thread.join().expect("faults are caught")).collect()
    });
    twinset_fuzz::clear();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The first fault of a target.
fn replayed(target: &Target) -> Option<String> {
    let begin = std::time::Instant::now();
    let (seeds, findings) = (target.seeds(), target.findings());
    assert!(seeds.len() >= 3, "{} has too few seeds", target.name);
    for file in seeds.iter().chain(&findings) {
        if let Err(fault) = target.check(&std::fs::read(file).unwrap()) {
            return Some(format!("{}: {fault}", file.display()));
        }
    }
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for number in 0..MUTATIONS {
        let mutated = mutated(&seeds, &mut random);
        if let Err(fault) = target.check(&mutated) {
            let kept = std::env::temp_dir().join(format!("{}-{number}", target.name));
            std::fs::write(&kept, &mutated).unwrap();
            return Some(format!("{}: mutation {number}, kept as {}: {fault}", target.name, kept.display()));
        }
    }
    let (seeds, findings, seconds) = (seeds.len(), findings.len(), begin.elapsed().as_secs_f64());
    println!("{}: {seeds} seeds, {findings} findings, {seconds:.1} s", target.name);
    None
}

/// A seed with a few changes.
fn mutated(seeds: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seeds[random.random_range(0..seeds.len())].clone();
    for _ in 0..random.random_range(1..6) {
        let place = random.random_range(0..=bytes.len());
        let end = bytes.len().min(place + random.random_range(0..20));
        match random.random_range(0..5) {
            0 => drop(bytes.drain(place..end)),
            1 => bytes[place..end].iter_mut().for_each(|byte| *byte ^= 1 << random.random_range(0..8)),
            2 => bytes[place..end].iter_mut().for_each(|byte| *byte = random.random()),
            3 => bytes.extend_from_within(place..end),
            _ => {
                // A piece of another seed.
                let other = &seeds[random.random_range(0..seeds.len())];
                let from = random.random_range(0..=other.len());
                bytes.splice(place..place, other[from..other.len().min(from + 30)].iter().copied());
            }
        }
    }
    bytes
}
