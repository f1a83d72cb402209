//! The checker's answers for the evaluator, and that it has an answer for every text.

use proptest::prelude::*;
use pumice_lang::ast::{Binding, Expr, ExprId, ExprKind, Parameter, PatternKind};
use pumice_lang::program::Program;
use pumice_lang::source::Sources;
use pumice_lang::types::{self, Argument, Checked, Kind, Level, Resolved, Size, Type};
use pumice_scalar::ScalarType;
use std::path::Path;

fn alone(_: &str) -> Result<String, String> {
    Err("this program is alone".to_string())
}

fn check(text: &str) -> (Program, Checked) {
    let program = Program::load("test.pum", text, &alone).unwrap();
    let checked = types::check(&program)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(&program.sources, false)));
    (program, checked)
}

/// The body of a function.
fn body<'p>(program: &'p Program, name: &str) -> &'p Expr {
    let functions = &program.modules.last().unwrap().module.functions;
    &functions.iter().find(|function| &*function.name.name == name).unwrap().body
}

/// The function of an application.
fn head(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Apply(function, _) | ExprKind::ApplyLevel(function, _) => head(function),
        _ => expr,
    }
}

#[test]
fn uses_say_what_variables_stand_for() {
    let (program, checked) = check(
        "type Option a = None | Some a
fun pair x y = (x, y)
fun here z = pair z true
fun pushed xs = map (fn part => push <block> part) xs |> concat 4
fun some = Some 1i32
fun local x = let twice = fn y => (y, y) in twice x
fun matrix = matmul
sig sized : [f64; 3, 4] -> [f64; 4, 5] -> [f64; 3, 5]
fun sized a b = matmul a b",
    );
    let pair = checked.entry("pair").unwrap();
    let here = body(&program, "here");
    assert_eq!(checked.resolved(head(here).id), Some(Resolved::Function(pair)));
    // The variable of `here` is another one than those of `pair`.
    let z = checked.scheme(checked.entry("here").unwrap()).variables[0].0;
    let [x, y] = [0, 1].map(|number| checked.scheme(pair).variables[number].0);
    let bool = Type::Scalar(ScalarType::Bool);
    let expected = [(x, Argument::Type(Type::Variable(z))), (y, Argument::Type(bool.clone()))];
    assert_eq!(checked.instance(head(here).id), expected);
    assert_eq!(checked.type_of(here.id), Type::Tuple(vec![Type::Variable(z), bool]));
    assert!(z != x && z != y && x != y);

    let ExprKind::Binary(_, _, _, concat) = &body(&program, "pushed").kind else { panic!() };
    assert_eq!(checked.resolved(head(concat).id), Some(Resolved::Builtin("concat".into())));
    let instance = checked.instance(head(concat).id);
    assert!(
        instance.iter().any(|(_, argument)| *argument == Argument::Level(Level { variable: None, above: 2 })),
        "{instance:?}"
    );
    let scheme = checked.scheme_of_builtin("concat").unwrap();
    let variables: Vec<u32> = scheme.variables.iter().map(|variable| variable.0).collect();
    assert_eq!(instance.iter().map(|(variable, _)| *variable).collect::<Vec<_>>(), variables);

    let some = body(&program, "some");
    let Some(Resolved::Constructor(sum, 1)) = checked.resolved(head(some).id) else { panic!() };
    let declaration = checked.sum(&sum);
    assert_eq!(&*declaration.name, "Option");
    assert_eq!(declaration.constructors[1], ("Some".into(), vec![Type::Variable(declaration.parameters[0])]));
    let instance = checked.instance(head(some).id);
    assert_eq!(instance, [(declaration.parameters[0], Argument::Type(Type::Scalar(ScalarType::I32)))]);

    let ExprKind::Let(bindings, twice) = &body(&program, "local").kind else { panic!() };
    let Binding::Value(pattern, _) = &bindings[0] else { panic!() };
    assert!(matches!(pattern.kind, PatternKind::Name(_)));
    let scheme = checked.scheme_of_binding(pattern.span).unwrap();
    assert_eq!(scheme.to_string(), "a -> (a, a)");
    assert_eq!(checked.resolved(head(twice).id), Some(Resolved::Local));
    assert_eq!(checked.binding(head(twice).id), Some(pattern.span));
    let outer = checked.scheme(checked.entry("local").unwrap()).variables[0].0;
    let expected = [(scheme.variables[0].0, Argument::Type(Type::Variable(outer)))];
    assert_eq!(checked.instance(head(twice).id), expected);

    let sizes: Vec<Argument> =
        checked.instance(head(body(&program, "sized")).id).into_iter().map(|(_, size)| size).collect();
    let numbers = [3, 4, 5].map(|number| Argument::Size(Size::Number(number)));
    assert!(numbers.iter().all(|number| sizes.contains(number)), "{sizes:?}");
}

#[test]
fn a_function_that_uses_itself_has_the_variables_around_it() {
    let (program, checked) = check(
        "fun even f x n = if n == 0 then x else odd f (f x) (n - 1)
fun odd f x n = if n == 0 then x else even f (f x) (n - 1)",
    );
    let ExprKind::If(_, _, odd) = &body(&program, "even").kind else { panic!() };
    let instance = checked.instance(head(odd).id);
    assert_eq!(instance.len(), 2);
    for (variable, argument) in instance {
        assert_eq!(argument, Argument::variable(variable, Kind::Type));
        // Both functions have the same variables.
        for name in ["even", "odd"] {
            let scheme = checked.scheme(checked.entry(name).unwrap());
            assert!(scheme.variables.iter().any(|(own, _, _)| *own == variable));
        }
    }
}

#[test]
fn level_parameters_are_variables_of_the_types_around_them() {
    let (program, checked) = check(
        "sig signed : <lvl> -> [int] -> [int]<lvl>
fun signed <l> xs = push <l> xs
fun inferred <l> xs = push <l> xs",
    );
    for function in &program.modules.last().unwrap().module.functions {
        let Parameter::Level(name) = &function.parameters[0] else { panic!() };
        let variable = checked.level_parameter(name.span);
        let Type::Array { level: Some(level), .. } = checked.type_of(function.body.id) else { panic!() };
        assert_eq!(level, Level { variable, above: 0 });
        let Type::LevelFunction(bound, _) = checked.scheme(checked.entry(&function.name.name).unwrap()).ty
        else {
            panic!()
        };
        assert_eq!(Some(bound), variable);
    }
}

#[test]
fn what_nothing_decides_is_an_int_or_a_double() {
    let (program, checked) = check("fun f = length [1] + length [1.5] + length []");
    let mut found = Vec::new();
    for id in 0..program.expressions {
        if let Type::Array { element, .. } = checked.type_of(ExprId(id)) {
            found.push(*element);
        }
    }
    assert!(
        found.contains(&Type::Scalar(ScalarType::I64)) && found.contains(&Type::Scalar(ScalarType::F64)),
        "{found:?}"
    );
}

/// All programs of `tests/types` that must be accepted.
fn accepted() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types");
    let mut programs: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pum") {
            let text = std::fs::read_to_string(path).unwrap();
            let mut accept = false;
            for line in text.lines() {
                if line.starts_with("-- accept: ") || line.starts_with("-- refuse: ") {
                    accept = line.starts_with("-- accept: ");
                    programs.extend(accept.then(String::new));
                } else if let (true, Some(program)) = (accept, programs.last_mut()) {
                    *program += &format!("{line}\n");
                }
            }
        }
    }
    assert!(programs.len() > 50);
    programs
}

#[test]
fn schemes_print_as_signatures_that_are_the_same() {
    for text in accepted() {
        let (program, checked) = check(&text);
        let signed: Vec<String> = program
            .modules
            .last()
            .unwrap()
            .module
            .signatures
            .iter()
            .map(|sig| sig.name.name.to_string())
            .collect();
        let mut with_signatures = text.clone();
        let mut expected = Vec::new();
        for id in checked.own_functions() {
            let name = checked.function(id).0.name.name.to_string();
            let scheme = checked.scheme(id).to_string();
            if !signed.contains(&name) {
                with_signatures += &format!("\nsig {name} : {scheme}");
            }
            expected.push((name, scheme));
        }
        let program =
            Program::load("test.pum", &with_signatures, &alone).unwrap_or_else(|(sources, errors)| {
                panic!("{}\n{with_signatures}", errors[0].render(&sources, false))
            });
        let checked = types::check(&program).unwrap_or_else(|errors| {
            panic!("{}\n{with_signatures}", errors[0].render(&program.sources, false))
        });
        for (name, scheme) in expected {
            assert_eq!(
                checked.scheme(checked.entry(&name).unwrap()).to_string(),
                scheme,
                "{with_signatures}"
            );
        }
    }
}

#[test]
fn imports_are_read_once_and_in_order() {
    let files = |name: &str| {
        match name {
        "shapes" => Ok("import base (Point)\ntype Shape = Circle Point | Dot\nsig area : Shape -> f64\nfun area s = case s of | Circle p => base::norm p | Dot => 0.0".to_string()),
        "base" => Ok("type Point = { x : f64, y : f64 }\nfun norm p = p.x + p.y".to_string()),
        _ => Err("there is no such file".to_string()),
    }
    };
    let text = "import shapes (area, Shape)\nimport base\nfun f x = area (Circle { x = x, y = base::norm { x = 1.0, y = x } })\nfun g = shapes::area shapes::Dot";
    let program = Program::load("folder/main.pum", text, &files).unwrap();
    let users = program.modules.iter().filter(|loaded| !loaded.is_built_in());
    let names: Vec<&str> = users.map(|loaded| &*loaded.name).collect();
    assert_eq!(names, ["base", "shapes", "main"]);
    let checked = types::check(&program)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(&program.sources, false)));
    assert_eq!(checked.scheme(checked.entry("f").unwrap()).to_string(), "double -> double");
    assert!(checked.entry("norm").is_none());
}

/// The messages of a program of several files.
fn messages(main: &str, files: &[(&str, &str)]) -> String {
    let read = |name: &str| {
        let found = files.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| text.to_string()).ok_or_else(|| "there is no such file".to_string())
    };
    let show = |sources: &Sources, errors: &[pumice_lang::diagnostic::Diagnostic]| -> String {
        errors.iter().map(|error| error.render(sources, false)).collect::<Vec<_>>().join("\n\n")
    };
    match Program::load("main.pum", main, &read) {
        Err((sources, errors)) => show(&sources, &errors),
        Ok(program) => show(&program.sources, &types::check(&program).err().unwrap_or_default()),
    }
}

#[test]
fn wrong_imports_are_told_with_the_import() {
    let cycle = messages("import a", &[("a", "import b"), ("b", "import a")]);
    assert!(
        cycle.contains("files import each other") && cycle.contains("a.pum") && cycle.contains("b.pum"),
        "{cycle}"
    );
    let itself = messages("import main", &[]);
    assert!(itself.contains("a file imports itself"), "{itself}");
    let absent = messages("import shape", &[]);
    assert!(absent.contains("`shape` cannot be imported: there is no such file"), "{absent}");
    let unlisted = messages("import a (aera)", &[("a", "fun area x = x")]);
    assert!(
        unlisted.contains("`a` has nothing that is called `aera`")
            && unlisted.contains("did you mean `area`?"),
        "{unlisted}"
    );
    let hidden = messages("import a\nfun f = area 1", &[("a", "fun area x = x")]);
    assert!(hidden.contains("nothing is called `area` here"), "{hidden}");
    let unknown = messages("fun f = shapes::area 1", &[]);
    assert!(unknown.contains("no file is imported as `shapes`"), "{unknown}");
    let twice = messages("import a (f)\nfun f = 1", &[("a", "fun f = 2")]);
    assert!(twice.contains("`f` is defined twice"), "{twice}");
    let inside = messages("import a\nfun f = a::g", &[("a", "fun g = 1 + true")]);
    assert!(inside.contains("a.pum:1"), "{inside}");
    let many: Vec<(String, String)> =
        (0..2000).map(|number| (format!("m{number}"), format!("import m{}", number + 1))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (&**name, &**text)).collect();
    assert!(messages("import m0", &many).contains("more than 1000 files are imported"));
}

/// Asks for everything that there is to know.
fn look_at_all(program: &Program, checked: &Checked) {
    for id in 0..program.expressions {
        let _ = checked.type_of(ExprId(id)).to_string();
        let _ = (checked.instance(ExprId(id)), checked.resolved(ExprId(id)));
    }
    for id in checked.functions() {
        let _ = checked.scheme(id).to_string();
    }
}

/// Asks for what may be asked of a program that is wrong.
fn look_at_what_is_known(program: &Program, checked: &Checked) {
    for id in (0..program.expressions).map(ExprId) {
        let _ = checked.known_type_of(id).map(|ty| checked.show_in(checked.own_functions().next(), &ty));
        let _ =
            (checked.definition(id), checked.resolved(id).and_then(|meaning| checked.scheme_of(&meaning)));
    }
    for (file, _) in program.sources.iter() {
        for (_, meaning) in checked.values_in_scope(file) {
            assert!(checked.definition_of(&meaning).is_some(), "{meaning:?}");
        }
        let _ = (checked.types_in_scope(file), checked.values_of(file), checked.imports_of(file));
    }
}

#[test]
fn what_is_right_is_known_where_something_is_wrong() {
    let text = "fun wrong x = 1 + true
fun half x = x div 2i32
fun user y = (wrong y, half 4, unknown)
fun open = half (";
    let (program, unread) = Program::load_with_errors("test.pum", text, &alone);
    let (checked, errors) = types::check_with_errors(&program);
    assert_eq!((unread.len(), errors.len()), (1, 2), "{unread:?} {errors:?}");
    look_at_what_is_known(&program, &checked);
    let half = checked.entry("half").unwrap();
    assert_eq!(checked.scheme_of(&Resolved::Function(half)).unwrap().to_string(), "i32 -> i32");
    assert_eq!(checked.scheme_of(&Resolved::Function(checked.entry("wrong").unwrap())), None);
    let ExprKind::Tuple(parts) = &body(&program, "user").kind else { panic!("a tuple") };
    let known = |number: usize| checked.known_type_of(parts[number].id).map(|ty| ty.to_string());
    assert_eq!([known(0), known(1), known(2)], [None, Some("i32".to_string()), None]);
}

#[test]
fn types_that_are_too_large_are_not_written_out() {
    let doubled = (0..40)
        .fold(String::new(), |text, number| text + &format!("t{} = (t{number}, t{number}) ", number + 1));
    let bindings = doubled.replace(") t", ")\n      t");
    let text = format!("fun large t0 =\n  let {bindings}\n  in true + t40");
    let (program, unread) = Program::load_with_errors("test.pum", &text, &alone);
    let (checked, errors) = types::check_with_errors(&program);
    assert!(unread.is_empty() && !errors.is_empty(), "{unread:?}");
    look_at_what_is_known(&program, &checked);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Programs of words that are put together at random: most have no types, and none makes the checker panic.
    #[test]
    fn every_program_has_an_answer(words in proptest::collection::vec(0..WORDS.len(), 1..60), cuts in proptest::collection::vec((0..1000usize, 0..1000usize), 0..6)) {
        let all = accepted();
        let mut text = all[words[0] % all.len()].clone();
        // A program that is right, with parts of it replaced.
        for (at, (cut, length)) in cuts.iter().enumerate() {
            let tokens: Vec<&str> = text.split(' ').collect();
            let start = cut % tokens.len();
            let end = (start + length % 4).min(tokens.len());
            let word = WORDS[words[at % words.len()]];
            text = [&tokens[..start], &[word], &tokens[end..]].concat().join(" ");
        }
        text += "\nfun random x y = ";
        text += &words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        for text in [text.clone(), text.rsplit_once("\nfun random").unwrap().0.to_string()] {
            let (program, unread) = Program::load_with_errors("test.pum", &text, &alone);
            let (checked, errors) = types::check_with_errors(&program);
            look_at_what_is_known(&program, &checked);
            if unread.is_empty() && errors.is_empty() {
                look_at_all(&program, &checked);
            }
            unread.iter().chain(&errors).for_each(|error| { error.render(&program.sources, false); });
        }
    }
}

const WORDS: &[&str] = &[
    "x",
    "y",
    "f",
    "random",
    "(",
    ")",
    "[",
    "]",
    ",",
    "+",
    "*",
    "<",
    "==",
    "|>",
    ".",
    "1",
    "2.5",
    "true",
    "map",
    "push",
    "<block>",
    "<l>",
    "force",
    "concat",
    "fn x =>",
    "fn <l> =>",
    "let z =",
    "in",
    "if",
    "then",
    "else",
    "z",
    "x.a",
    "y.0",
    "{ a = x }",
    "case x of | _ =>",
    "index",
    "sum",
    "zipWith",
    "(+)",
    "[ x | x <- y ]",
    "(x : [a])",
    "length",
    "-",
    "(x, y)",
    "[x, y]",
    "() ",
    "generate 4",
];
