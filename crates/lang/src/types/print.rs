//! Types as they are written in a `sig`. Variables without a name of their own are called a, b, …; levels l, l1, …; sizes n, n1, ….

use super::ty::{Kind, Level, Scheme, Size, Type, Variable};
use pumice_scalar::ScalarType;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter, Write};

/// The names of variables in one text, so that several types in it call the same variable the same.
#[derive(Default)]
pub struct Namer {
    names: HashMap<Variable, String>,
    taken: HashSet<String>,
}

impl Namer {
    /// Gives a variable the name that it has in the source, if that is free.
    pub fn suggest(&mut self, variable: Variable, name: &str) {
        if !self.names.contains_key(&variable) && self.taken.insert(name.to_string()) {
            self.names.insert(variable, name.to_string());
        }
    }

    fn name(&mut self, variable: Variable, kind: Kind) -> String {
        if let Some(name) = self.names.get(&variable) {
            return name.clone();
        }
        let candidate = |number: usize| match kind {
            Kind::Level | Kind::Size => {
                let letter = if kind == Kind::Level { "l" } else { "n" };
                if number == 0 { letter.to_string() } else { format!("{letter}{number}") }
            }
            _ => {
                let letter = char::from(b'a' + (number % 26) as u8);
                if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
            }
        };
        let name = (0..).map(candidate).find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.suggest(variable, &name);
        name
    }

    /// Writes a type.
    pub fn show(&mut self, ty: &Type) -> String {
        let mut text = String::new();
        self.write(ty, Position::Anywhere, &mut text);
        text
    }

    /// Writes a level.
    pub fn level(&mut self, level: Level) -> String {
        match level.variable {
            None => match level.above {
                0 => "thread".to_string(),
                1 => "warp".to_string(),
                2 => "block".to_string(),
                3 => "grid".to_string(),
                more => format!("{}+grid", more - 3),
            },
            Some(variable) => {
                let name = self.name(variable, Kind::Level);
                if level.above == 0 { name } else { format!("{}+{name}", level.above) }
            }
        }
    }

    fn size(&mut self, size: Size) -> String {
        match size {
            Size::Any => "_".to_string(),
            Size::Number(number) => number.to_string(),
            Size::Variable(variable) => self.name(variable, Kind::Size),
        }
    }

    fn write(&mut self, ty: &Type, position: Position, out: &mut String) {
        match ty {
            Type::Scalar(scalar) => out.push_str(scalar_name(*scalar)),
            Type::Variable(variable) => out.push_str(&self.name(*variable, Kind::Type)),
            Type::Tuple(parts) => self.list(parts, out),
            Type::Record(fields) => {
                out.push_str("{ ");
                for (number, (name, ty)) in fields.iter().enumerate() {
                    let _ = write!(out, "{}{name} : ", if number == 0 { "" } else { ", " });
                    self.write(ty, Position::Anywhere, out);
                }
                out.push_str(" }");
            }
            Type::Sum(sum, arguments) if arguments.is_empty() => out.push_str(&sum.name),
            Type::Sum(..) | Type::Memory(_) if position == Position::Atom => self.parenthesised(ty, out),
            Type::Sum(sum, arguments) => {
                out.push_str(&sum.name);
                for argument in arguments {
                    out.push(' ');
                    self.write(argument, Position::Atom, out);
                }
            }
            Type::Memory(element) => {
                out.push_str("mem ");
                self.write(element, Position::Atom, out);
            }
            Type::Function(..) | Type::LevelFunction(..) if position != Position::Anywhere => {
                self.parenthesised(ty, out)
            }
            Type::Function(parameter, result) => {
                self.write(parameter, Position::Parameter, out);
                out.push_str(" -> ");
                self.write(result, Position::Anywhere, out);
            }
            Type::LevelFunction(variable, result) => {
                let _ = write!(out, "<{}> -> ", self.name(*variable, Kind::Level));
                self.write(result, Position::Anywhere, out);
            }
            Type::Array { element, sizes, level } => {
                out.push('[');
                self.write(element, Position::Anywhere, out);
                if sizes[..] != [Size::Any] {
                    let sizes: Vec<String> = sizes.iter().map(|size| self.size(*size)).collect();
                    let _ = write!(out, "; {}", sizes.join(", "));
                }
                out.push(']');
                if let Some(level) = level {
                    let _ = write!(out, "<{}>", self.level(*level));
                }
            }
        }
    }

    fn parenthesised(&mut self, ty: &Type, out: &mut String) {
        out.push('(');
        self.write(ty, Position::Anywhere, out);
        out.push(')');
    }

    fn list(&mut self, types: &[Type], out: &mut String) {
        out.push('(');
        for (number, ty) in types.iter().enumerate() {
            if number > 0 {
                out.push_str(", ");
            }
            self.write(ty, Position::Anywhere, out);
        }
        out.push(')');
    }
}

/// The position of a type, which decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Anywhere,
    /// Before an arrow.
    Parameter,
    /// An argument of a declared type.
    Atom,
}

fn scalar_name(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::I64 => "int",
        ScalarType::F64 => "double",
        other => other.name(),
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&Namer::default().show(self))
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&Namer::default().level(*self))
    }
}

impl Display for Scheme {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut namer = Namer::default();
        for (variable, _, name) in &self.variables {
            if let Some(name) = name {
                namer.suggest(*variable, name);
            }
        }
        let text = namer.show(&self.ty);
        let mut implied = HashMap::new();
        implied_kinds(&self.ty, &mut implied);
        let mut constraints = Vec::new();
        for (variable, kind, _) in &self.variables {
            let known = implied.get(variable).copied().unwrap_or(Kind::Type);
            if let Some(class) = kind.class().filter(|_| !known.implies(*kind)) {
                constraints.push(format!("{class} {}", namer.name(*variable, *kind)));
            }
        }
        if !constraints.is_empty() {
            write!(f, "{} => ", constraints.join(", "))?;
        }
        f.write_str(&text)
    }
}

/// Collects the kinds that variables have because of their position, which need no constraint: elements of pull arrays are ground
/// types, elements of push arrays base types.
fn implied_kinds(ty: &Type, kinds: &mut HashMap<Variable, Kind>) {
    fn demand(ty: &Type, kind: Kind, kinds: &mut HashMap<Variable, Kind>) {
        match ty {
            Type::Variable(variable) => {
                let known = kinds.entry(*variable).or_insert(Kind::Type);
                *known = known.meet(kind).unwrap_or(*known);
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| demand(part, kind, kinds)),
            Type::Record(fields) => fields.iter().for_each(|(_, field)| demand(field, kind, kinds)),
            _ => {}
        }
    }
    match ty {
        Type::Scalar(_) | Type::Variable(_) => {}
        Type::Tuple(parts) | Type::Sum(_, parts) => parts.iter().for_each(|part| implied_kinds(part, kinds)),
        Type::Record(fields) => fields.iter().for_each(|(_, field)| implied_kinds(field, kinds)),
        Type::Function(parameter, result) => {
            implied_kinds(parameter, kinds);
            implied_kinds(result, kinds);
        }
        Type::LevelFunction(_, result) => implied_kinds(result, kinds),
        Type::Memory(element) => {
            demand(element, Kind::Base, kinds);
            implied_kinds(element, kinds);
        }
        Type::Array { element, level, .. } => {
            demand(element, if level.is_some() { Kind::Base } else { Kind::Ground }, kinds);
            implied_kinds(element, kinds);
        }
    }
}
