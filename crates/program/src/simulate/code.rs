//! A program made ready for the machine: operands as numbers of slots, comments as numbers of places.
//!
//! It changes the representation of a program and never its behaviour: one line per statement, in the same lists. The
//! program has passed the verifier (but for barriers), so every number in it is in range.

use std::collections::HashMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{AtomicOp, CollectiveOp, Operand, Program, Scope, Stmt, Workers};

/// The number of a value among the machine's: first the variables, then the constants.
pub(super) type Slot = usize;

/// A program for the machine.
pub(super) struct Code<'p> {
    /// Statements that each block executes.
    pub body: Vec<Line>,
    /// The constants, in the order of their slots.
    pub constants: Vec<Constant>,
    /// Every line's statement and place.
    pub sites: Vec<Site<'p>>,
    /// The comments that are in force somewhere, in the order of the program; the first one is the absent one.
    pub places: Vec<&'p str>,
    /// Number of slots.
    pub slots: usize,
}

/// Origin of a line.
#[derive(Clone, Copy)]
pub(super) struct Site<'p> {
    pub stmt: &'p Stmt,
    /// The comment in force.
    pub place: usize,
}

/// One statement.
pub(super) struct Line {
    /// Its number in [`Code::sites`].
    pub site: u32,
    pub node: Node,
}

/// An index into memory.
#[derive(Clone, Copy)]
pub(super) struct Index {
    pub slot: Slot,
    pub ty: ScalarType,
}

/// See [`Carried`](crate::ir::Carried).
pub(super) struct Carry {
    pub var: Slot,
    pub initial: Slot,
    pub next: Slot,
}

/// See [`Joined`](crate::ir::Joined).
pub(super) struct Join {
    pub var: Slot,
    pub then: Slot,
    pub otherwise: Slot,
}

/// An operation.
#[derive(Clone, Copy)]
pub(super) struct Computation {
    pub op: Op,
    /// The type of the result.
    pub ty: ScalarType,
    /// The type of each operand.
    pub types: [ScalarType; 3],
    pub operands: [Slot; 3],
    /// Number of operands.
    pub count: usize,
    pub exact: bool,
}

/// See [`Stmt`].
pub(super) enum Node {
    Let {
        var: Slot,
        computation: Computation,
    },
    Load {
        vars: Vec<Slot>,
        memory: usize,
        index: Index,
    },
    Store {
        memory: usize,
        index: Index,
        values: Vec<Slot>,
    },
    If {
        condition: Slot,
        then: Vec<Line>,
        otherwise: Vec<Line>,
        results: Vec<Join>,
    },
    For {
        var: Slot,
        ty: ScalarType,
        start: Slot,
        end: Slot,
        step: Slot,
        carried: Vec<Carry>,
        body: Vec<Line>,
    },
    While {
        carried: Vec<Carry>,
        header: Vec<Line>,
        condition: Slot,
        body: Vec<Line>,
    },
    Parallel {
        workers: Workers,
        var: Slot,
        ty: ScalarType,
        extent: Slot,
        body: Vec<Line>,
    },
    Sync {
        scope: Scope,
    },
    Fence {
        scope: Scope,
    },
    Atomic {
        var: Option<Slot>,
        op: AtomicOp,
        memory: usize,
        index: Index,
        operands: [Slot; 2],
    },
    Collective {
        var: Slot,
        op: CollectiveOp,
        operands: [Slot; 2],
    },
    Fail {
        unless: Slot,
        site: u32,
        index: Slot,
        bound: Slot,
    },
}

impl<'p> Code<'p> {
    /// Prepares a program.
    pub fn new(program: &'p Program) -> Code<'p> {
        let mut writer = Writer {
            program,
            known: HashMap::new(),
            constants: Vec::new(),
            sites: Vec::new(),
            places: vec![""],
            numbers: HashMap::from([("", 0)]),
        };
        let body = writer.list(&program.body, 0);
        let slots = program.vars.len() + writer.constants.len();
        Code { body, constants: writer.constants, sites: writer.sites, places: writer.places, slots }
    }

    /// The comment in force at a line, if there is one.
    pub fn place(&self, site: u32) -> Option<&'p str> {
        let place = self.places[self.sites[site as usize].place];
        (!place.is_empty()).then_some(place)
    }
}

struct Writer<'p> {
    program: &'p Program,
    known: HashMap<Constant, Slot>,
    constants: Vec<Constant>,
    sites: Vec<Site<'p>>,
    places: Vec<&'p str>,
    numbers: HashMap<&'p str, usize>,
}

impl<'p> Writer<'p> {
    fn list(&mut self, list: &'p [Stmt], mut place: usize) -> Vec<Line> {
        let mut lines = Vec::with_capacity(list.len());
        for stmt in list {
            if let Stmt::Comment(text) = stmt {
                let places = &mut self.places;
                place = *self.numbers.entry(text).or_insert_with(|| {
                    places.push(text);
                    places.len() - 1
                });
                continue;
            }
            // The verifier bounds the depth and so the length of a program that is at all printable; far below.
            let site = self.sites.len() as u32;
            self.sites.push(Site { stmt, place });
            if let Some(node) = self.node(stmt, place) {
                lines.push(Line { site, node });
            }
        }
        lines
    }

    fn slot(&mut self, operand: Operand) -> Slot {
        match operand {
            Operand::Var(var) => var.0 as usize,
            Operand::Constant(constant) => {
                let constants = &mut self.constants;
                let vars = self.program.vars.len();
                *self.known.entry(constant).or_insert_with(|| {
                    constants.push(constant);
                    vars + constants.len() - 1
                })
            }
        }
    }

    fn slots(&mut self, operands: &[Operand]) -> Vec<Slot> {
        operands.iter().map(|&operand| self.slot(operand)).collect()
    }

    /// The slots of a few operands; those that are absent are never looked at.
    fn few<const N: usize>(&mut self, operands: &[Operand]) -> [Slot; N] {
        let mut slots = [0; N];
        for (slot, &operand) in slots.iter_mut().zip(operands) {
            *slot = self.slot(operand);
        }
        slots
    }

    fn index(&mut self, operand: Operand) -> Index {
        Index { slot: self.slot(operand), ty: self.program.operand_type(operand) }
    }

    fn carried(&mut self, carried: &[crate::ir::Carried]) -> Vec<Carry> {
        let each = carried.iter().map(|carried| Carry {
            var: carried.var.0 as usize,
            initial: self.slot(carried.initial),
            next: self.slot(carried.next),
        });
        each.collect()
    }

    fn node(&mut self, stmt: &'p Stmt, place: usize) -> Option<Node> {
        Some(match stmt {
            Stmt::Comment(_) => return None,
            Stmt::Let { var, op, operands } => {
                let info = &self.program.vars[var.0 as usize];
                let mut types = [ScalarType::Bool; 3];
                for (ty, &operand) in types.iter_mut().zip(operands) {
                    *ty = self.program.operand_type(operand);
                }
                let computation = Computation {
                    op: *op,
                    ty: info.ty,
                    types,
                    operands: self.few(operands),
                    count: operands.len().min(3),
                    exact: info.exact,
                };
                Node::Let { var: var.0 as usize, computation }
            }
            Stmt::Load { vars, memory, index } => Node::Load {
                vars: vars.iter().map(|var| var.0 as usize).collect(),
                memory: memory.0 as usize,
                index: self.index(*index),
            },
            Stmt::Store { memory, index, values } => Node::Store {
                memory: memory.0 as usize,
                index: self.index(*index),
                values: self.slots(values),
            },
            Stmt::If { condition, then, otherwise, results } => Node::If {
                condition: self.slot(*condition),
                then: self.list(then, place),
                otherwise: self.list(otherwise, place),
                results: results
                    .iter()
                    .map(|joined| Join {
                        var: joined.var.0 as usize,
                        then: self.slot(joined.then),
                        otherwise: self.slot(joined.otherwise),
                    })
                    .collect(),
            },
            Stmt::For { var, start, end, step, carried, body } => Node::For {
                var: var.0 as usize,
                ty: self.program.var_type(*var),
                start: self.slot(*start),
                end: self.slot(*end),
                step: self.slot(*step),
                carried: self.carried(carried),
                body: self.list(body, place),
            },
            Stmt::While { carried, header, condition, body } => Node::While {
                carried: self.carried(carried),
                header: self.list(header, place),
                condition: self.slot(*condition),
                body: self.list(body, place),
            },
            Stmt::Parallel { workers, var, extent, body } => Node::Parallel {
                workers: *workers,
                var: var.0 as usize,
                ty: self.program.var_type(*var),
                extent: self.slot(*extent),
                body: self.list(body, place),
            },
            Stmt::Sync { scope } => Node::Sync { scope: *scope },
            Stmt::Fence { scope } => Node::Fence { scope: *scope },
            Stmt::Atomic { var, op, memory, index, operands } => Node::Atomic {
                var: var.map(|var| var.0 as usize),
                op: *op,
                memory: memory.0 as usize,
                index: self.index(*index),
                operands: self.few(operands),
            },
            Stmt::Collective { var, op, operands } => {
                Node::Collective { var: var.0 as usize, op: *op, operands: self.few(operands) }
            }
            Stmt::Fail { unless, site, index, bound } => Node::Fail {
                unless: self.slot(*unless),
                site: *site,
                index: self.slot(*index),
                bound: self.slot(*bound),
            },
        })
    }
}
