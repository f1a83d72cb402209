//! In progress (conformance engineer): random programs.
