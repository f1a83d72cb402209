//! Array programs in text: one line an operation, then its functions.

use crate::program::{ArrayProgram, Node, NodeId};
use std::fmt;

impl fmt::Display for ArrayProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes().iter().try_for_each(|node| print_node(f, node))?;
        writeln!(f, "return {}", names(self.results()))
    }
}

impl fmt::Debug for ArrayProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn names(nodes: &[NodeId]) -> String {
    nodes.iter().map(|id| format!("a{}", id.0)).collect::<Vec<_>>().join(", ")
}

fn print_node(f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
    let types: Vec<&str> = node.types.iter().map(|ty| ty.name()).collect();
    let attributes = node.operation.attributes().into_iter().map(|number| format!(" {number}"));
    let (keyword, attributes) = (node.operation.keyword(), attributes.collect::<String>());
    let (number, rank, types, inputs) = (node.id.0, node.rank, types.join(", "), names(&node.inputs));
    writeln!(f, "a{number}: {rank}-d ({types}) = {keyword}{attributes}({inputs})  // {}", node.place)?;
    for function in node.operation.functions() {
        writeln!(f, "    {}", function.to_string().replace('\n', "\n    "))?;
    }
    Ok(())
}
