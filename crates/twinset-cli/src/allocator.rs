//! Memory, or the end of the program with a message: where there is none left, nothing can be done that needs some.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The memory of the system.
pub(crate) struct Allocator;

// SAFETY: the system does everything; what it returns is handed on, or the program ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for whoever calls this.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for whoever calls this.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for whoever calls this.
        or_end(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as for whoever calls this.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn or_end(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

/// Whether a thread is ending the program.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// How long other threads without memory leave it to that one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Ends the program at once, as any attempt to clean up may need memory; no half-written file is left.
#[cold]
fn end(size: usize) -> ! {
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        // Files would stay if the program ended while another thread removes them.
        std::thread::sleep(PATIENCE);
    } else {
        tell(size);
        twinset_io::durable::remove_unfinished_at_once();
    }
    // SAFETY: it does not return, and runs nothing of this program.
    unsafe { nix::libc::_exit(1) }
}

fn tell(size: usize) {
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let reason = "stay within a limit with --memory SIZE, take fewer --threads, or give it more";
    // A message that is too long would be cut, and standard error may be closed: neither is a reason not to end.
    let _ = writeln!(rest, "error: out of memory, as {size} bytes more cannot be had; {reason}");
    let left = rest.len();
    let _ = nix::unistd::write(std::io::stderr(), &text[..text.len() - left]);
}
