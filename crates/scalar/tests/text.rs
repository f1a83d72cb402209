//! Functions print and read back as the very same; other texts are refused with a place, and never with a panic.

use proptest::prelude::*;
use pumice_scalar::{
    Constant, FailureKind, Function, Op, Place, ScalarType, Site, Term, Variable, branch, function, repeat,
    scope,
};
use trees::{PARAMETERS, tree};

mod trees;

const I64: ScalarType = ScalarType::I64;

fn i64(value: i64) -> Term {
    Constant::from(value).into()
}

#[track_caller]
fn check_round_trip(function: &Function) -> String {
    let text = function.to_string();
    match text.parse::<Function>() {
        Ok(again) => assert_eq!(again, *function, "{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
    text
}

/// A function with a check, a branch, a loop, and values from outside.
fn everything() -> Function {
    function(&[ScalarType::F32, I64], |p| {
        let site =
            Site { place: Place::new("gather", "src/\"main\".rs", 14, 9), kind: FailureKind::OutOfBounds };
        let extent = Term::variable(Variable::Extent { array: 3, dimension: 1 }, I64);
        let checked = p[1].compare(Op::Lt, extent).check(site, p[1], extent);
        let scale = Term::variable(Variable::Argument(2), ScalarType::F32);
        let zero = Term::from(Constant::from(-0.0f32));
        let side = branch(checked, &[p[0].binary(Op::Mul, scale), p[0]], &[zero, zero]);
        let values = repeat(
            &[side[0], p[1]],
            |now| i64(0).compare(Op::Lt, now[1]),
            |now| vec![now[0].binary(Op::Add, side[1]), now[1].binary(Op::Sub, i64(1))],
        );
        vec![values[0], side[1]]
    })
}

#[test]
fn every_kind_of_value_prints_and_reads_back() {
    let text = check_round_trip(&everything());
    let expected = r#"|p0: f32, p1: i64| {
  %0: bool = lt p1, extent(a3, 1)
  %1: bool = check %0, out_of_bounds, index p1, bound extent(a3, 1) at "gather" "src/\"main\".rs" 14:9
  %3: f32, %4: f32 = if %1 {
    %2: f32 = mul p0, argument2:f32
    yield %2, p0
  } else {
    yield -0.0:f32, -0.0:f32
  }
  %10: f32, _: i64 = while carry %5: f32 = %3, %6: i64 = p1 {
    %7: bool = lt 0:i64, %6
  } test %7 {
    %8: f32 = add %4, %5
    %9: i64 = add %6, -1:i64
    next %8, %9
  }
  return %10, %4
}"#;
    assert_eq!(text, expected);
}

#[test]
fn constants_keep_every_bit() {
    let bits = [0u64, 1 << 31, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffff_ffff, 0x7f7f_ffff];
    let floats = bits.iter().map(|bits| Constant::from_bits(ScalarType::F32, *bits));
    let doubles = [u64::MAX, i64::MIN as u64, 1, f64::INFINITY.to_bits(), f64::MAX.to_bits()];
    let doubles = doubles.iter().map(|bits| Constant::from_bits(ScalarType::F64, *bits));
    let whole =
        [i64::MIN.into(), u64::MAX.into(), i32::MIN.into(), u32::MAX.into(), true.into(), false.into()];
    let all: Vec<Constant> = floats.chain(doubles).chain(whole).collect();
    let function = function(&[], |_| all.iter().map(|constant| Term::from(*constant)).collect());
    check_round_trip(&function);
    assert_eq!(function.constants(), Some(all));
}

#[test]
fn functions_without_results_and_without_parameters_read_back() {
    assert_eq!(check_round_trip(&function(&[], |_| vec![])), "|| {\n  return\n}");
    check_round_trip(&function(&[I64, ScalarType::Bool], |_| vec![]));
    check_round_trip(&function(&[I64, ScalarType::Bool], |p| vec![p[1], p[1], p[0]]));
}

#[test]
fn a_check_that_two_branches_demand_is_printed_in_both() {
    let site = Site { place: Place::new("div", "x.rs", 1, 1), kind: FailureKind::DivisionByZero };
    let function = function(&[I64, ScalarType::Bool, ScalarType::Bool], |p| {
        let valid = p[0].compare(Op::Ne, i64(0)).check(site, i64(0), i64(0));
        // The loop too is only where it is demanded, and must stay one loop.
        let looped =
            repeat(&[p[0]], |now| now[0].compare(Op::Lt, i64(9)), |now| vec![now[0].binary(Op::Add, i64(1))]);
        let one = Term::apply(Op::Select, I64, &[valid, looped[0], i64(7)]);
        let a = branch(p[1], &[one], &[i64(1)]);
        let b = branch(p[2], &[one.binary(Op::Mul, i64(2))], &[i64(2)]);
        vec![a[0], b[0]]
    });
    let text = check_round_trip(&function);
    assert_eq!(text.matches("check ").count(), 2, "{text}");
    assert_eq!(text.matches("while ").count(), 2, "{text}");
}

#[test]
fn what_a_loop_and_another_one_in_a_branch_ask_of_a_third_is_computed_once() {
    let to = |most: Term| {
        let values =
            repeat(&[i64(0)], |now| now[0].compare(Op::Lt, most), |now| vec![now[0].binary(Op::Add, i64(1))]);
        values[0]
    };
    let function = function(&[I64], |p| {
        let most = to(p[0]).binary(Op::And, i64(7));
        let first = to(most);
        let second =
            repeat(&[first], |now| now[0].compare(Op::Lt, most), |now| vec![now[0].binary(Op::Add, i64(3))]);
        vec![branch(first.compare(Op::Ne, i64(0)), &[second[0]], &[p[0]])[0]]
    });
    let text = check_round_trip(&function);
    assert_eq!(text.matches("and").count(), 1, "{text}");
}

#[test]
fn nested_loops_and_long_chains_of_branches_read_back() {
    let nested = function(&[I64], |p| {
        repeat(
            &[p[0], i64(0)],
            |outer| outer[0].compare(Op::Lt, i64(100)),
            |outer| {
                let inner = repeat(
                    &[outer[0]],
                    |now| now[0].compare(Op::Lt, outer[1]),
                    |now| vec![now[0].binary(Op::Add, outer[1])],
                );
                vec![inner[0].binary(Op::Add, i64(1)), outer[1].binary(Op::Add, p[0])]
            },
        )
    });
    check_round_trip(&nested);
    // Longer than branches may be nested: from some depth on, both sides are computed.
    let chain = function(&[I64], |p| {
        let link = |below: Term, k: i64| {
            branch(p[0].compare(Op::Lt, i64(k)), &[i64(k).binary(Op::Mul, p[0])], &[below])[0]
        };
        vec![(0..400).fold(p[0], link)]
    });
    check_round_trip(&chain);
}

#[test]
fn equal_functions_are_equal_wherever_they_were_built() {
    let build = || {
        function(&[I64], |p| {
            vec![p[0].binary(Op::Mul, i64(5)).binary(Op::Sub, i64(3)).binary(Op::Max, i64(-3))]
        })
    };
    let alone = build();
    let inside = scope(|| {
        // These constants are in the graph before the function's parameter.
        let _ = Term::variable(Variable::Argument(0), I64).binary(Op::Add, i64(-3)).binary(Op::Mul, i64(5));
        build()
    });
    assert_eq!(alone, inside);
    assert_eq!(alone.to_string(), inside.to_string());
}

#[test]
fn values_may_have_names() {
    let text = "|p0: i64| { // the sum of the numbers below p0
        %sum: i64, _: i64 = while carry %s: i64 = 0:i64, %i: i64 = 0:i64 {
            %more: bool = lt %i, p0
        } test %more {
            %next: i64 = add %s, %i
            %up: i64 = add %i, 1:i64
            next %next, %up
        }
        return %sum
    }";
    let function: Function = text.parse().unwrap();
    let printed = check_round_trip(&function);
    assert!(
        printed.contains("%5: i64, _: i64 = while carry %0: i64 = 0:i64, %1: i64 = 0:i64 {"),
        "{printed}"
    );
}

#[track_caller]
fn error(text: &str) -> String {
    match text.parse::<Function>() {
        Ok(function) => panic!("this was taken: {function}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_say_where_and_what() {
    let body = |text: &str| error(&format!("|p0: f32, p1: i64| {{\n  {text}\n}}"));
    assert_eq!(error(""), "line 1, column 1: expected `|`, found the end of the text");
    assert_eq!(error("|p1: f32|"), "line 1, column 2: expected `p0`, found `p1`");
    assert_eq!(error("|p0: f33|"), "line 1, column 6: expected a type, found `f33`");
    assert_eq!(error("|| { return } x"), "line 1, column 15: expected the end of the text, found `x`");
    assert_eq!(
        error("|| { return"),
        "line 1, column 12: expected a value, a constant, a parameter, `argument0:type` or `extent(a0, 0)`, found the end of the text"
    );
    assert_eq!(
        body("%0: f32 = ad p0, p0"),
        "line 2, column 13: expected an operation, `check`, `element`, `if` or `while`, found `ad`"
    );
    assert_eq!(body("%0: f32 = add p0, p1"), "line 2, column 13: `add` does not make f32 from (f32, i64)");
    assert_eq!(body("%0: f32 = add p0"), "line 2, column 13: `add` does not make f32 from (f32)");
    assert_eq!(
        body("%0: f32 = mul_add p0, p0, p0, p0"),
        "line 2, column 13: `mul_add` does not make f32 from (f32, f32, f32, f32)"
    );
    assert_eq!(body("%0: i64 = lt p0, p0"), "line 2, column 13: `lt` does not make i64 from (f32, f32)");
    assert_eq!(body("%0: f32 = add p0, p2"), "line 2, column 21: there is no parameter `p2`");
    assert_eq!(body("%0: f32 = add p0, %1"), "line 2, column 21: `%1` is not defined before");
    assert_eq!(
        body("%0: f32 = add p0, 1:i32:"),
        "line 2, column 13: `add` does not make f32 from (f32, i32)"
    );
    assert_eq!(
        body("%0: i32 = neg 3000000000:i32"),
        "line 2, column 17: `3000000000` is not a value of type i32"
    );
    assert_eq!(body("%0, %1: f32 = neg p0"), "line 2, column 5: expected `:`, found `,`");
    assert_eq!(
        body("%0: f32, %1: f32 = neg p0"),
        "line 2, column 22: this defines one value; `if` and `while` may define several"
    );
    assert_eq!(
        body("_: f32 = neg p0\n return"),
        "line 2, column 3: only a value of `if` or `while` can be left out"
    );
    assert_eq!(body("%0: f32 = neg p0\n return p0"), "line 2, column 3: `%0` is never used");
    assert_eq!(
        body("%0: f32 = neg p0\n  %0: f32 = neg p0\n return %0"),
        "line 3, column 3: `%0` is defined already"
    );
    assert_eq!(body("%1: f32 = neg p0\n return %1"), "line 2, column 3: there is `%1`, and no `%0`");
    assert_eq!(
        body("%1: f32 = neg p0\n  %0: f32 = neg %1\n return %0"),
        "line 3, column 3: `%0` is made of `%1`, which has a larger number"
    );
    assert_eq!(
        body("%a: f32 = neg p0\n  %0: f32 = neg %a\n return %0"),
        "line 3, column 3: either all values have numbers or all have names"
    );
    assert_eq!(body("% : f32 = neg p0"), "line 2, column 3: `%` is not a name");
    assert_eq!(
        body("%a.1: f32 = neg p0"),
        "line 2, column 3: expected a value (`%name` or `%number`), found `%a.1`"
    );
    assert_eq!(body("%99999999999: f32 = neg p0"), "line 2, column 3: `%99999999999` is not a number");
    assert_eq!(
        body("%0: f32 = load a0[p1]"),
        "line 2, column 13: a load cannot be read from text, because nothing would check that its index is in bounds"
    );
    assert_eq!(
        body("%0: f32 = invalid \"no\""),
        "line 2, column 13: expected an operation, `check`, `element`, `if` or `while`, found `invalid`"
    );
    assert_eq!(body("return extent(3, 0)"), "line 2, column 17: expected an array (`a0`), found `3`");
    assert_eq!(body("return argument0"), "line 3, column 1: expected `:`, found `}`");
}

#[test]
fn errors_of_checks_branches_and_loops_say_where_and_what() {
    let body = |text: &str| error(&format!("|p0: f32, p1: i64, p2: bool| {{\n  {text}\n}}"));
    assert_eq!(
        body("%0: f32 = if p1 { }"),
        "line 2, column 16: expected a value of type bool, found one of type i64"
    );
    assert_eq!(body("%0: f32 = if p2 { yield p1 }"), "line 2, column 27: expected values of types (f32)");
    assert_eq!(body("%0: f32 = if p2 { yield p0 }"), "line 3, column 1: expected `else`, found `}`");
    assert_eq!(body("_: f32 = if p2 { yield p0 } else { yield p0 }"), "line 2, column 3: nothing uses this");
    assert_eq!(
        body("%a: f32 = if p2 { %b: f32 = neg p0 yield %b } else { yield %b } return %a"),
        "line 2, column 62: `%b` is defined in another block"
    );
    assert_eq!(
        body("%a: f32 = if p2 { %b: f32 = neg p0 yield %b } else { %b: f32 = abs p0 yield %b } return %a"),
        "line 2, column 56: `%b` is something else here than in line 2"
    );
    assert_eq!(body("%a: f32 = while { } test p2 { }"), "line 2, column 19: expected `carry`, found `{`");
    assert_eq!(
        body("%a: f32 = while carry %x: i64 = p1 { } test p2 { next p1 }"),
        "line 2, column 19: a loop defines one value for each that it carries, of the same type"
    );
    assert_eq!(
        body("%a: i64 = while carry %x: i64 = %x { } test p2 { next p1 }"),
        "line 2, column 35: `%x` is not defined before"
    );
    assert_eq!(
        body("%a: i64 = while carry %x: i64 = p1 { } test p2 { next %x } return %x, %a"),
        "line 2, column 69: `%x` is defined in another block"
    );
    let check = |text: &str| body(&format!("%a: bool = check {text} return %a"));
    assert_eq!(check("p1, "), "line 2, column 20: expected a value of type bool, found one of type i64");
    assert_eq!(check("p2, oops"), "line 2, column 24: expected a kind of failure, found `oops`");
    assert_eq!(
        check("p2, too_long, index p0"),
        "line 2, column 40: expected a value of type i64, found one of type f32"
    );
    assert_eq!(
        check("p2, too_long, index p1, bound p1 at map"),
        "line 2, column 56: expected an operation between quotation marks, found `map`"
    );
    assert_eq!(
        check("p2, too_long, index p1, bound p1 at \"map\" \"file\" 3"),
        "line 2, column 71: expected `:`, found `return`"
    );
}

#[test]
fn what_is_nested_too_deeply_is_refused_without_recursion() {
    for levels in [201usize, 100_000] {
        let open = "%a: i64 = if p1 { ".repeat(levels);
        let message = error(&format!("|p0: i64, p1: bool| {{ {open}"));
        assert!(message.contains("nested more than 200 deep"), "{message}");
    }
    // Each is written at the outermost level, and would be computed inside the next.
    let mut text = "|p0: i64, p1: bool| {\n".to_owned();
    let mut last = "p0".to_owned();
    for k in 0..300 {
        text += &format!("%l{k}: i64 = while carry %v{k}: i64 = {last} {{ }} test p1 {{ next %v{k} }}\n");
        text += &format!("%b{k}: i64 = if p1 {{ yield %l{k} }} else {{ yield {k}:i64 }}\n");
        last = format!("%b{k}");
    }
    let message = error(&format!("{text} return {last} }}"));
    assert!(message.starts_with("line 1, column 1: conditions and loops are nested"), "{message}");
}

/// Words and signs of the language, and some that are none.
const WORDS: &[&str] = &[
    "p0",
    "p1",
    "p9",
    "%0",
    "%1",
    "%2",
    "%x",
    "%",
    "_",
    "argument0:i64",
    "local1:f32",
    "extent(a0, 1)",
    "a0",
    "add",
    "lt",
    "select",
    "cast",
    "check",
    "if",
    "else",
    "yield",
    "while",
    "carry",
    "test",
    "next",
    "return",
    "out_of_bounds",
    "index",
    "bound",
    "at",
    "\"map\"",
    "\"",
    "1:2",
    "load",
    "invalid",
    "{",
    "}",
    "(",
    ")",
    "|",
    ":",
    ",",
    "=",
    "i64",
    "f32",
    "bool",
    "true",
    "0:i64",
    "1.5:f32",
    "nan:7fc00000:f32",
    "inf",
    "-",
    "99999999999999999999",
    "//",
    "\n",
    "\\",
    "é",
    "\0",
];

/// Splits a text at the borders of words; together, the tokens are the text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        let kind = (c.is_alphanumeric() || c == '_', c == ' ');
        match tokens.last_mut() {
            Some(token) if last == Some(kind) && (kind.0 || kind.1) => token.push(c),
            _ => tokens.push(c.into()),
        }
        last = Some(kind);
    }
    tokens
}

/// Returns whether a text is accepted. Checks that an accepted function has no mistake, and prints and reads back as the same.
fn try_text(text: &str) -> bool {
    let Ok(function) = text.parse::<Function>() else { return false };
    assert_eq!(function.mistake(), None, "{text}");
    check_round_trip(&function);
    true
}

/// Removes, doubles, replaces or inserts tokens.
fn mutate(text: &str, changes: &[(usize, usize, usize)]) -> String {
    let mut tokens = tokens(text);
    for &(place, kind, with) in changes {
        let at = place % tokens.len().max(1);
        let word = || WORDS[with % WORDS.len()].to_owned();
        match kind {
            0 if !tokens.is_empty() => drop(tokens.remove(at)),
            1 if !tokens.is_empty() => {
                let copy = tokens[at..tokens.len().min(at + with % 12)].to_vec();
                let to = with % tokens.len();
                tokens.splice(to..to, copy);
            }
            2 if !tokens.is_empty() => {
                let to = with % tokens.len();
                tokens.swap(at, to);
            }
            3 if !tokens.is_empty() => tokens[at] = word(),
            4 => tokens.insert(at, word()),
            _ => tokens.truncate(at + 1),
        }
    }
    tokens.concat()
}

fn cases(number: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: number, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn random_functions_read_back(
        trees in prop::collection::vec(proptest::sample::select(PARAMETERS.to_vec()).prop_flat_map(|ty| tree(ty, 4)), 0..3),
    ) {
        let built = function(&PARAMETERS, |terms| trees.iter().map(|tree| tree.term(terms)).collect());
        check_round_trip(&built);
    }

    #[test]
    fn any_words_are_refused_or_right(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        try_text(&words.join(" "));
        try_text(&format!("|p0: i64, p1: f32| {{ {} }}", words.join(" ")));
    }

    #[test]
    fn changed_functions_are_refused_or_right(
        tree in proptest::sample::select(PARAMETERS.to_vec()).prop_flat_map(|ty| tree(ty, 3)),
        changes in prop::collection::vec((any::<usize>(), 0usize..6, any::<usize>()), 1..4),
    ) {
        let built = function(&PARAMETERS, |terms| vec![tree.term(terms)]);
        try_text(&mutate(&built.to_string(), &changes));
        try_text(&mutate(&everything().to_string(), &changes));
    }
}

#[test]
fn some_changed_functions_are_functions() {
    let text = everything().to_string();
    let taken = (0..400usize)
        .filter(|seed| {
            try_text(&mutate(
                &text,
                &[(seed.wrapping_mul(0x9e37_79b9), 2 + seed % 2, seed.wrapping_mul(7919))],
            ))
        })
        .count();
    assert!(taken > 3, "{taken} of 400");
}
