//! Prints array programs: any program, also one that the verifier would refuse, because messages show those too.

use super::data::print_data;
use crate::operation::Given;
use crate::program::{ArrayProgram, Node, NodeId};
use pumice_scalar::text::print_place;
use std::fmt::{self, Write};

/// Elements of an array that [`Display`](fmt::Display) prints; longer arrays are for [`ArrayProgram::full_text`].
const SHORT: usize = 64;

impl fmt::Display for ArrayProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(SHORT))
    }
}

impl fmt::Debug for ArrayProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ArrayProgram {
    /// The program as text with all elements of the arrays that it uses, however many they are.
    pub fn full_text(&self) -> String {
        self.text(usize::MAX)
    }

    fn text(&self, most: usize) -> String {
        let mut out = String::new();
        for node in self.nodes() {
            print_node(&mut out, node, most);
        }
        let _ = writeln!(out, "return {}", names(self.results()));
        out
    }
}

fn names(nodes: &[NodeId]) -> String {
    nodes.iter().map(|id| format!("a{}", id.0)).collect::<Vec<_>>().join(", ")
}

fn print_node(out: &mut String, node: &Node, most: usize) {
    let rank = vec!["_"; node.rank].join(", ");
    let types: Vec<&str> = node.types.iter().map(|ty| ty.name()).collect();
    let _ = write!(out, "a{}: [{rank}] ({}) = {}", node.id.0, types.join(", "), node.operation.keyword());
    for number in node.operation.attributes() {
        let _ = write!(out, " {number}");
    }
    if let Some(Given::Data(data)) = node.operation.given() {
        let _ = write!(out, " {}", print_data(&**data, most));
    }
    if !node.inputs.is_empty() {
        let _ = write!(out, " ({})", names(&node.inputs));
    }
    let _ = writeln!(out, " at {}", print_place(node.place));
    for function in node.operation.functions() {
        let _ = writeln!(out, "  {}", function.to_string().replace('\n', "\n  "));
    }
    for program in node.programs() {
        let text = program.text(most);
        let lines = text.lines().map(|line| format!("    {line}\n"));
        let _ = writeln!(out, "  {{\n{}  }}", lines.collect::<String>());
    }
}
