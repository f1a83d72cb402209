//! Evaluation of a scalar function on constants: the specification that the array interpreter is built on.

use crate::function::Function;
use crate::graph::{ElementOf, Id, Node, Site, Variable};
use crate::schedule::{Item, Schedule, TooDeep};
use crate::types::{Constant, ScalarType};

/// Values of a function's leaves where it is evaluated.
pub trait Environment {
    /// The value of a variable that is not a parameter.
    fn variable(&self, variable: Variable) -> Option<Constant>;
    /// An array's element; `None` if there is none.
    fn load(&self, array: u64, index: i64) -> Option<Constant>;
    /// A scalar of an element of a program's array; if it has none at the index, the part of that which is out of bounds,
    /// and the bound.
    fn element(&self, of: &ElementOf, _index: &[i64]) -> Result<Constant, (i64, i64)> {
        Ok(Constant::zero(of.ty))
    }
}

/// A check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The place of the check.
    pub site: Site,
    /// The offending value.
    pub index: i64,
    /// The exclusive upper bound of the value.
    pub bound: i64,
}

/// A function made ready to be evaluated many times.
pub struct Evaluator {
    function: Function,
    schedule: Schedule,
}

impl Evaluator {
    /// Prepares a function. An error if its branches and loops are nested too deeply, which
    /// [`Function::mistake`] says too.
    pub fn new(function: &Function) -> Result<Evaluator, TooDeep> {
        Ok(Evaluator { function: function.clone(), schedule: function.schedule()? })
    }

    /// The results on these arguments, or the first check that fails. A leaf without a value in the environment counts as
    /// zero.
    pub fn evaluate(
        &self,
        environment: &dyn Environment,
        arguments: &[Constant],
    ) -> Result<Vec<Constant>, CheckFailure> {
        let mut run = Run {
            evaluator: self,
            environment,
            arguments,
            values: vec![Constant::zero(ScalarType::Bool); self.function.nodes().len()],
            several: Vec::new(),
            loop_variables: vec![Vec::new(); self.function.loops() as usize],
        };
        run.several.resize_with(self.function.nodes().len(), Vec::new);
        run.block(0)?;
        Ok(self.function.results().iter().map(|id| run.value(*id)).collect())
    }
}

struct Run<'a> {
    evaluator: &'a Evaluator,
    environment: &'a dyn Environment,
    arguments: &'a [Constant],
    values: Vec<Constant>,
    /// The values of branches and loops.
    several: Vec<Vec<Constant>>,
    loop_variables: Vec<Vec<Constant>>,
}

impl Run<'_> {
    fn value(&self, id: Id) -> Constant {
        match &self.evaluator.function.nodes()[id.0 as usize] {
            Node::Constant(constant) => *constant,
            Node::Variable(Variable::Parameter(index), ty) => {
                self.arguments.get(*index as usize).copied().unwrap_or(Constant::zero(*ty))
            }
            Node::Variable(variable, ty) => {
                self.environment.variable(*variable).unwrap_or(Constant::zero(*ty))
            }
            Node::LoopVariable { number, index, ty } => self
                .loop_variables
                .get(*number as usize)
                .and_then(|variables| variables.get(*index as usize))
                .copied()
                .unwrap_or(Constant::zero(*ty)),
            Node::Project { of, index, ty } => {
                self.several[of.0 as usize].get(*index as usize).copied().unwrap_or(Constant::zero(*ty))
            }
            _ => self.values[id.0 as usize],
        }
    }

    fn all(&self, ids: &[Id]) -> Vec<Constant> {
        ids.iter().map(|id| self.value(*id)).collect()
    }

    fn block(&mut self, block: usize) -> Result<(), CheckFailure> {
        let evaluator = self.evaluator;
        for item in &evaluator.schedule.blocks[block] {
            match item {
                Item::Compute(id) => {
                    let value = match &evaluator.function.nodes()[id.0 as usize] {
                        Node::Apply { op, ty, operands } => op.evaluate(*ty, &self.all(operands.as_slice())),
                        Node::Load { array, ty, index, .. } => {
                            let index = self.value(*index).as_integer().unwrap_or(-1) as i64;
                            self.environment.load(*array, index).unwrap_or(Constant::zero(*ty))
                        }
                        Node::Element { of, index } => {
                            let index = self.all(index);
                            let index: Vec<i64> =
                                index.iter().map(|part| part.as_integer().unwrap_or(-1) as i64).collect();
                            match (self.environment.element(of, &index), of.site) {
                                (Ok(value), _) => value,
                                (Err((index, bound)), Some(site)) => {
                                    return Err(CheckFailure { site, index, bound });
                                }
                                (Err(_), None) => Constant::zero(of.ty),
                            }
                        }
                        Node::Check { condition, site, index, bound } => {
                            let condition = self.value(*condition);
                            if !condition.is_true() {
                                let whole = |id: &Id| self.value(*id).as_integer().unwrap_or(0) as i64;
                                return Err(CheckFailure {
                                    site: *site,
                                    index: whole(index),
                                    bound: whole(bound),
                                });
                            }
                            condition
                        }
                        Node::Invalid { ty, .. } => Constant::zero(*ty),
                        _ => continue,
                    };
                    self.values[id.0 as usize] = value;
                }
                Item::Branch { id, then, otherwise } => {
                    let Node::Branch { condition, then: yes, otherwise: no } =
                        &evaluator.function.nodes()[id.0 as usize]
                    else {
                        continue;
                    };
                    let (side, values) =
                        if self.value(*condition).is_true() { (*then, yes) } else { (*otherwise, no) };
                    self.block(side)?;
                    self.several[id.0 as usize] = self.all(values);
                }
                Item::Select(id) => {
                    let Node::Branch { condition, then: yes, otherwise: no } =
                        &evaluator.function.nodes()[id.0 as usize]
                    else {
                        continue;
                    };
                    let values = if self.value(*condition).is_true() { yes } else { no };
                    self.several[id.0 as usize] = self.all(values);
                }
                Item::Loop { id, header, body } => {
                    let Node::Loop { number, initial, condition, next } =
                        &evaluator.function.nodes()[id.0 as usize]
                    else {
                        continue;
                    };
                    let number = *number as usize;
                    let first = self.all(initial);
                    self.loop_variables[number] = first;
                    loop {
                        self.block(*header)?;
                        if !self.value(*condition).is_true() {
                            break;
                        }
                        self.block(*body)?;
                        self.loop_variables[number] = self.all(next);
                    }
                    self.several[id.0 as usize] = self.loop_variables[number].clone();
                }
            }
        }
        Ok(())
    }
}
