//! Whether patterns match all values, and each of them one that those before do not. The patterns alone tell: a constructor names its sum, and a sum its constructors.

use super::infer::Checker;
use crate::ast::{Expr, ExprKind, Name, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;

/// Maximum number of rows of patterns that are visited; the search can take exponential time.
const MAX_STEPS: usize = 20_000;
/// Maximum number of patterns that a message names.
const MAX_NAMED: usize = 4;

/// A pattern, reduced to what matters for matching.
#[derive(Clone)]
enum Shape {
    Any,
    Of(Head, Vec<Shape>),
}

/// The outermost constructor of a value or pattern.
#[derive(Clone, Debug, PartialEq)]
enum Head {
    Tuple(usize),
    /// The fields that patterns mention.
    Record(Vec<Name>),
    Bool(bool),
    Integer(i128),
    Constructor(u32, u32),
}

impl Checker<'_> {
    /// Reports values for which a `case` has no arm.
    pub fn check_exhaustive(&mut self, case: &Expr) {
        let ExprKind::Case(_, arms) = &case.kind else { return };
        let rows: Vec<Vec<Shape>> = arms.iter().map(|(pattern, _)| vec![self.shape(pattern)]).collect();
        // It is unknown what an unknown constructor matches, and that error has been reported.
        if arms.iter().all(|(pattern, _)| self.is_known(pattern)) {
            self.check_reachable(arms, &rows);
        }
        match self.missing(rows) {
            Some(missing) if missing.is_empty() => {}
            Some(missing) => {
                let error =
                    Diagnostic::new(case.span, format!("this `case` has no arm for {}", enumerate(&missing)));
                self.errors.push(error.help("add the arms, or one for all others: `| _ => …`"));
            }
            None => {
                let error = Diagnostic::new(
                    case.span,
                    "it would take too long to see whether this `case` has an arm for every value",
                );
                self.errors.push(error.help("add an arm for all others: `| _ => …`"));
            }
        }
    }

    /// Reports the first arm that is never chosen, because those before it match all its values.
    fn check_reachable(&mut self, arms: &[(Pattern, Expr)], rows: &[Vec<Shape>]) {
        let mut steps = 0;
        for (number, (pattern, _)) in arms.iter().enumerate().skip(1) {
            match self.is_useful(&rows[..number], &rows[number], &mut steps) {
                Some(true) => {}
                Some(false) => {
                    let error = Diagnostic::new(pattern.span, "this arm of a `case` is never chosen")
                        .label("the arms before it match all that it does");
                    let help = "leave it out, or put it before those that match more";
                    return self.errors.push(error.help(help));
                }
                None => return,
            }
        }
    }

    /// Whether a row matches values that no row before does; nothing if that takes too long to see.
    fn is_useful(&self, rows: &[Vec<Shape>], row: &[Shape], steps: &mut usize) -> Option<bool> {
        *steps += 1 + rows.len();
        if *steps > MAX_STEPS {
            return None;
        }
        let Some((first, rest)) = row.split_first() else { return Some(rows.is_empty()) };
        let heads = match first {
            Shape::Of(Head::Record(_), _) | Shape::Any => {
                self.heads(rows.iter().map(Vec::as_slice).chain([row]))
            }
            Shape::Of(head, _) => vec![head.clone()],
        };
        if matches!(first, Shape::Any) && (heads.is_empty() || !self.absent(&heads).is_empty()) {
            return self.is_useful(&others(rows), rest, steps);
        }
        for head in &heads {
            let arity = self.arity(head);
            let specialised: Vec<Vec<Shape>> =
                rows.iter().filter_map(|row| specialise(row, head, arity)).collect();
            if let Some(row) = specialise(row, head, arity)
                && self.is_useful(&specialised, &row, steps)?
            {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns the outermost constructors of the first patterns of rows; of records, one with all fields that a pattern mentions.
    fn heads<'a>(&self, rows: impl Iterator<Item = &'a [Shape]>) -> Vec<Head> {
        let mut heads: Vec<Head> = Vec::new();
        let mut record: Option<Vec<Name>> = None;
        for row in rows {
            match row.first() {
                Some(Shape::Of(Head::Record(names), _)) => {
                    let all = record.get_or_insert_default();
                    for name in names {
                        if !all.contains(name) {
                            all.push(name.clone());
                        }
                    }
                }
                Some(Shape::Of(head, _)) if !heads.contains(head) => heads.push(head.clone()),
                _ => {}
            }
        }
        record.map_or(heads, |names| vec![Head::Record(names)])
    }

    /// Reports a pattern that does not match every value, where there is no other arm.
    pub fn check_irrefutable(&mut self, pattern: &Pattern) {
        if matches!(pattern.kind, PatternKind::Name(_) | PatternKind::Any) {
            return;
        }
        let missing = self.missing(vec![vec![self.shape(pattern)]]).unwrap_or_default();
        if !missing.is_empty() {
            let error =
                Diagnostic::new(pattern.span, format!("this pattern does not match {}", enumerate(&missing)));
            self.errors.push(error.help("a pattern here must match every value: use `case`"));
        }
    }

    fn shape(&self, pattern: &Pattern) -> Shape {
        let all = |parts: &[Pattern]| parts.iter().map(|part| self.shape(part)).collect();
        match &pattern.kind {
            PatternKind::Error | PatternKind::Any | PatternKind::Name(_) => Shape::Any,
            PatternKind::Tuple(parts) => Shape::Of(Head::Tuple(parts.len()), all(parts)),
            PatternKind::Record(fields) => {
                let names = fields.iter().map(|(name, _)| name.name.clone()).collect();
                Shape::Of(Head::Record(names), fields.iter().map(|(_, field)| self.shape(field)).collect())
            }
            PatternKind::Constructor(_, parts) => match self.meanings.patterns.get(&pattern.span) {
                Some((sum, number)) => Shape::Of(Head::Constructor(*sum, *number), all(parts)),
                None => Shape::Any,
            },
            PatternKind::Integer(value) => Shape::Of(Head::Integer(*value), Vec::new()),
            PatternKind::Bool(value) => Shape::Of(Head::Bool(*value), Vec::new()),
        }
    }

    fn is_known(&self, pattern: &Pattern) -> bool {
        match &pattern.kind {
            PatternKind::Error => false,
            PatternKind::Tuple(parts) => parts.iter().all(|part| self.is_known(part)),
            PatternKind::Record(fields) => fields.iter().all(|(_, field)| self.is_known(field)),
            PatternKind::Constructor(_, parts) => {
                self.meanings.patterns.contains_key(&pattern.span)
                    && parts.iter().all(|part| self.is_known(part))
            }
            PatternKind::Any | PatternKind::Name(_) | PatternKind::Integer(_) | PatternKind::Bool(_) => true,
        }
    }

    /// Returns some patterns that no row matches; `None` if the search takes too long.
    fn missing(&self, rows: Vec<Vec<Shape>>) -> Option<Vec<String>> {
        let mut steps = 0;
        let missing = self.search(rows, 1, &mut steps)?;
        Some(missing.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    /// Rows of patterns that no row matches, each of `width` patterns.
    fn search(&self, rows: Vec<Vec<Shape>>, width: usize, steps: &mut usize) -> Option<Vec<Vec<String>>> {
        *steps += 1 + rows.len();
        if *steps > MAX_STEPS {
            return None;
        }
        if width == 0 {
            return Some(if rows.is_empty() { vec![Vec::new()] } else { Vec::new() });
        }
        let heads = self.heads(rows.iter().map(Vec::as_slice));
        let absent = self.absent(&heads);
        let mut found = Vec::new();
        for head in &heads {
            let arity = self.arity(head);
            let specialised = rows.iter().filter_map(|row| specialise(row, head, arity)).collect();
            for row in self.search(specialised, arity + width - 1, steps)? {
                let (parts, rest) = row.split_at(arity);
                found.push(std::iter::once(self.write(head, parts)).chain(rest.iter().cloned()).collect());
            }
            if found.len() >= MAX_NAMED {
                return Some(found);
            }
        }
        if heads.is_empty() || !absent.is_empty() {
            for rest in self.search(others(&rows), width - 1, steps)? {
                let firsts = if heads.is_empty() { vec!["_".to_string()] } else { absent.clone() };
                found.extend(
                    firsts
                        .into_iter()
                        .map(|first| std::iter::once(first).chain(rest.iter().cloned()).collect()),
                );
            }
        }
        found.truncate(MAX_NAMED);
        Some(found)
    }

    /// Returns patterns for the values that none of these constructors matches.
    fn absent(&self, heads: &[Head]) -> Vec<String> {
        match heads.first() {
            None | Some(Head::Tuple(_) | Head::Record(_)) => Vec::new(),
            Some(Head::Integer(_)) => vec!["other integers".to_string()],
            Some(Head::Bool(_)) => {
                let absent = [true, false].into_iter().filter(|value| !heads.contains(&Head::Bool(*value)));
                absent.map(|value| value.to_string()).collect()
            }
            Some(Head::Constructor(sum, _)) => {
                let all = (0..self.constructors[*sum as usize].len() as u32)
                    .map(|number| Head::Constructor(*sum, number));
                let absent = all.filter(|head| !heads.contains(head));
                absent.map(|head| self.write(&head, &vec!["_".to_string(); self.arity(&head)])).collect()
            }
        }
    }

    fn arity(&self, head: &Head) -> usize {
        match head {
            Head::Tuple(parts) => *parts,
            Head::Record(names) => names.len(),
            Head::Bool(_) | Head::Integer(_) => 0,
            Head::Constructor(sum, number) => {
                self.fields[*sum as usize].get(*number as usize).map_or(0, |fields| fields.len())
            }
        }
    }

    fn write(&self, head: &Head, parts: &[String]) -> String {
        match head {
            Head::Tuple(_) => format!("({})", parts.join(", ")),
            Head::Record(names) => {
                let fields: Vec<String> =
                    names.iter().zip(parts).map(|(name, part)| format!("{name} = {part}")).collect();
                format!("{{ {} }}", fields.join(", "))
            }
            Head::Bool(value) => value.to_string(),
            Head::Integer(value) => value.to_string(),
            Head::Constructor(sum, number) => {
                let mut text = self.constructor_name(*sum, *number).to_string();
                for part in parts {
                    let needs_parentheses = part.contains(' ') && !part.starts_with(['(', '{']);
                    text.push_str(&if needs_parentheses { format!(" ({part})") } else { format!(" {part}") });
                }
                text
            }
        }
    }

    /// Returns the name of a constructor.
    pub fn constructor_name(&self, sum: u32, number: u32) -> Name {
        let declared = self.names.declared[self.names.sums[sum as usize] as usize];
        match &self.program.modules[declared.module].module.types[declared.index].kind {
            crate::ast::TypeDeclarationKind::Sum(constructors) => {
                constructors.get(number as usize).map_or_else(|| "".into(), |(name, _)| name.name.clone())
            }
            crate::ast::TypeDeclarationKind::Alias(_) => "".into(),
        }
    }
}

/// Specialises a row to values whose first part has this head: the head's parts replace it. `None` if the row does not match such values.
fn specialise(row: &[Shape], head: &Head, arity: usize) -> Option<Vec<Shape>> {
    let (first, rest) = row.split_first()?;
    let mut new = match (first, head) {
        (Shape::Any, _) => vec![Shape::Any; arity],
        (Shape::Of(Head::Record(names), parts), Head::Record(all)) => {
            let part = |name| {
                names
                    .iter()
                    .position(|known| known == name)
                    .map_or(Shape::Any, |number| parts[number].clone())
            };
            all.iter().map(part).collect()
        }
        (Shape::Of(own, parts), head) if own == head => {
            // A wrong number of parts has been reported already.
            let mut parts = parts.clone();
            parts.resize(arity, Shape::Any);
            parts
        }
        _ => return None,
    };
    new.extend_from_slice(rest);
    Some(new)
}

/// Returns the rows that match whatever the first value is, without their first pattern.
fn others(rows: &[Vec<Shape>]) -> Vec<Vec<Shape>> {
    let any = rows.iter().filter(|row| matches!(row.first(), Some(Shape::Any)));
    any.map(|row| row[1..].to_vec()).collect()
}

fn enumerate(patterns: &[String]) -> String {
    let quoted: Vec<String> = patterns
        .iter()
        .map(|pattern| if pattern == "other integers" { pattern.clone() } else { format!("`{pattern}`") })
        .collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
