//! The header of a library for C, and the source that the library is made of: texts of the files, and functions with types around the few
//! functions without types of `pumice-library`. Those are documented there; here they are only declared and called.

use super::names::{distinct, identifier};
use super::{FileText, Library, doc_lines};
use crate::interface::{Datum, Export, Leaf};
use crate::types::Size;
use pumice_scalar::ScalarType;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Words that parameters cannot be called, and names that the functions use themselves.
const RESERVED: &str = "\
    asm auto bool break case char const continue default do double else enum extern false float for goto if \
    inline int long register restrict return short signed sizeof static struct switch true typedef typeof \
    union unsigned void volatile while and or not xor class delete new this template namespace operator \
    private public try catch throw using virtual context arguments results linux unix errno NULL constexpr \
    nullptr alignas alignof thread_local static_assert export friend mutable explicit typename concept \
    requires protected compl bitand bitor signal near far";

/// A kind of arrays: their elements and the number of dimensions.
type ArrayKind = (ScalarType, usize);

/// Writes the header.
pub fn header(library: &Library<'_>) -> String {
    let name = library.name;
    let guard = format!("{}_H", name.to_uppercase());
    let mut text = String::new();
    comment(&mut text, &introduction(library));
    let _ = write!(
        text,
        "#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    let _ =
        writeln!(text, "/* What functions return: 0, or one of these. {name}_context_error has the text. */");
    let _ = writeln!(text, "enum {name}_status {{");
    for (number, (status, meaning)) in STATUSES.iter().enumerate() {
        let _ = writeln!(text, "    {}_{status} = {number}, /* {meaning} */", name.to_uppercase());
    }
    text.push_str("};\n\n");
    text.push_str(&CONTEXT_DECLARATIONS.replace("@", name));
    for kind in kinds(library) {
        text.push_str(&substituted(ARRAY_DECLARATIONS, name, kind));
    }
    for export in library.exports {
        let function = Function::of(name, export);
        comment(&mut text, &function.documentation(export));
        let _ = writeln!(text, "{};\n", function.prototype(name));
    }
    text.push_str("#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// Writes the source; it includes the header, and is linked with `pumice-library`.
pub fn source(library: &Library<'_>) -> String {
    let name = library.name;
    let mut text = format!(
        "/* Made by `pumice build` for {name}.h. */\n\n#include \"{name}.h\"\n\n#include <stddef.h>\n\n"
    );
    text.push_str(LIBRARY_DECLARATIONS);
    for (number, FileText { name, text: file }) in library.texts.iter().enumerate() {
        let _ = writeln!(text, "static const char name{number}[] = {};", literal(name));
        let _ = write!(text, "static const char text{number}[] =\n{};\n\n", literals(file));
    }
    text.push_str("static const struct pumice_library_text texts[] = {\n");
    for number in 0..library.texts.len() {
        let _ = writeln!(
            text,
            "    {{name{number}, sizeof(name{number}) - 1, text{number}, sizeof(text{number}) - 1}},"
        );
    }
    text.push_str("};\n\n");
    text.push_str(&bytes("kernels", library.kernels));
    text.push_str(&CONTEXT_DEFINITIONS.replace("@", name));
    for kind in kinds(library) {
        text.push_str(&substituted(ARRAY_DEFINITIONS, name, kind));
    }
    for export in library.exports {
        text.push_str(&Function::of(name, export).definition(name, &export.name));
    }
    text
}

/// Status codes that functions return, as `pumice-library` numbers them: a name and a meaning for each.
const STATUSES: [(&str, &str); 5] = [
    ("OK", "it worked"),
    ("INVALID", "an argument is missing, or of the wrong size"),
    ("FAILED", "a check in the program failed: an index, a division, a size"),
    ("DEVICE", "the device cannot be used, or its compiler refused a kernel"),
    ("INTERNAL", "a fault of Pumice"),
];

const CONTEXT_DECLARATIONS: &str = "\
/* A device and what is compiled for it. All functions may be called from several threads at once with one context. */
struct @_context;

/* Opens a device: `cuda`, `opencl`, `cpu`, `sim`, or, of several, `cuda:0`, …; NULL stands for the one that the
   environment variable PUMICE_DEVICE names, or the best that works. The context is never NULL unless memory has run out; if the
   device cannot be used, @_context_error says so, and so does every call with the context. */
struct @_context *@_context_new(const char *device);

/* Ends a context. Its arrays must have been freed. NULL is allowed. */
void @_context_free(struct @_context *context);

/* The text of this thread's last error with this context, or NULL if there is none. The caller frees it with `free`. */
char *@_context_error(struct @_context *context);

";

/// `@` is the library, `#` the kind of array, `%` its element, `$` its number of dimensions, and `~` its extents as parameters.
const ARRAY_DECLARATIONS: &str = "\
/* Arrays of %, of rank $. They never change; results stay on the device until their values are asked for. */
struct @_#;
/* Makes an array of a copy of the elements. NULL if it cannot be made. */
struct @_# *@_new_#(struct @_context *context, const % *data~);
/* Waits for an array and copies its elements to `data`, which has room for all. If the run that computes it failed, this is where it is
   told. */
int @_values_#(struct @_context *context, const struct @_# *array, % *data);
/* Writes the extents of an array to `shape`, which has room for $. */
int @_shape_#(struct @_context *context, const struct @_# *array, int64_t *shape);
/* Frees an array. NULL is allowed. */
int @_free_#(struct @_context *context, struct @_# *array);

";

const LIBRARY_DECLARATIONS: &str = "\
struct pumice_library_text {
    const char *name;
    size_t name_length;
    const char *text;
    size_t text_length;
};

void *pumice_library_context_new(const struct pumice_library_text *texts, size_t count, const unsigned char *kernels,
                                 size_t kernel_bytes, const char *device);
void pumice_library_context_free(void *context);
char *pumice_library_context_error(void *context);
void *pumice_library_array_new(void *context, int type, size_t rank, const int64_t *shape, const void *data);
int pumice_library_array_values(void *context, const void *array, int type, size_t rank, void *data);
int pumice_library_array_shape(void *context, const void *array, int type, size_t rank, int64_t *shape);
int pumice_library_array_free(void *context, void *array);
int pumice_library_call(void *context, const char *function, const void *const *arguments, size_t argument_count,
                        void *const *results, size_t result_count);

";

const CONTEXT_DEFINITIONS: &str = "\
struct @_context *@_context_new(const char *device) {
    /* The last byte is none of them: C has no empty arrays. */
    return pumice_library_context_new(texts, sizeof(texts) / sizeof(texts[0]), kernels, sizeof(kernels) - 1, device);
}

void @_context_free(struct @_context *context) {
    pumice_library_context_free(context);
}

char *@_context_error(struct @_context *context) {
    return pumice_library_context_error(context);
}

";

const ARRAY_DEFINITIONS: &str = "\
struct @_# *@_new_#(struct @_context *context, const % *data~) {
    const int64_t shape[] = {^};
    return pumice_library_array_new(context, &, $, shape, data);
}

int @_values_#(struct @_context *context, const struct @_# *array, % *data) {
    return pumice_library_array_values(context, array, &, $, data);
}

int @_shape_#(struct @_context *context, const struct @_# *array, int64_t *shape) {
    return pumice_library_array_shape(context, array, &, $, shape);
}

int @_free_#(struct @_context *context, struct @_# *array) {
    return pumice_library_array_free(context, array);
}

";

fn substituted(template: &str, library: &str, (ty, rank): ArrayKind) -> String {
    let extents: Vec<String> = (0..rank).map(|dimension| format!("dim{dimension}")).collect();
    let parameters: String = extents.iter().map(|extent| format!(", int64_t {extent}")).collect();
    let number = ScalarType::ALL.iter().position(|other| *other == ty).unwrap_or(0);
    template
        .replace('#', &kind_name((ty, rank)))
        .replace('%', c_type(ty))
        .replace('$', &rank.to_string())
        .replace('~', &parameters)
        .replace('^', &extents.join(", "))
        .replace('&', &number.to_string())
        .replace('@', library)
}

fn kind_name((ty, rank): ArrayKind) -> String {
    format!("{}_{rank}d", ty.name())
}

fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool => "bool",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::U32 => "uint32_t",
        ScalarType::U64 => "uint64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::U8 => "uint8_t",
        // C has no floats of 16 bits everywhere: these are their bits.
        ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => "uint16_t",
    }
}

/// Returns all kinds of arrays that functions take or give.
fn kinds(library: &Library<'_>) -> BTreeSet<ArrayKind> {
    let data = |export: &Export| {
        let parameters = export.parameters.iter().map(|(_, datum)| datum.leaves());
        parameters.chain([export.result.leaves()]).flatten().collect::<Vec<Leaf>>()
    };
    let leaves = library.exports.iter().flat_map(data);
    leaves.filter_map(|leaf| leaf.sizes.map(|sizes| (leaf.ty, sizes.len()))).collect()
}

/// A function as C has it: results come first, as pointers to where they go.
struct Function {
    name: String,
    results: Vec<(String, Leaf)>,
    parameters: Vec<(String, Leaf)>,
}

impl Function {
    fn of(library: &str, export: &Export) -> Function {
        let named = |first: &str, datum: &Datum| {
            let name = |leaf: &Leaf| {
                let parts: Vec<&str> =
                    [first].into_iter().chain(leaf.path.iter().map(String::as_str)).collect();
                identifier(&parts.join("_"), RESERVED)
            };
            datum.leaves().into_iter().map(|leaf| (name(&leaf), leaf)).collect::<Vec<_>>()
        };
        let results = named("out", &export.result);
        let parameters: Vec<_> =
            export.parameters.iter().flat_map(|(name, datum)| named(name, datum)).collect();
        let count = results.len();
        let (names, leaves): (Vec<String>, Vec<Leaf>) = results.into_iter().chain(parameters).unzip();
        let mut results: Vec<_> = distinct(names, RESERVED).into_iter().zip(leaves).collect();
        let parameters = results.split_off(count);
        Function { name: format!("{library}_{}", identifier(&export.name, "")), results, parameters }
    }

    fn prototype(&self, library: &str) -> String {
        let result = |(name, leaf): &(String, Leaf)| match &leaf.sizes {
            Some(sizes) => format!("struct {library}_{} **{name}", kind_name((leaf.ty, sizes.len()))),
            None => format!("{} *{name}", c_type(leaf.ty)),
        };
        let parameter = |(name, leaf): &(String, Leaf)| match &leaf.sizes {
            Some(sizes) => format!("const struct {library}_{} *{name}", kind_name((leaf.ty, sizes.len()))),
            None => format!("{} {name}", c_type(leaf.ty)),
        };
        let all: Vec<String> = [format!("struct {library}_context *context")]
            .into_iter()
            .chain(self.results.iter().map(result))
            .chain(self.parameters.iter().map(parameter))
            .collect();
        format!("int {}({})", self.name, all.join(", "))
    }

    fn definition(&self, library: &str, entry: &str) -> String {
        let pointer = |(name, leaf): &(String, Leaf)| match leaf.sizes {
            Some(_) => name.clone(),
            None => format!("&{name}"),
        };
        let arguments: Vec<String> = self.parameters.iter().map(pointer).collect();
        let results: Vec<&str> = self.results.iter().map(|(name, _)| name.as_str()).collect();
        let (taken, given) = (arguments.len(), results.len());
        // C has no empty arrays.
        let arguments = if arguments.is_empty() { "NULL".to_string() } else { arguments.join(", ") };
        format!(
            "{} {{\n    const void *const arguments[] = {{{arguments}}};\n    void *const results[] = {{{}}};\n    \
             return pumice_library_call(context, {}, arguments, {taken}, results, {given});\n}}\n\n",
            self.prototype(library),
            results.join(", "),
            literal(entry),
        )
    }

    fn documentation(&self, export: &Export) -> String {
        let mut text = doc_lines(export.docs.as_deref().unwrap_or_default()).join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "{} : {}", export.name, export.scheme);
        for (name, leaf) in self.results.iter().chain(&self.parameters) {
            let sizes = leaf.sizes.iter().flatten();
            let numbers: Vec<String> = sizes
                .map(|size| match size {
                    Size::Number(number) => number.to_string(),
                    _ => "_".to_string(),
                })
                .collect();
            if numbers.iter().any(|number| number != "_") {
                let _ = write!(text, "\n{name} has the extents {}.", numbers.join(", "));
            }
        }
        let mut sums = BTreeSet::new();
        export.parameters.iter().for_each(|(_, datum)| add_sums(datum, &mut sums));
        add_sums(&export.result, &mut sums);
        sums.iter().for_each(|sum| {
            let _ = write!(text, "\nTags: {sum}.");
        });
        text
    }
}

/// Records the tags of the constructors of each sum in a value.
fn add_sums(datum: &Datum, sums: &mut BTreeSet<String>) {
    match datum {
        Datum::Scalar(_) => {}
        Datum::Tuple(parts) => parts.iter().for_each(|part| add_sums(part, sums)),
        Datum::Record(fields) => fields.iter().for_each(|(_, field)| add_sums(field, sums)),
        Datum::Array { element, .. } => add_sums(element, sums),
        Datum::Sum(constructors) => {
            let tags = constructors.iter().enumerate().map(|(tag, (name, _))| format!("{tag} is {name}"));
            sums.insert(tags.collect::<Vec<_>>().join(", "));
            constructors.iter().flat_map(|(_, fields)| fields).for_each(|field| add_sums(field, sums));
        }
    }
}

fn introduction(library: &Library<'_>) -> String {
    let name = library.name;
    let mut text = doc_lines(library.docs.unwrap_or_default()).join("\n");
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    let _ = write!(
        text,
        "Made by `pumice build`. Link with -l{name}; nothing else is needed. Parts of tuples and records, and columns of arrays of them, are \
         parameters of their own. Results of functions come first; where one is an array, free it with {name}_free_…."
    );
    text
}

/// Adds a comment. Text of a file must not end it.
fn comment(text: &mut String, lines: &str) {
    let lines = lines.replace("*/", "* /").replace("??/", "?? /");
    let lines: Vec<&str> = lines.lines().map(|line| line.trim_end_matches('\\')).collect();
    let _ = writeln!(text, "/* {} */", lines.join("\n   ").replace("\n   \n", "\n\n"));
}

/// Writes a text as a string literal.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => literal.extend(['\\', char::from(byte)]),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => {
                let _ = write!(literal, "\\{byte:03o}");
            }
        }
    }
    literal.push('"');
    literal
}

/// Writes a text as string literals, one per line.
fn literals(text: &str) -> String {
    let lines: Vec<String> =
        text.split_inclusive('\n').map(|line| format!("    {}", literal(line))).collect();
    if lines.is_empty() { "    \"\"".to_string() } else { lines.join("\n") }
}

/// Writes an array with these bytes and a zero.
fn bytes(name: &str, bytes: &[u8]) -> String {
    let mut text = format!("static const unsigned char {name}[] = {{\n");
    for line in bytes.chunks(32) {
        let line: Vec<String> = line.iter().map(u8::to_string).collect();
        let _ = writeln!(text, "{},", line.join(","));
    }
    text.push_str("0};\n\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_file_ends_a_comment_or_a_literal() {
        let mut text = String::new();
        comment(&mut text, "a */ b\\\n??/ c");
        assert_eq!(text, "/* a * / b\n   ?? / c */\n");
        assert_eq!(literal("a\"b\\c??=\n\u{e9}"), r#""a\"b\\c\?\?=\012\303\251""#);
        assert_eq!(literals(""), "    \"\"");
    }
}
