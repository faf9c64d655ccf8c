//! The innermost loop of the fast joins: comparing signatures, on AVX2 where the processor has it and on plain integers elsewhere, with the same results.

#![allow(unsafe_code, reason = "vector instructions")]

use std::ops::Range;

/// How many signatures are compared in one step.
pub(crate) const STEP: usize = 8;

/// The instructions that compare signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Kernel {
    /// The fastest that the processor has, or the portable one.
    pub(crate) fn new(portable: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if !portable && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            return Self::Avx2;
        }
        let _ = portable;
        Self::Portable
    }

    /// Adds to `near` the positions, counted from the start of the range, at which columns of words, `stride` apart, differ from `own` in at
    /// most `limit` bits. From every position of the range a whole step can be read.
    pub(crate) fn near(
        self,
        words: &[u64],
        stride: usize,
        own: &[u64],
        range: Range<usize>,
        limit: u32,
        near: &mut Vec<u32>,
    ) {
        assert!(own.len() < 32, "the bits of more words would not fit the counters");
        assert!(range.is_empty() || (own.len().max(1) - 1) * stride + range.end + STEP <= words.len());
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel is only made where the processor has what it needs; the rest was just checked.
            Self::Avx2 => unsafe { avx2::near(words, stride, own, range, limit, near) },
            Self::Portable => near_portable(words, stride, own, range, limit, near),
        }
    }

    /// In how many bits two signatures differ.
    pub(crate) fn distance(self, a: &[u64], b: &[u64]) -> u32 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel is only made where the processor has what it needs.
            Self::Avx2 => unsafe { avx2::distance(a, b) },
            Self::Portable => distance_portable(a, b),
        }
    }
}

fn near_portable(words: &[u64], stride: usize, own: &[u64], range: Range<usize>, limit: u32, near: &mut Vec<u32>) {
    for start in range.clone().step_by(STEP) {
        let mut distances = [0u32; STEP];
        for (word, &own) in own.iter().enumerate() {
            let others = &words[word * stride + start..][..STEP];
            for (distance, &other) in distances.iter_mut().zip(others) {
                *distance += (own ^ other).count_ones();
            }
        }
        let inside = distances.iter().take(range.end - start).enumerate();
        let from = start - range.start;
        near.extend(inside.filter(|&(_, &distance)| distance <= limit).map(|(at, _)| (from + at) as u32));
    }
}

#[inline(always)]
fn distance_portable(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::ops::Range;

    use super::STEP;

    /// # Safety
    /// Every column of `words`, `stride` apart, must hold `STEP` words from any position of the range on.
    #[target_feature(enable = "avx2,popcnt")]
    pub(crate) unsafe fn near(
        words: &[u64],
        stride: usize,
        own: &[u64],
        range: Range<usize>,
        limit: u32,
        near: &mut Vec<u32>,
    ) {
        let nibbles = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let low = _mm256_set1_epi8(0x0f);
        let ones = |bits: __m256i| {
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bits), low);
            let low = _mm256_and_si256(bits, low);
            _mm256_add_epi8(_mm256_shuffle_epi8(nibbles, low), _mm256_shuffle_epi8(nibbles, high))
        };
        let limit = _mm256_set1_epi64x(i64::from(limit));
        let mut start = range.start;
        while start < range.end {
            let (mut first, mut second) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            for (word, &own) in own.iter().enumerate() {
                // SAFETY: the caller holds that a whole step can be read from here.
                let (a, b) = unsafe {
                    let at = words.as_ptr().add(word * stride + start).cast::<__m256i>();
                    (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1)))
                };
                let own = _mm256_set1_epi64x(own as i64);
                // Bytes count to 8 times the number of words, which is below 256.
                first = _mm256_add_epi8(first, ones(_mm256_xor_si256(a, own)));
                second = _mm256_add_epi8(second, ones(_mm256_xor_si256(b, own)));
            }
            let far = |counts: __m256i| {
                let sums = _mm256_sad_epu8(counts, _mm256_setzero_si256());
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sums, limit))) as u32
            };
            let mut hits = !(far(first) | far(second) << 4) & 0xff;
            if range.end - start < STEP {
                hits &= (1 << (range.end - start)) - 1;
            }
            while hits != 0 {
                near.push((start - range.start) as u32 + hits.trailing_zeros());
                hits &= hits - 1;
            }
            start += STEP;
        }
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(crate) fn distance(a: &[u64], b: &[u64]) -> u32 {
        super::distance_portable(a, b)
    }
}
