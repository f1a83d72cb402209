//! Tests of the kernel language, one subject per file. One program, so that what they share is built once.

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
