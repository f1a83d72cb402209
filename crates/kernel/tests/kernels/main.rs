//! Tests of the kernel language, one subject per file. One program: building what they share once takes half the time.

mod bounds;
mod broken;
mod combine;
mod compact;
mod depth;
mod device_length;
mod dynamic;
mod kernel_language;
mod launches;
mod lengths;
mod panics;
mod places;
mod scan;
mod tiles;
mod untyped;
