//! Tells the processor what will be read soon, so that it does not wait for memory one place at a time.

#![allow(unsafe_code, reason = "prefetch instructions")]

/// Fetches the beginning of a slice into the cache. Has no effect but on time.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}
