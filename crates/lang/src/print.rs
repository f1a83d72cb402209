//! The syntax tree as S-expressions, without places and numbers: two texts that print alike are the same program. Used by tests and
//! by the formatter's checks.

use crate::ast::*;
use std::fmt::Write;

/// Prints a module, one item per line.
///
/// ```
/// use pumice_lang::{print, source::FileId, syntax};
///
/// let parsed = syntax::parse(FileId(0), "fun f x = x + 2 * g x", &mut 0);
/// assert_eq!(print::module(&parsed.module), "(fun f x (+ x (* 2 (g x))))\n");
/// ```
pub fn module(module: &Module) -> String {
    let mut text = String::new();
    if let Some(docs) = &module.docs {
        let _ = writeln!(text, "(docs {docs:?})");
    }
    for import in &module.imports {
        let names: Vec<&str> = import.names.iter().map(|name| &*name.name).collect();
        let _ = writeln!(text, "{}", list("import", [import.module.name.to_string(), names.join(" ")]));
    }
    for declaration in &module.types {
        let mut head = vec![declaration.name.name.to_string()];
        head.extend(declaration.parameters.iter().map(|name| name.name.to_string()));
        match &declaration.kind {
            TypeDeclarationKind::Alias(alias) => head.extend(["=".to_string(), ty(alias)]),
            TypeDeclarationKind::Sum(constructors) => head.extend(
                constructors
                    .iter()
                    .map(|(name, fields)| list(&format!("| {}", name.name), fields.iter().map(ty))),
            ),
        }
        let _ = writeln!(text, "{}{}", docs(&declaration.docs), list("type", head));
    }
    for signature in &module.signatures {
        let mut parts = vec![signature.name.name.to_string()];
        parts.extend(
            signature.constraints.iter().map(|(class, name)| format!("{{{} {}}}", class.name, name.name)),
        );
        parts.push(ty(&signature.ty));
        let _ = writeln!(text, "{}{}", docs(&signature.docs), list("sig", parts));
    }
    for item in &module.functions {
        let _ = writeln!(text, "{}{}", docs(&item.docs), function("fun", item));
    }
    text
}

fn docs(docs: &Option<String>) -> String {
    docs.as_ref().map_or(String::new(), |docs| format!("(docs {docs:?}) "))
}

fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("({head}");
    for part in parts {
        if !part.is_empty() {
            text.push(' ');
            text.push_str(&part);
        }
    }
    text.push(')');
    text
}

fn path(path: &Path) -> String {
    match &path.module {
        Some(module) => format!("{}::{}", module.name, path.name.name),
        None => path.name.name.to_string(),
    }
}

fn function(head: &str, function: &Function) -> String {
    let mut parts = vec![function.name.name.to_string()];
    parts.extend(function.parameters.iter().map(parameter));
    parts.push(expression(&function.body));
    list(head, parts)
}

fn parameter(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Value(value) => pattern(value),
        Parameter::Level(level) => format!("<{}>", level.name),
    }
}

/// Prints an expression.
pub fn expression(expr: &Expr) -> String {
    let e = expression;
    match &expr.kind {
        ExprKind::Error => "ERROR".to_string(),
        ExprKind::Integer(value, suffix) => format!("{value}{}", suffix.map_or("", |ty| ty.name())),
        ExprKind::Float(value, suffix) => format!("{value:?}{}", suffix.map_or("", |ty| ty.name())),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => path(name),
        ExprKind::BlockSize => "#BlockSize".to_string(),
        ExprKind::Tuple(parts) => list("tuple", parts.iter().map(e)),
        ExprKind::List(parts) => list("list", parts.iter().map(e)),
        ExprKind::Record(values) => list("record", fields(values)),
        ExprKind::Update(record, values) => list("with", std::iter::once(e(record)).chain(fields(values))),
        ExprKind::Field(record, name) => format!("{}.{}", e(record), name.name),
        ExprKind::Fn(parameters, body) => {
            list("fn", parameters.iter().map(parameter).chain(std::iter::once(e(body))))
        }
        ExprKind::Apply(..) | ExprKind::ApplyLevel(..) => application(expr),
        ExprKind::Let(bindings, body) => {
            list("let", bindings.iter().map(binding).chain(std::iter::once(e(body))))
        }
        ExprKind::If(condition, yes, no) => list("if", [e(condition), e(yes), e(no)]),
        ExprKind::Case(value, arms) => {
            let arms = arms.iter().map(|(arm, body)| format!("({} => {})", pattern(arm), e(body)));
            list("case", std::iter::once(e(value)).chain(arms))
        }
        ExprKind::Binary(operator, _, left, right) => list(operator.sign(), [e(left), e(right)]),
        ExprKind::Negate(value) => list("neg", [e(value)]),
        ExprKind::Section(operator) => list("section", [operator.sign().to_string()]),
        ExprKind::Typed(value, of) => list("typed", [e(value), ty(of)]),
        ExprKind::Comprehension(element, qualifiers) => {
            list("for", std::iter::once(e(element)).chain(qualifiers.iter().map(qualifier)))
        }
    }
}

/// Prints an application with all of its arguments behind the function.
fn application(expr: &Expr) -> String {
    let mut arguments = Vec::new();
    let mut function = expr;
    loop {
        match &function.kind {
            ExprKind::Apply(inner, argument) => {
                arguments.push(expression(argument));
                function = inner;
            }
            ExprKind::ApplyLevel(inner, argument) => {
                arguments.push(format!("<{}>", level(argument)));
                function = inner;
            }
            _ => break,
        }
    }
    arguments.reverse();
    list(&expression(function), arguments)
}

fn fields(values: &[(Ident, Expr)]) -> impl Iterator<Item = String> {
    values.iter().map(|(name, value)| format!("({} = {})", name.name, expression(value)))
}

fn binding(binding: &Binding) -> String {
    match binding {
        Binding::Value(name, value) => format!("({} = {})", pattern(name), expression(value)),
        Binding::Function(item) => function("fun", item),
    }
}

fn qualifier(qualifier: &Qualifier) -> String {
    match qualifier {
        Qualifier::Draw(sources) => list(
            "draw",
            sources.iter().map(|(name, drawn)| match drawn {
                Drawn::Array(array) => format!("({} {})", pattern(name), expression(array)),
                Drawn::Range(from, to) => {
                    format!("({} {}..{})", pattern(name), expression(from), expression(to))
                }
            }),
        ),
        Qualifier::Guard(condition) => list("guard", [expression(condition)]),
        Qualifier::Let(name, value) => list("let", [pattern(name), expression(value)]),
        Qualifier::OrderBy(keys) => list(
            "order",
            keys.iter().map(|(key, descending)| {
                format!("{}{}", expression(key), if *descending { " descending" } else { "" })
            }),
        ),
        Qualifier::GroupBy(key) => list("group", [expression(key)]),
        Qualifier::Take(count) => list("take", [expression(count)]),
        Qualifier::Distinct(_) => "(distinct)".to_string(),
    }
}

fn pattern(shown: &Pattern) -> String {
    match &shown.kind {
        PatternKind::Error => "ERROR".to_string(),
        PatternKind::Any => "_".to_string(),
        PatternKind::Name(name) => name.to_string(),
        PatternKind::Tuple(parts) => list("tuple", parts.iter().map(pattern)),
        PatternKind::Record(fields) => {
            list("record", fields.iter().map(|(name, field)| format!("({} = {})", name.name, pattern(field))))
        }
        PatternKind::Constructor(name, fields) => list(&path(name), fields.iter().map(pattern)),
        PatternKind::Integer(value) => value.to_string(),
        PatternKind::Bool(value) => value.to_string(),
    }
}

/// Prints a type.
fn ty(shown: &TypeExpr) -> String {
    match &shown.kind {
        TypeExprKind::Error => "ERROR".to_string(),
        TypeExprKind::Name(name, arguments) if arguments.is_empty() => path(name),
        TypeExprKind::Name(name, arguments) => list(&path(name), arguments.iter().map(ty)),
        TypeExprKind::Tuple(parts) => list("tuple", parts.iter().map(ty)),
        TypeExprKind::Record(fields) => {
            list("record", fields.iter().map(|(name, field)| format!("({} : {})", name.name, ty(field))))
        }
        TypeExprKind::Function(from, to) => list("->", [ty(from), ty(to)]),
        TypeExprKind::LevelFunction(name, to) => list("->", [format!("<{}>", name.name), ty(to)]),
        TypeExprKind::Array(element, sizes, at) => {
            let sizes: Vec<String> = sizes.iter().map(size).collect();
            let sizes = if sizes.is_empty() { String::new() } else { format!("; {}", sizes.join(", ")) };
            let at = at.as_ref().map_or(String::new(), |at| format!("<{}>", level(at)));
            format!("[{}{sizes}]{at}", ty(element))
        }
    }
}

fn size(size: &SizeExpr) -> String {
    match size {
        SizeExpr::Any(_) => "_".to_string(),
        SizeExpr::Number(number, _) => number.to_string(),
        SizeExpr::Name(name) => name.name.to_string(),
    }
}

fn level(shown: &LevelExpr) -> String {
    match shown {
        LevelExpr::Name(name) => name.name.to_string(),
        LevelExpr::Above(number, below, _) => format!("{number}+{}", level(below)),
    }
}
