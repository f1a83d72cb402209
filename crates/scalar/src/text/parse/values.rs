//! The values of a function that is being read: where they are visible, that each is one thing, and the order of their
//! numbers, in which they stand in the function.

use super::{Defined, Parser};
use crate::function::Function;
use crate::graph::{Id, Node};
use crate::text::cursor::Parsed;
use crate::text::lex::{Spanned, Token};
use crate::types::ScalarType;

/// A value that was defined.
pub(super) struct Value<'a> {
    pub(super) id: Id,
    name: &'a str,
    /// Token of its first definition.
    first: Spanned<'a>,
    /// Whether a block in which it is defined is open.
    pub(super) visible: bool,
}

impl<'a> Parser<'_, 'a> {
    /// `%value: type` or `_: type`.
    pub(super) fn definition(&mut self) -> Parsed<Defined<'a>> {
        let at = self.cursor.peek();
        let number = match self.cursor.eat("_") {
            true => None,
            false => Some(self.value()?),
        };
        self.cursor.expect(":")?;
        Ok(Defined { at, number, ty: self.cursor.scalar_type()? })
    }

    /// The number of a value, defined or used.
    pub(super) fn value(&mut self) -> Parsed<u32> {
        let at = self.cursor.peek();
        let Token::Var(name, None) = at.token else {
            return self.cursor.expected("a value (`%name` or `%number`)");
        };
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        let number = match (is_number, *self.numbered.get_or_insert(is_number)) {
            (true, true) => match name.parse() {
                Ok(number) => number,
                Err(_) => return self.cursor.error(at, format!("`%{name}` is not a number")),
            },
            (false, false) if !name.is_empty() => {
                let next = self.by_name.len() as u32;
                *self.by_name.entry(name).or_insert(next)
            }
            (false, _) if name.is_empty() => return self.cursor.error(at, "`%` is not a name"),
            _ => return self.cursor.error(at, "either all values have numbers or all have names"),
        };
        self.cursor.advance();
        Ok(number)
    }

    /// Defines a value as a node. One that was defined in another block may be so again, as the same.
    pub(super) fn define(&mut self, defined: &Defined<'a>, node: Node) -> Parsed<()> {
        let Some(number) = defined.number else {
            return self.cursor.error(defined.at, "only a value of `if` or `while` can be left out");
        };
        let Token::Var(name, _) = defined.at.token else {
            return self.cursor.error(defined.at, "expected a value");
        };
        match self.values.get_mut(&number) {
            Some(value) if value.visible => {
                return self.cursor.error(defined.at, format!("`%{name}` is defined already"));
            }
            Some(value) if self.nodes[value.id.0 as usize] != node => {
                return self.cursor.error(
                    defined.at,
                    format!("`%{name}` is something else here than in line {}", value.first.line),
                );
            }
            Some(value) => value.visible = true,
            None => {
                let id = self.add(node);
                self.values.insert(number, Value { id, name, first: defined.at, visible: true });
            }
        }
        self.visible.push(number);
        Ok(())
    }

    /// The branch or loop that these values were the values of before.
    pub(super) fn before(&self, defined: &[Defined<'a>]) -> Option<Id> {
        let known = defined.iter().find_map(|defined| self.values.get(&defined.number?))?;
        match &self.nodes[known.id.0 as usize] {
            Node::Project { of, .. } => Some(*of),
            _ => None,
        }
    }

    /// Defines the values of a branch or loop.
    pub(super) fn define_values(
        &mut self,
        defined: &[Defined<'a>],
        before: Option<Id>,
        node: Node,
    ) -> Parsed<()> {
        let of = match before.filter(|id| self.nodes[id.0 as usize] == node) {
            Some(id) => id,
            None => self.add(node),
        };
        if let [first, ..] = defined
            && defined.iter().all(|defined| defined.number.is_none())
        {
            return self.cursor.error(first.at, "nothing uses this");
        }
        for (index, defined) in (0..).zip(defined).filter(|(_, defined)| defined.number.is_some()) {
            self.define(defined, Node::Project { of, index, ty: defined.ty })?;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() as u32 - 1)
    }

    pub(super) fn ty(&self, id: Id) -> ScalarType {
        self.nodes[id.0 as usize].ty().unwrap_or(ScalarType::Bool)
    }

    /// Puts the nodes in the order of their numbers, or in that of their definitions if they have names.
    pub(super) fn finish(self, results: &[Id]) -> Parsed<Function> {
        let mut order: Vec<(u32, &Value<'a>)> =
            self.values.iter().map(|(number, value)| (*number, value)).collect();
        match self.numbered {
            Some(true) => order.sort_unstable_by_key(|(number, _)| *number),
            _ => order.sort_unstable_by_key(|(_, value)| value.id),
        }
        // The position of each node that has one.
        let mut positions: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (position, (number, value)) in order.iter().enumerate() {
            if self.numbered == Some(true) && *number as usize != position {
                let message = format!("there is `%{number}`, and no `%{position}`");
                return self.cursor.error(value.first, message);
            }
            positions[value.id.0 as usize] = Some(position);
        }
        let mut needed = vec![false; self.nodes.len()];
        results.iter().for_each(|id| needed[id.0 as usize] = true);
        for number in (0..self.nodes.len()).rev() {
            if needed[number] {
                self.nodes[number].for_each_operand(|id| needed[id.0 as usize] = true);
            }
        }
        for (_, value) in &order {
            if !needed[value.id.0 as usize] {
                return self.cursor.error(value.first, format!("`%{}` is never used", value.name));
            }
            let position = |id: Id| positions[id.0 as usize];
            let later = self.operands_of(value.id).into_iter().filter_map(position).max();
            if let Some(later) = later.filter(|later| Some(*later) > position(value.id)) {
                let message = format!("`%{}` is made of `%{later}`, which has a larger number", value.name);
                return self.cursor.error(value.first, message);
            }
        }
        // Parameters come first.
        let leaves = (0..self.nodes.len() as u32)
            .map(Id)
            .filter(|id| needed[id.0 as usize] && matches!(self.nodes[id.0 as usize], Node::Variable(..)));
        let order: Vec<Id> = leaves.chain(order.iter().map(|(_, value)| value.id)).collect();
        Ok(Function::arrange(&self.parameters, &self.nodes, order.iter().copied(), results))
    }

    /// The values that a value is made of.
    fn operands_of(&self, id: Id) -> Vec<Id> {
        let mut operands = Vec::new();
        let of = match self.nodes[id.0 as usize] {
            Node::Project { of, .. } => of,
            _ => id,
        };
        self.nodes[of.0 as usize].for_each_operand(|operand| operands.push(operand));
        operands
    }
}
