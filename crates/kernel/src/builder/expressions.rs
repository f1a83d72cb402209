//! Expressions become statements: each value once, in the list of statements that is open or as far out of the loops around
//! as its operands allow, never out of a condition.

use super::{Builder, List, NO_VALUE, with};
use pumice_program::{Access, Carried, Failure, Joined, MemoryId, Operand, Param, Space, Stmt, Var};
use pumice_scalar::{Constant, Id, Item, MAX_NESTING, Node, Op, ScalarType, Schedule, Site, Term, inspect};

/// Writes what these expressions need and gives their operands.
pub(crate) fn materialise(terms: &[Term]) -> Vec<Operand> {
    let ids: Vec<Id> = terms.iter().map(|term| term.id()).collect();
    with(Builder::check_scope);
    inspect(|graph| {
        with(|builder| {
            let nodes = graph.nodes();
            let is_available =
                |id: Id| matches!(nodes[id.0 as usize], Node::Constant(_)) || builder.lookup(id).is_some();
            let room = MAX_NESTING.saturating_sub(builder.nesting());
            match Schedule::new(nodes, &ids, is_available, room) {
                Ok(schedule) => builder.write_block(nodes, &schedule, 0),
                Err(error) => builder.mistake(error.to_string()),
            }
            builder.operands(nodes, &ids)
        })
    })
}

impl Builder {
    /// The outermost frame in which a pure value over these operands can be computed.
    fn outermost(&self, operands: &[usize]) -> usize {
        let opaque = self.frames.iter().rposition(|frame| !frame.list.is_transparent()).unwrap_or(0);
        operands.iter().copied().max().unwrap_or(0).max(opaque)
    }

    fn in_frame(&mut self, list: List, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
        self.open(list);
        f(self);
        self.close()
    }

    /// The operand for a node that has a value, with the depth of the frame that holds it.
    fn operand(&mut self, nodes: &[Node], id: Id) -> (usize, Operand) {
        match &nodes[id.0 as usize] {
            Node::Constant(constant) => (0, Operand::Constant(*constant)),
            node => self.lookup(id).unwrap_or_else(|| {
                let ty = node.ty().unwrap_or(ScalarType::Bool);
                self.mistake(NO_VALUE);
                (0, Operand::Constant(Constant::zero(ty)))
            }),
        }
    }

    fn operands(&mut self, nodes: &[Node], ids: &[Id]) -> Vec<Operand> {
        ids.iter().map(|id| self.operand(nodes, *id).1).collect()
    }

    fn write_block(&mut self, nodes: &[Node], schedule: &Schedule, block: usize) {
        for item in &schedule.blocks[block] {
            match item {
                Item::Compute(id) => self.write_node(nodes, *id),
                Item::Branch { id, then, otherwise } => {
                    self.write_branch(nodes, schedule, *id, *then, *otherwise);
                }
                Item::Select(id) => self.write_select(nodes, *id),
                Item::Loop { id, header, body } => self.write_loop(nodes, schedule, *id, *header, *body),
            }
        }
    }

    fn write_node(&mut self, nodes: &[Node], id: Id) {
        if self.lookup(id).is_some() {
            return;
        }
        match &nodes[id.0 as usize] {
            Node::Apply { op, ty, operands } => {
                let (depths, operands): (Vec<usize>, Vec<Operand>) =
                    operands.as_slice().iter().map(|id| self.operand(nodes, *id)).unzip();
                let name = self.names.get(&id).copied().unwrap_or(result_name(*op));
                let var = self.new_var(*ty, name);
                let frame = self.outermost(&depths);
                let frame = &mut self.frames[frame];
                frame.statements.push(Stmt::Let { var, op: *op, operands });
                frame.values.insert(id, Operand::Var(var));
            }
            Node::Load { array, ty, index, .. } => {
                let memory = MemoryId(*array as u32);
                let index = self.operand(nodes, *index).1;
                self.check_private(memory);
                let name = self.program.memories.get(memory.0 as usize).map_or("v", |memory| &memory.name);
                let name = format!("{}_at", name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
                let var = self.new_var(*ty, &name);
                self.push(Stmt::Load { vars: vec![var], memory, index });
                self.define(id, Operand::Var(var));
            }
            Node::Check { condition, site, index, bound } => {
                let operands = self.operands(nodes, &[*condition, *index, *bound]);
                let site = self.site(*site);
                let fail = Stmt::Fail { unless: operands[0], site, index: operands[1], bound: operands[2] };
                self.push_in_thread(fail);
                self.define(id, operands[0]);
            }
            Node::Project { of, index, .. } => {
                // A branch or loop defined its projections when it was written.
                if let Some(Operand::Var(first)) = self.lookup(*of).map(|found| found.1) {
                    self.define(id, Operand::Var(Var(first.0 + index)));
                }
            }
            Node::Element { .. } => {
                self.mistake("an element of an array program's array is read in a kernel")
            }
            Node::Invalid { message, .. } => {
                self.mistake(message.to_string());
            }
            Node::Variable(..) | Node::LoopVariable { .. } => self.mistake(NO_VALUE),
            Node::Constant(_) | Node::Branch { .. } | Node::Loop { .. } => {}
        }
    }

    /// New variables for the values of a branch or a loop, one after the other.
    fn several(&mut self, nodes: &[Node], id: Id, values: &[Id]) -> Vec<Var> {
        let types = values.iter().map(|id| nodes[id.0 as usize].ty().unwrap_or(ScalarType::Bool));
        let vars: Vec<Var> = types.collect::<Vec<_>>().into_iter().map(|ty| self.new_var(ty, "v")).collect();
        if let Some(first) = vars.first() {
            self.define(id, Operand::Var(*first));
        }
        vars
    }

    fn write_branch(&mut self, nodes: &[Node], schedule: &Schedule, id: Id, then: usize, otherwise: usize) {
        let Node::Branch { condition, then: yes, otherwise: no } = &nodes[id.0 as usize] else { return };
        let condition = self.operand(nodes, *condition).1;
        let mut sides = Vec::new();
        for (block, values) in [(then, yes), (otherwise, no)] {
            let mut results = Vec::new();
            let statements = self.in_frame(List::Side, |builder| {
                builder.write_block(nodes, schedule, block);
                results = builder.operands(nodes, values);
            });
            sides.push((statements, results));
        }
        let vars = self.several(nodes, id, yes);
        let (otherwise, no) = sides.pop().unwrap_or_default();
        let (then, yes) = sides.pop().unwrap_or_default();
        let joined = vars.iter().zip(yes.iter().zip(&no));
        let results =
            joined.map(|(var, (then, otherwise))| Joined { var: *var, then: *then, otherwise: *otherwise });
        let results = results.collect();
        self.push(Stmt::If { condition, then, otherwise, results });
    }

    /// A branch both of whose sides have been computed.
    fn write_select(&mut self, nodes: &[Node], id: Id) {
        let Node::Branch { condition, then, otherwise } = &nodes[id.0 as usize] else { return };
        let condition = self.operand(nodes, *condition).1;
        let (yes, no) = (self.operands(nodes, then), self.operands(nodes, otherwise));
        let vars = self.several(nodes, id, then);
        for (var, (yes, no)) in vars.into_iter().zip(yes.into_iter().zip(no)) {
            self.push(Stmt::Let { var, op: Op::Select, operands: vec![condition, yes, no] });
        }
    }

    fn write_loop(&mut self, nodes: &[Node], schedule: &Schedule, id: Id, header: usize, body: usize) {
        let Node::Loop { number: own, initial, condition, next } = &nodes[id.0 as usize] else { return };
        let initial_values = self.operands(nodes, initial);
        let vars = self.several(nodes, id, initial);
        self.open(List::Loop);
        // The loop's variables are nodes of their own.
        for id in schedule.loop_variables.get(own).into_iter().flatten() {
            if let Node::LoopVariable { index, .. } = &nodes[id.0 as usize]
                && let Some(var) = vars.get(*index as usize)
            {
                self.define(*id, Operand::Var(*var));
            }
        }
        self.write_block(nodes, schedule, header);
        let condition = self.operand(nodes, *condition).1;
        let mut next_values = Vec::new();
        let body = self.in_frame(List::Body, |builder| {
            builder.write_block(nodes, schedule, body);
            next_values = builder.operands(nodes, next);
        });
        let header = self.close();
        let carried = vars.iter().zip(initial_values.iter().zip(&next_values));
        let carried = carried
            .map(|(var, (initial, next))| Carried { var: *var, initial: *initial, next: *next })
            .collect();
        self.push(Stmt::While { carried, header, condition, body });
    }

    /// The number of a site of failures, whose record becomes a parameter with the first one.
    pub fn site(&mut self, site: Site) -> u32 {
        if self.program.failure.is_none() {
            let memory = self.memory("failure", ScalarType::I64, Space::Global { access: Access::ReadWrite });
            let base = self.new_var(ScalarType::I64, "failure_base");
            self.program.params.extend([Param::Memory(memory), Param::Scalar(base)]);
            self.program.failure = Some(Failure { memory, base });
        }
        *self.site_numbers.entry(site).or_insert_with(|| {
            self.sites.push(site);
            self.sites.len() as u32 - 1
        })
    }
}

/// Names the result of an operation that has no name yet.
fn result_name(op: Op) -> &'static str {
    match op {
        Op::Add => "sum",
        Op::Sub => "difference",
        Op::Mul => "product",
        Op::Div => "quotient",
        Op::Rem => "remainder",
        Op::Min => "smaller",
        Op::Max => "larger",
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::And | Op::Or | Op::Xor | Op::Not => "test",
        Op::Select => "choice",
        Op::Cast | Op::Bitcast => "converted",
        other => other.name(),
    }
}
