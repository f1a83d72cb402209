//! The whole programs of `pumice_algorithms`, small: nothing or one element, and a few blocks, against plain Rust. Few extents,
//! because each may need kernels of its own; other ones are for the cases of the operations.
