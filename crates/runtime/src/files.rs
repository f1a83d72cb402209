//! Files and folders that can outlive the process which made them: whose they are, and whether that process still runs.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// Age from which a temporary file counts as abandoned, whichever process made it.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Refuses what another user owns or may write to.
#[cfg(unix)]
pub(crate) fn only_ours(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call only returns a number.
    let user = unsafe { libc::geteuid() };
    if metadata.uid() != user {
        return Err(format!("it belongs to user {}, and this process to user {user}", metadata.uid()));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(format!("others may write to it (mode {:03o})", metadata.mode() & 0o777));
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn only_ours(_metadata: &Metadata) -> Result<(), String> {
    Ok(())
}

/// Returns the part of a temporary name that says which process made it: its number, and the namespace of that number.
pub(crate) fn process_tag() -> String {
    format!("{}-{:x}", std::process::id(), namespace().unwrap_or(0))
}

/// Whether what bears this tag and was last changed then is left over from a process that has ended. In doubt it is not.
pub(crate) fn is_left_over(tag: &str, modified: SystemTime) -> bool {
    if modified.elapsed().is_ok_and(|age| age > OLD) {
        return true;
    }
    let Some((process, space)) = tag.split_once('-') else { return false };
    // The same number in another container is another process.
    let ours = u64::from_str_radix(space, 16).is_ok_and(|space| Some(space) == namespace());
    ours && process.parse().is_ok_and(has_ended)
}

/// The namespace of process numbers that this process is in, if it is known.
#[cfg(target_os = "linux")]
fn namespace() -> Option<u64> {
    // As in `pid:[4026531836]`.
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn namespace() -> Option<u64> {
    Some(0)
}

#[cfg(unix)]
fn has_ended(process: i32) -> bool {
    if process <= 0 {
        return false; // It would mean a group of processes.
    }
    // SAFETY: signal 0 is not delivered; the call only says whether it could be.
    let answer = unsafe { libc::kill(process, 0) };
    answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(not(unix))]
fn has_ended(_process: i32) -> bool {
    false
}

/// The tag of a process that has ended, for tests of what it leaves.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn ended_tag() -> String {
    // Larger than the numbers of processes can be.
    format!("{}-{:x}", i32::MAX, namespace().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clearly_nobodys_is_left_over() {
        let now = SystemTime::now();
        let tag = process_tag();
        assert!(!is_left_over(&tag, now));
        assert!(is_left_over(&tag, now - 2 * OLD));
        assert!(!is_left_over(&tag, now + OLD), "a clock that was set back");
        for unclear in ["", "1", "x-y", "0-0", "-5-0", "2147483647-1", "99999999999-0"] {
            assert!(!is_left_over(unclear, now), "{unclear}");
        }
        #[cfg(target_os = "linux")]
        assert!(is_left_over(&ended_tag(), now));
    }
}
