//! A kernel's text in a normal form: without names, the places where values are computed, and the way in which sums are composed. It keeps
//! loads, stores, updates and barriers, in order, with their values.

use std::collections::{BTreeMap, HashMap};

/// A sum of values, by how often each is in it; the number itself is that of no value.
type Sum = BTreeMap<String, i128>;

#[derive(Default)]
struct Normal {
    values: HashMap<String, Sum>,
    names: usize,
    /// Number of writes to each memory.
    writes: HashMap<String, usize>,
    lines: Vec<String>,
    open: Vec<Open>,
}

/// A statement whose lists are open.
struct Open {
    /// The condition and the results of an `if`.
    choice: Option<(String, Vec<String>)>,
    start: usize,
    sides: Vec<Vec<String>>,
}

/// Returns the normal form of a kernel's text.
pub fn normal(text: &str) -> String {
    let mut normal = Normal::default();
    text.lines().map(str::trim).filter(|line| !line.starts_with("//")).for_each(|line| normal.line(line));
    normal.lines.join("\n")
}

fn value(term: impl Into<String>) -> Sum {
    Sum::from([(term.into(), 1)])
}

fn show(sum: &Sum) -> String {
    let parts = sum.iter().map(|(term, times)| match (&**term, times) {
        ("", number) => number.to_string(),
        (term, 1) => term.to_string(),
        (term, times) => format!("{times}*{term}"),
    });
    let parts: Vec<String> = parts.collect();
    match &parts[..] {
        [] => "0".to_string(),
        [one] => one.clone(),
        _ => format!("({})", parts.join(" + ")),
    }
}

fn plus(mut a: Sum, b: &Sum, times: i128) -> Sum {
    for (term, count) in b {
        *a.entry(term.clone()).or_default() += count * times;
    }
    a.retain(|_, count| *count != 0);
    a
}

impl Normal {
    fn operand(&self, text: &str) -> Sum {
        let text = text.trim();
        if let Some(sum) = self.values.get(text) {
            return sum.clone();
        }
        match text.split_once(':').and_then(|(number, _)| number.parse::<i128>().ok()) {
            Some(number) => plus(Sum::new(), &Sum::from([(String::new(), number)]), 1),
            None => value(text),
        }
    }

    fn shown(&self, text: &str) -> String {
        show(&self.operand(text))
    }

    fn all_shown(&self, text: &str) -> String {
        text.split(", ").map(|operand| self.shown(operand)).collect::<Vec<_>>().join(", ")
    }

    /// A name that is new, for what is defined as `%name: type`.
    fn define(&mut self, definition: &str) -> String {
        self.names += 1;
        let name = format!("v{}", self.names);
        self.values.insert(variable(definition), value(name.clone()));
        name
    }

    fn line(&mut self, line: &str) {
        let (defined, rest) = match line.split_once(" = ") {
            Some((defined, rest)) if line.starts_with('%') => (defined, rest),
            _ => return self.statement(line),
        };
        let (word, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let defined: Vec<&str> = defined.split(", ").collect();
        match word {
            "load" => {
                let (memory, index) = place(operands);
                let writes = self.writes.get(memory).copied().unwrap_or(0);
                for (number, definition) in defined.iter().enumerate() {
                    let here = plus(self.operand(index), &Sum::from([(String::new(), number as i128)]), 1);
                    let loaded = value(format!("{memory}[{}]#{writes}", show(&here)));
                    self.values.insert(variable(definition), loaded);
                }
            }
            "atomic" => {
                self.statement(rest);
                self.define(defined[0]);
            }
            "if" => {
                let condition = self.shown(operands.trim_end_matches(" {"));
                let results = defined.iter().map(|definition| variable(definition)).collect();
                self.lines.push(format!("if {condition} {{"));
                let start = self.lines.len() - 1;
                self.open.push(Open { choice: Some((condition, results)), start, sides: Vec::new() });
            }
            _ => {
                let result =
                    self.computed(word, operands, defined[0].ends_with("32") || defined[0].ends_with("64"));
                self.values.insert(variable(defined[0]), result);
            }
        }
    }

    fn computed(&self, operation: &str, operands: &str, is_number: bool) -> Sum {
        let operands: Vec<Sum> = operands.split(", ").map(|operand| self.operand(operand)).collect();
        let number = |sum: &Sum| match sum.len() {
            0 => Some(0),
            1 => sum.get("").copied(),
            _ => None,
        };
        match (operation.trim_end_matches('!'), &operands[..]) {
            ("add", [a, b]) if is_number => plus(a.clone(), b, 1),
            ("sub", [a, b]) if is_number => plus(a.clone(), b, -1),
            ("mul", [a, b]) if is_number && number(b).is_some() => {
                plus(Sum::new(), a, number(b).unwrap_or(0))
            }
            ("mul", [a, b]) if is_number && number(a).is_some() => {
                plus(Sum::new(), b, number(a).unwrap_or(0))
            }
            ("not", [a]) if show(a).starts_with("eq(") => value(show(a).replacen("eq(", "ne(", 1)),
            (operation, _) => {
                let mut shown: Vec<String> = operands.iter().map(show).collect();
                if ["mul", "eq", "ne", "and", "or", "xor", "min", "max"].contains(&operation) {
                    shown.sort();
                }
                value(format!("{operation}({})", shown.join(", ")))
            }
        }
    }

    fn statement(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let opens = line.ends_with('{');
        let text = match word {
            "store" => {
                let (target, values) = rest.split_once(" = ").unwrap_or((rest, ""));
                let (memory, index) = place(target);
                for (number, stored) in values.split(", ").enumerate() {
                    let here = plus(self.operand(index), &Sum::from([(String::new(), number as i128)]), 1);
                    let line = format!("store {memory}[{}] = {}", show(&here), self.shown(stored));
                    self.lines.push(line);
                }
                *self.writes.entry(memory.to_string()).or_default() += 1;
                return;
            }
            "atomic" => {
                let (operation, target) = rest.split_once(' ').unwrap_or((rest, ""));
                let (memory, index) = place(target);
                let operands = target.split_once("], ").map_or("", |(_, operands)| operands);
                *self.writes.entry(memory.to_string()).or_default() += 1;
                let operands = if operands.is_empty() { String::new() } else { self.all_shown(operands) };
                format!("atomic {operation} {memory}[{}], {operands}", self.shown(index))
            }
            "if" => format!("if {} {{", self.shown(rest.trim_end_matches(" {"))),
            "parallel" | "warps" | "lanes" | "blocks" => {
                let (definition, extent) =
                    rest.trim_end_matches(" {").split_once(" < ").unwrap_or((rest, ""));
                let extent = self.shown(extent);
                format!("{word} {} < {extent}", self.define(definition))
            }
            "failure" => rest.split(" + ").next().unwrap_or(rest).to_string(),
            "params" => {
                for definition in rest.split(", ").filter(|definition| definition.starts_with('%')) {
                    self.define(definition);
                }
                return;
            }
            "yield" => {
                let side = rest.split(", ").map(|operand| self.shown(operand)).collect();
                if let Some(open) = self.open.last_mut() {
                    open.sides.push(side);
                }
                return;
            }
            "next" => format!("next {}", self.all_shown(rest)),
            "}" => return self.closed(line, rest),
            "for" | "while" => {
                let (head, carried) = line.trim_end_matches(" {").split_once(" carry ").unwrap_or((line, ""));
                let range = head.strip_prefix("for ").and_then(|head| head.split_once(" in "));
                let range = range.map(|(index, range)| {
                    let range = range.replace("..", ", ").replace(" step ", ", ");
                    (index.to_string(), self.all_shown(range.trim_end_matches(" {")))
                });
                let carried = carried.split(", ").filter_map(|carried| carried.split_once(" = "));
                let carried: Vec<String> = carried
                    .map(|(carried, initial)| {
                        let initial = self.shown(initial);
                        format!("{} = {initial}", self.define(carried))
                    })
                    .collect();
                let range = range.map(|(index, range)| format!("{} in {range}", self.define(&index)));
                format!("{word} {} carry {} {{", range.unwrap_or_default(), carried.join(", "))
            }
            "fail" => {
                let condition = rest.split_once("unless ").map_or(rest, |(_, rest)| rest);
                format!("fail unless {}", self.shown(condition.split(',').next().unwrap_or(condition)))
            }
            _ => line.to_string(),
        };
        self.lines.push(text);
        if opens {
            let start = self.lines.len() - 1;
            self.open.push(Open { choice: None, start, sides: Vec::new() });
        }
    }

    fn closed(&mut self, line: &str, rest: &str) {
        if rest.starts_with("else") {
            return self.lines.push(line.to_string());
        }
        if let Some(condition) = rest.strip_prefix("test ") {
            let line = format!("}} test {} {{", self.shown(condition.trim_end_matches(" {")));
            return self.lines.push(line);
        }
        let Some(open) = self.open.pop() else { return };
        self.lines.push(line.to_string());
        let Some((condition, results)) = open.choice else { return };
        for (number, result) in results.into_iter().enumerate() {
            let side = |side: usize| open.sides.get(side).and_then(|side| side.get(number)).cloned();
            let (yes, no) = (side(0).unwrap_or_default(), side(1).unwrap_or_default());
            self.values.insert(result, value(format!("if({condition}, {yes}, {no})")));
        }
        // Sides that only compute are part of the value.
        if self.lines.len() == open.start + 3 {
            self.lines.truncate(open.start);
        }
    }
}

/// `%name` of `%name: type`.
fn variable(definition: &str) -> String {
    definition.split(':').next().unwrap_or(definition).trim().to_string()
}

/// A memory and an index of `@memory[index]`.
fn place(text: &str) -> (&str, &str) {
    let (memory, rest) = text.split_once('[').unwrap_or((text, ""));
    (memory, rest.split(']').next().unwrap_or(rest))
}
