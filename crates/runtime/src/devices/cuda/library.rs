//! Libraries that are opened at run time, and tables of their functions.
//!
//! A function that a library does not have is an error when the table is made, so that every call afterwards can be
//! made.

/// Declares a struct of function pointers with `load`, which looks each up by the symbol's name.
macro_rules! functions {
    (
        $(#[$doc:meta])* struct $table:ident;
        $($(#[$field_doc:meta])* fn $field:ident($($argument:ty),* $(,)?) = $symbol:literal;)*
    ) => {
        $(#[$doc])*
        pub(super) struct $table {
            $($(#[$field_doc])* pub(super) $field: unsafe extern "C" fn($($argument),*) -> std::ffi::c_int,)*
            // The functions are code inside it.
            _library: libloading::Library,
        }

        impl $table {
            /// Looks up every function, or says which one is missing.
            fn load(library: libloading::Library) -> std::result::Result<$table, String> {
                Ok($table {
                    $($field: {
                        // SAFETY: the vendor's header declares the function with this type.
                        let function = unsafe { library.get($symbol.as_bytes()) };
                        *function.map_err(|_| format!("it has no function {}", $symbol))?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

pub(super) use functions;

/// Opens a vendor's library under the first of these names that works. The error has what the loader said of those that
/// exist.
pub(super) fn open_first(names: &[&str]) -> Result<libloading::Library, Vec<String>> {
    let mut failures = Vec::new();
    for name in names {
        // SAFETY: opening a vendor's library runs its initialisers, which ask for nothing.
        match unsafe { libloading::Library::new(name) } {
            Ok(library) => return Ok(library),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures.retain(|failure| !is_absence(failure));
    Err(failures)
}

/// Whether the loader says by this that there is no such file. It has no other way of saying so.
fn is_absence(failure: &str) -> bool {
    ["No such file or directory", "no such file", "cannot find the"]
        .iter()
        .any(|words| failure.contains(words))
}
