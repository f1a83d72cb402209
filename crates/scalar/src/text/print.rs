//! Prints scalar functions: any function, also one with mistakes, because messages show those too.

use std::collections::HashMap;
use std::fmt::{self, Write};

use super::lex::quote;
use crate::function::Function;
use crate::graph::{Id, Node, Variable};
use crate::place::Place;
use crate::schedule::{Item, Schedule};
use crate::types::{Constant, ScalarType};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Printer::new(self).function())
    }
}

/// A place as text: `"operation" "file" line:column`.
pub fn print_place(place: Place) -> String {
    format!("{} {} {}:{}", quote(place.operation()), quote(place.file()), place.line(), place.column())
}

/// A constant with its type, as all text forms have it.
pub fn print_constant(constant: Constant) -> String {
    match constant.ty() {
        ScalarType::Bool => constant.to_string(),
        ty => format!("{constant}:{ty}"),
    }
}

struct Printer<'a> {
    function: &'a Function,
    /// Name of each node where it is used.
    names: Vec<String>,
    /// The values of each branch or loop that are used, by its node and their position.
    values: HashMap<(Id, u32), Id>,
    /// The variables of each loop that are used, by its number and their position.
    variables: HashMap<(u32, u32), Id>,
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function) -> Printer<'a> {
        let mut printer =
            Printer { function, names: Vec::new(), values: HashMap::new(), variables: HashMap::new() };
        let mut count = 0;
        for (id, node) in (0..).map(Id).zip(function.nodes()) {
            match node {
                Node::Project { of, index, .. } => drop(printer.values.insert((*of, *index), id)),
                Node::LoopVariable { number, index, .. } => {
                    printer.variables.insert((*number, *index), id);
                }
                _ => {}
            }
            let name = match node {
                Node::Constant(constant) => print_constant(*constant),
                Node::Variable(Variable::Parameter(index), _) => format!("p{index}"),
                Node::Variable(Variable::Argument(index), ty) => format!("argument{index}:{ty}"),
                Node::Variable(Variable::Extent { array, dimension }, _) => {
                    format!("extent(a{array}, {dimension})")
                }
                Node::Variable(Variable::Local(index), ty) => format!("local{index}:{ty}"),
                // Named by its values.
                Node::Branch { .. } | Node::Loop { .. } => String::new(),
                _ => {
                    count += 1;
                    format!("%{}", count - 1)
                }
            };
            printer.names.push(name);
        }
        printer
    }

    fn function(&self) -> String {
        let parameters = self.function.parameters().iter().enumerate();
        let parameters: Vec<String> = parameters.map(|(index, ty)| format!("p{index}: {ty}")).collect();
        let mut out = format!("|{}| {{\n", parameters.join(", "));
        match self.function.schedule() {
            Ok(schedule) => self.block(&mut out, &schedule, 0, 1),
            Err(error) => {
                let _ = writeln!(out, "  // {error}");
            }
        }
        let results = self.names(self.function.results());
        let _ = match results.is_empty() {
            true => writeln!(out, "  return"),
            false => writeln!(out, "  return {results}"),
        };
        out.push('}');
        out
    }

    fn node(&self, id: Id) -> &'a Node {
        &self.function.nodes()[id.0 as usize]
    }

    fn name(&self, id: Id) -> &str {
        &self.names[id.0 as usize]
    }

    fn names(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn ty(&self, id: Id) -> ScalarType {
        self.node(id).ty().unwrap_or(ScalarType::Bool)
    }

    /// A value where it is defined; `_` if nothing uses it.
    fn definition(&self, id: Option<&Id>, ty: ScalarType) -> String {
        format!("{}: {ty}", id.map_or("_", |id| self.name(*id)))
    }

    fn block(&self, out: &mut String, schedule: &Schedule, block: usize, depth: usize) {
        let indent = "  ".repeat(depth);
        for item in &schedule.blocks[block] {
            match item {
                Item::Compute(id) => {
                    if let Some(line) = self.simple(*id) {
                        let _ = writeln!(out, "{indent}{line}");
                    }
                }
                Item::Branch { id, then, otherwise } => {
                    self.branch(out, schedule, *id, Some((*then, *otherwise)), depth);
                }
                // Both sides have nothing to compute any more.
                Item::Select(id) => self.branch(out, schedule, *id, None, depth),
                Item::Loop { id, header, body } => {
                    let Node::Loop { number, initial, condition, next } = self.node(*id) else { continue };
                    let carried = (0..).zip(initial).map(|(index, first)| {
                        let variable = self.variables.get(&(*number, index));
                        format!("{} = {}", self.definition(variable, self.ty(*first)), self.name(*first))
                    });
                    let carried = carried.collect::<Vec<_>>().join(", ");
                    let _ = writeln!(out, "{indent}{} = while carry {carried} {{", self.values(*id, initial));
                    self.block(out, schedule, *header, depth + 1);
                    let _ = writeln!(out, "{indent}}} test {} {{", self.name(*condition));
                    self.block(out, schedule, *body, depth + 1);
                    let _ = writeln!(out, "{indent}  next {}\n{indent}}}", self.names(next));
                }
            }
        }
    }

    fn branch(
        &self,
        out: &mut String,
        schedule: &Schedule,
        id: Id,
        blocks: Option<(usize, usize)>,
        depth: usize,
    ) {
        let Node::Branch { condition, then, otherwise } = self.node(id) else { return };
        let indent = "  ".repeat(depth);
        let _ = writeln!(out, "{indent}{} = if {} {{", self.values(id, then), self.name(*condition));
        if let Some((block, _)) = blocks {
            self.block(out, schedule, block, depth + 1);
        }
        let _ = writeln!(out, "{indent}  yield {}\n{indent}}} else {{", self.names(then));
        if let Some((_, block)) = blocks {
            self.block(out, schedule, block, depth + 1);
        }
        let _ = writeln!(out, "{indent}  yield {}\n{indent}}}", self.names(otherwise));
    }

    /// The definitions of the values of a branch or loop, which have the types of these.
    fn values(&self, of: Id, like: &[Id]) -> String {
        let one = |(index, like): (u32, &Id)| self.definition(self.values.get(&(of, index)), self.ty(*like));
        (0..).zip(like).map(one).collect::<Vec<_>>().join(", ")
    }

    /// The line for a node that has no blocks, unless it is written where it is used.
    fn simple(&self, id: Id) -> Option<String> {
        let what = match self.node(id) {
            Node::Apply { op, operands, .. } => format!("{} {}", op.name(), self.names(operands.as_slice())),
            Node::Load { array, index, guarded, .. } => {
                let guarded = if *guarded { "guarded " } else { "" };
                format!("{guarded}load a{array}[{}]", self.name(*index))
            }
            Node::Element { of, index } => {
                let otherwise = match of.site {
                    Some(site) => format!("at {}", print_place(site.place)),
                    None => "or zero".into(),
                };
                format!("element a{}, {}, [{}] {otherwise}", of.array, of.column, self.names(index))
            }
            Node::Check { condition, site, index, bound } => format!(
                "check {}, {}, index {}, bound {} at {}",
                self.name(*condition),
                site.kind.name(),
                self.name(*index),
                self.name(*bound),
                print_place(site.place)
            ),
            Node::Invalid { message, .. } => format!("invalid {}", quote(message)),
            _ => return None,
        };
        Some(format!("{} = {what}", self.definition(Some(&id), self.ty(id))))
    }
}
