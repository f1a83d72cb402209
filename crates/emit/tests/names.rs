//! Names that mean something to a dialect.

mod common;

use common::{Folder, c_flags, compile_text, compiler, read};
use proptest::prelude::*;
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_program::{Program, Stmt, verify};

/// Words that are taken in one dialect or another, or would be if the emitter did not avoid them.
const WORDS: &str = "
    kernel global local constant private half float4 uint2 threadIdx blockIdx gridDim get_global_id barrier
    int double float long short signed unsigned bool true false class new delete template this operator namespace
    restrict inline static extern typedef struct union enum switch case default goto return void volatile
    i32 i64 u32 u64 args first_block last_block lane LANES min max exp expf log sin fma min_f32 div_i64 bits_f32_i32
    linux unix NULL INFINITY M_PI asm typeof and or not xor main select dot shared live going sizeof if for while
    make_float4 convert_int as_float vload4 atomicAdd printf __shared__ __x _Bool x__y t t_0 failed
";

fn program() -> Program {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = String::from(
        "kernel words memory @xs: global read f32 memory @out: global write f32 memory @s: shared f32[64]
         params @xs, @out, %n: i64 threads 64 blocks %block: i64 < %n
         body { parallel %t: i64 < 64:i64 { %v0: f32 = load @xs[%t]\n",
    );
    for k in 0..words.len() {
        text += &format!("%v{}: f32 = add %v{k}, 1.0:f32\n", k + 1);
        // Used twice, so that it keeps its name.
        text += &format!("%u{k}: f32 = exp %v{}\n store @s[%t] = %u{k}\n", k + 1);
    }
    text += &format!(
        "for %k: i64 in 0:i64..%n step 1:i64 carry %c: f32 = %v{} {{ %d: f32 = max %c, 2.0:f32 next %d }}
         store @out[%t] = %c }} }}",
        words.len()
    );
    let mut program = read(&text).into_program();
    for info in &mut program.vars {
        let word = info.name.strip_prefix('v').and_then(|number| words.get(number.parse::<usize>().ok()?));
        if let Some(word) = word {
            info.name = (*word).to_owned();
        }
    }
    for (memory, name) in program.memories.iter_mut().zip(["float4", "kernel", "shared"]) {
        memory.name = name.to_owned();
    }
    program.name = "double".to_owned();
    program
}

/// The identifiers that a text declares: what stands between a type and an `=`.
fn declared(text: &str) -> Vec<&str> {
    let types = ["int", "i32", "i64", "u32", "u64", "float", "double", "bool"];
    text.lines()
        .filter_map(|line| {
            let (left, _) = line.trim().split_once(" = ")?;
            let (ty, name) = left.split_once(' ')?;
            types.contains(&ty).then_some(name)
        })
        .collect()
}

#[test]
fn reserved_words_are_escaped() {
    let program = verify(program()).unwrap();
    for dialect in Dialect::ALL {
        let source = emit(&program, dialect, &EmitOptions::default()).unwrap();
        assert_ne!(source.entry, "double");
        let body = source.text.split_once(&format!("{}(", source.entry)).unwrap().1;
        let declared = declared(body);
        assert!(declared.len() > 100);
        for word in WORDS.split_whitespace() {
            // These are names that only this writer uses, and it counts them.
            if ["t", "t_0", "lane", "live", "going", "failed", "shared"].contains(&word) {
                continue;
            }
            assert!(!declared.contains(&word), "{word} in {dialect}\n{}", source.text);
        }
        for (k, name) in declared.iter().enumerate() {
            // Lanes of two strips have the same names, each in a scope of its own.
            assert!(
                dialect == Dialect::C || !declared[..k].contains(name),
                "{name} is declared twice in {dialect}"
            );
        }
    }
    if compiler().is_some() {
        let options = EmitOptions::default();
        let source = emit(&program, Dialect::C, &options).unwrap();
        compile_text(&source.text, &Folder::new(), &c_flags(&options));
    }
}

/// A loop, a branch, shared memory and a barrier, with a comment in each.
fn commented(comment: &str) -> Program {
    let text = "kernel k memory @xs: global read i64 memory @out: global write i64 memory @s: shared i64[64]
        params @xs, @out, %n: i64 threads 64
        prologue { // here\n %m: i64 = add %n, 1:i64 } blocks %b: i64 < 1:i64
        body { // here\n parallel %t: i64 < 64:i64 { // here\n
            for %k: i64 in 0:i64..%m step 1:i64 carry %c: i64 = 0:i64 {
                // here\n %x: i64 = load @xs[%k] // here\n %d: i64 = add %c, %x next %d }
            store @s[%t] = %c // here\n }
          sync // here\n
          parallel %u: i64 < 64:i64 { %v: i64 = load @s[%u] %z: bool = lt 0:i64, %v
            if %z { // here\n store @out[%u] = %v // here\n } else { store @out[%u] = 7:i64 } } }";
    let mut program = read(text).into_program();
    fn replace(statements: &mut [Stmt], comment: &str) {
        for stmt in statements.iter_mut() {
            if let Stmt::Comment(text) = stmt {
                *text = comment.to_owned();
            }
            stmt.children_mut().into_iter().for_each(|child| replace(child, comment));
        }
    }
    replace(&mut program.prologue, comment);
    replace(&mut program.body, comment);
    program
}

/// The lines of code in a text, as phases 1 to 3 of translation leave them: trigraphs are replaced, lines that end in a
/// backslash are joined with the next, and comments are gone.
fn code_lines(text: &str) -> Vec<String> {
    let trigraphs = [
        ("??=", "#"),
        ("??/", "\\"),
        ("??'", "^"),
        ("??(", "["),
        ("??)", "]"),
        ("??!", "|"),
        ("??<", "{"),
        ("??>", "}"),
        ("??-", "~"),
    ];
    let mut text = text.to_owned();
    for (trigraph, character) in trigraphs {
        text = text.replace(trigraph, character);
    }
    let mut joined = String::new();
    // Some compilers end a line at more characters than at a newline, and join it in spite of spaces after the backslash.
    for line in text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
        match line.trim_end().strip_suffix('\\') {
            Some(start) => joined += start,
            None => {
                joined += line;
                joined.push('\n');
            }
        }
    }
    let code = joined.lines().map(|line| line.split("//").next().unwrap_or_default().trim().to_owned());
    code.filter(|line| !line.is_empty()).collect()
}

fn assert_plain(text: &str) {
    let plain = text.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic());
    assert!(plain && !text.contains(['\\']) && !text.contains("??"), "{text}");
}

/// Strings that are likely to mean something, among others.
fn strings() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "??/",
        "??",
        "?",
        "/",
        "\\",
        " ",
        "\t",
        "\n",
        "\r",
        "*/",
        "/*",
        "//",
        "\"",
        "'",
        "#define out 1",
        "\0",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{202e}",
        "\u{2066}",
        "%:",
        "<:",
        "\\u000a",
        "}",
        ";",
        "_Pragma(\"x\")",
    ];
    let piece = prop_oneof![
        proptest::sample::select(PIECES).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_comment_changes_comments_only(comment in strings()) {
        let options = EmitOptions::default();
        let bare = verify(commented("")).unwrap();
        let program = verify(commented(&comment)).unwrap();
        for dialect in Dialect::ALL {
            let (bare, source) = (emit(&bare, dialect, &options).unwrap(), emit(&program, dialect, &options).unwrap());
            assert_plain(&source.text);
            prop_assert_eq!(code_lines(&bare.text), code_lines(&source.text));
            let code = |text: &str| -> Vec<String> {
                text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
            };
            prop_assert_eq!(code(&bare.text), code(&source.text));
        }
    }
}

#[test]
fn comments_stay_comments() {
    let text = "kernel k memory @out: global write i64 params @out threads 1 blocks %b: i64 < 1:i64
        body { parallel %t: i64 < 1:i64 { store @out[%t] = 7:i64 } }";
    let mut program = read(text).into_program();
    program.body.insert(0, Stmt::Comment("ends in \\\nsecond line \\ \\".to_owned()));
    program.body.insert(0, Stmt::Comment("*/ #define out nothing\r#define x".to_owned()));
    let program = verify(program).unwrap();
    common::check(&program, &[common::i64s([0])], &[]);
}
