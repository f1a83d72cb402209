//! Proofs of inequalities between integers, where intervals lose the relations between values.
//!
//! An integer is a sum of multiples of *atoms* (variables that are not looked into) and a constant, without wrapping:
//! an operation that may wrap makes an atom. About atoms there are *facts*, sums that are not negative: an index is below
//! its loop's extent, a minimum is not above either operand, a remainder is below its divisor, a quotient times its
//! divisor is about the dividend, and in a branch its condition holds. To prove that a sum is not negative, the prover computes its smallest
//! value by intervals. If that is negative, it subtracts multiples of facts that eliminate an atom (from a multiple of the sum, if need be),
//! and tries to prove the rest. The search gives up early, so it is cheap. It proves what kernels contain: with
//! `length = min(size, n - start)` and `i < length`, that `start + i < n`, and the same of `i < size` where `length == size` holds.
//!
//! A fact holds wherever the variable that it defines can be read, in the iteration in which it was found. So facts about
//! values that are defined inside a loop or a branch need not be forgotten after it: no later statement can read these values.

use std::collections::{BTreeMap, HashMap, HashSet};

use pumice_scalar::{Op, ScalarType};

use crate::interval::{Interval, Intervals};
use crate::ir::{Operand, Program, Var};

/// Longer sums count as atoms.
const MAX_TERMS: usize = 8;

/// Maximum number of sums that one proof looks at; those that kernels need take less than 20.
const MAX_STEPS: usize = 64;

/// Maximum number of facts that one proof uses in a row.
const MAX_DEPTH: usize = 6;

/// Multiples of atoms, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    /// By atom; none is zero.
    terms: BTreeMap<Var, i128>,
    constant: i128,
}

impl Form {
    fn constant(constant: i128) -> Form {
        Form { terms: BTreeMap::new(), constant }
    }

    fn atom(var: Var) -> Form {
        Form { terms: BTreeMap::from([(var, 1)]), constant: 0 }
    }

    /// This plus `factor` times the other, unless numbers get too large.
    fn plus(&self, other: &Form, factor: i128) -> Option<Form> {
        let mut sum = self.clone();
        for (&atom, &count) in &other.terms {
            let known = sum.terms.entry(atom).or_insert(0);
            *known = known.checked_add(count.checked_mul(factor)?)?;
        }
        sum.terms.retain(|_, count| *count != 0);
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(sum)
    }

    fn plus_constant(&self, constant: i128) -> Option<Form> {
        self.plus(&Form::constant(1), constant)
    }

    fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// Definition of an atom, to recognise one that is computed twice.
type Recipe = (Op, ScalarType, Vec<(ScalarType, Form)>);

/// Linear forms of a program's integers and facts about them, gathered statement by statement.
pub(crate) struct Prover<'a> {
    program: &'a Program,
    intervals: &'a Intervals,
    /// The variables that are not atoms.
    forms: HashMap<Var, Form>,
    atoms: HashMap<Recipe, Var>,
    /// Dividend and divisor, by atom: for the products that give the dividend back.
    quotients: HashMap<Var, (Form, Form)>,
    /// By the atom that they define: facts that always hold.
    definitions: HashMap<Var, Vec<Form>>,
    /// Facts from the branches and loops around the current statement.
    conditions: Vec<Form>,
    /// The recipes in the order in which they were found.
    found: Vec<Recipe>,
}

/// A point to which a [`Prover`] can go back.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    conditions: usize,
    found: usize,
}

impl<'a> Prover<'a> {
    /// Knows nothing yet but the intervals, which are those of the program.
    pub fn new(program: &'a Program, intervals: &'a Intervals) -> Prover<'a> {
        Prover {
            program,
            intervals,
            forms: HashMap::new(),
            atoms: HashMap::new(),
            quotients: HashMap::new(),
            definitions: HashMap::new(),
            conditions: Vec::new(),
            found: Vec::new(),
        }
    }

    fn ty(&self, operand: Operand) -> ScalarType {
        match operand {
            Operand::Var(var) => {
                self.program.vars.get(var.0 as usize).map_or(ScalarType::Bool, |info| info.ty)
            }
            Operand::Constant(constant) => constant.ty(),
        }
    }

    /// An integer as a sum.
    fn form(&self, operand: Operand) -> Option<Form> {
        if !self.ty(operand).is_integer() {
            return None;
        }
        let (low, high) = self.intervals.operand(operand);
        match operand {
            _ if low == high => Some(Form::constant(low)),
            Operand::Var(var) => Some(self.forms.get(&var).cloned().unwrap_or_else(|| Form::atom(var))),
            Operand::Constant(_) => None,
        }
    }

    /// Takes note of a definition, with operands as they are now.
    pub fn define(&mut self, var: Var, op: Op, operands: &[Operand]) {
        let ty = self.ty(Operand::Var(var));
        if let (Op::Select, [_, a, b]) = (op, operands) {
            return self.define_choice(var, *a, *b);
        }
        let forms: Option<Vec<Form>> = operands.iter().map(|&operand| self.form(operand)).collect();
        let Some(forms) = forms.filter(|_| ty.is_integer()) else {
            return;
        };
        if let Some(sum) = self.linear(var, op, operands, &forms) {
            if sum.terms.len() <= MAX_TERMS {
                self.forms.insert(var, sum);
            }
            return;
        }
        let types = operands.iter().map(|&operand| self.ty(operand));
        let recipe = (op, ty, types.zip(forms.iter().cloned()).collect());
        if let Some(&atom) = self.atoms.get(&recipe) {
            self.forms.insert(var, Form::atom(atom));
            return;
        }
        self.atoms.insert(recipe.clone(), var);
        self.found.push(recipe);
        let facts = self.facts_of(var, op, operands, &forms).unwrap_or_default();
        self.definitions.insert(var, facts);
    }

    /// Takes note that a variable is one of two values: it is between them, if it is known which one is larger.
    fn define_choice(&mut self, var: Var, a: Operand, b: Operand) {
        let (Some(a), Some(b)) = (self.form(a), self.form(b)) else { return };
        let (smaller, larger) = match (self.are_ordered(&a, &b), self.are_ordered(&b, &a)) {
            (true, _) => (a, b),
            (false, true) => (b, a),
            (false, false) => return,
        };
        let choice = Form::atom(var);
        let facts = [choice.plus(&smaller, -1), larger.plus(&choice, -1)];
        self.definitions.insert(var, facts.into_iter().flatten().collect());
    }

    /// The result of an operation as a sum, if it is one and the operation does not wrap.
    fn linear(&self, var: Var, op: Op, operands: &[Operand], forms: &[Form]) -> Option<Form> {
        let ty = self.ty(Operand::Var(var));
        if let (Op::Cast, [operand], [form]) = (op, operands, forms) {
            let (low, high) = self.intervals.operand(*operand);
            let full = ty.range();
            return (full.0 <= low && high <= full.1).then(|| form.clone());
        }
        if !self.intervals.stays_within(var, ty) {
            return None;
        }
        match (op, forms) {
            (Op::Add, [a, b]) => a.plus(b, 1),
            (Op::Sub, [a, b]) => a.plus(b, -1),
            (Op::Neg, [a]) => Form::default().plus(a, -1),
            (Op::Mul, [a, b]) => match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => Form::default().plus(a, factor),
                (Some(factor), None) => Form::default().plus(b, factor),
                (None, None) => None,
            },
            (Op::Shl, [a, b]) => Form::default().plus(a, power_of_two(b, ty)?),
            (Op::Max, [a, b]) if self.are_ordered(a, b) => Some(b.clone()),
            (Op::Max, [a, b]) if self.are_ordered(b, a) => Some(a.clone()),
            _ => None,
        }
    }

    /// Returns facts about an operation's result.
    fn facts_of(&mut self, var: Var, op: Op, operands: &[Operand], forms: &[Form]) -> Option<Vec<Form>> {
        let result = Form::atom(var);
        let ty = self.ty(Operand::Var(var));
        let low =
            |position: usize| operands.get(position).map_or(i128::MIN, |&at| self.intervals.operand(at).0);
        let [a, b] = forms else {
            return None;
        };
        let natural = low(0) >= 0 && low(1) >= 1;
        let facts = match op {
            Op::Min => {
                // That it is one of both is no sum, but that neither is negative will do.
                let natural = self.not_negative(a) && self.not_negative(b);
                [a.plus(&result, -1)?, b.plus(&result, -1)?]
                    .into_iter()
                    .chain(natural.then_some(result))
                    .collect()
            }
            Op::Max => vec![result.plus(a, -1)?, result.plus(b, -1)?],
            Op::Rem if natural => vec![b.plus(&result, -1)?.plus_constant(-1)?, a.plus(&result, -1)?],
            Op::Div if natural => {
                self.quotients.insert(var, (a.clone(), b.clone()));
                match b.as_constant() {
                    Some(divisor) => quotient(a, &result, divisor)?,
                    None => vec![a.plus(&result, -1)?],
                }
            }
            Op::Shr if low(0) >= 0 => quotient(a, &result, power_of_two(b, ty)?)?,
            Op::And if low(0) >= 0 => vec![a.plus(&result, -1)?],
            Op::Mul if self.intervals.stays_within(var, ty) => {
                let divided = |quotient: &Form, divisor: &Form| {
                    let (&atom, _) = quotient.terms.iter().next()?;
                    let (dividend, by) =
                        self.quotients.get(&atom).filter(|_| *quotient == Form::atom(atom))?;
                    (by == divisor).then(|| (dividend.clone(), by.clone()))
                };
                let (dividend, divisor) = divided(a, b).or_else(|| divided(b, a))?;
                let below = dividend.plus(&result, -1)?;
                let above = result.plus(&dividend, -1)?.plus(&divisor, 1)?.plus_constant(-1)?;
                vec![below, above]
            }
            _ => return None,
        };
        Some(facts)
    }

    /// Takes note that a variable is at least `low` and below `high`.
    pub fn define_index(&mut self, var: Var, low: Operand, high: Operand) {
        let index = Form::atom(var);
        let above = self.form(low).and_then(|low| index.plus(&low, -1));
        let below = self.form(high).and_then(|high| high.plus(&index, -1)?.plus_constant(-1));
        self.definitions.insert(var, above.into_iter().chain(below).collect());
    }

    /// Marks the beginning of a list inside another one; to be given to [`Self::leave`].
    pub fn mark(&self) -> Mark {
        Mark { conditions: self.conditions.len(), found: self.found.len() }
    }

    /// Forgets the assumptions since the mark, and the computations: under an assumption, a value may have bounds that the
    /// same computation does not have elsewhere.
    pub fn leave(&mut self, mark: Mark) {
        self.conditions.truncate(mark.conditions);
        for recipe in self.found.drain(mark.found.min(self.found.len())..) {
            self.atoms.remove(&recipe);
        }
    }

    /// Takes note that a comparison holds, or that it does not.
    pub fn assume(&mut self, op: Op, operands: &[Operand], holds: bool) {
        let [a, b] = operands else {
            return;
        };
        let (Some(a), Some(b)) = (self.form(*a), self.form(*b)) else {
            return;
        };
        // Not negative: the larger minus the smaller, and minus one where they differ.
        let mut add = |larger: &Form, smaller: &Form, constant: i128| {
            if let Some(fact) = larger.plus(smaller, -1).and_then(|form| form.plus_constant(constant)) {
                let consequences = self.consequences(&fact);
                self.conditions.push(fact);
                self.conditions.extend(consequences);
            }
        };
        match (op, holds) {
            (Op::Lt, true) => add(&b, &a, -1),
            (Op::Lt, false) => add(&a, &b, 0),
            (Op::Le, true) => add(&b, &a, 0),
            (Op::Le, false) => add(&a, &b, -1),
            (Op::Eq, true) | (Op::Ne, false) => {
                add(&a, &b, 0);
                add(&b, &a, 0);
            }
            _ => {}
        }
    }

    /// Combines a condition with the definitions of its atoms: `min(a, b) >= c` gives `a >= c` and `b >= c`. The search
    /// would not find these, because it only looks at facts about atoms of what is to be proved.
    fn consequences(&self, fact: &Form) -> Vec<Form> {
        let of_atom = |(atom, &count): (&Var, &i128)| {
            let definitions = self.definitions.get(atom).into_iter().flatten();
            let eliminated = definitions.filter_map(move |definition| {
                let &other = definition.terms.get(atom).filter(|&&other| (other > 0) != (count > 0))?;
                let scaled = Form::default().plus(fact, other.checked_abs()?)?;
                scaled.plus(definition, count.checked_abs()?)
            });
            eliminated.collect::<Vec<_>>()
        };
        let all = fact.terms.iter().flat_map(of_atom);
        all.filter(|form| self.smallest(form).is_none_or(|smallest| smallest < 0)).collect()
    }

    /// Returns the result of a comparison, if it can be proved.
    pub fn compare(&self, op: Op, operands: &[Operand]) -> Option<bool> {
        let &[a, b] = operands else {
            return None;
        };
        match op {
            Op::Lt if self.differ(b, a, 1) => Some(true),
            Op::Lt if self.differ(a, b, 0) => Some(false),
            Op::Le if self.differ(b, a, 0) => Some(true),
            Op::Le if self.differ(a, b, 1) => Some(false),
            Op::Eq | Op::Ne => match () {
                () if self.differ(a, b, 1) || self.differ(b, a, 1) => Some(op == Op::Ne),
                () if self.differ(a, b, 0) && self.differ(b, a, 0) => Some(op == Op::Eq),
                () => None,
            },
            _ => None,
        }
    }

    /// Whether the first is surely larger than the second by at least this.
    pub fn differ(&self, larger: Operand, smaller: Operand, by: i128) -> bool {
        let difference = || {
            let (larger, smaller) = (self.form(larger)?, self.form(smaller)?);
            larger.plus(&smaller, -1)?.plus_constant(-by)
        };
        difference().is_some_and(|form| self.not_negative(&form))
    }

    /// Whether `end` is surely at most `start + step`, in the integers.
    pub fn within_a_step(&self, start: Operand, end: Operand, step: Operand) -> bool {
        let left = || {
            let (start, end, step) = (self.form(start)?, self.form(end)?, self.form(step)?);
            start.plus(&step, 1)?.plus(&end, -1)
        };
        left().is_some_and(|form| self.not_negative(&form))
    }

    /// Whether the second is surely at least the first.
    fn are_ordered(&self, smaller: &Form, larger: &Form) -> bool {
        larger.plus(smaller, -1).is_some_and(|form| self.not_negative(&form))
    }

    /// Whether a sum is surely not negative. Of the sums that facts leave of it, the one whose smallest value is largest is looked
    /// at first: it is nearest to a proof.
    fn not_negative(&self, form: &Form) -> bool {
        let Some(smallest) = self.smallest(form) else { return false };
        if smallest >= 0 {
            return true;
        }
        let (mut open, mut seen) = (vec![(smallest, MAX_DEPTH, form.clone())], HashSet::new());
        while let Some(nearest) = (0..open.len()).max_by_key(|&at| (open[at].0, open[at].1)) {
            let (_, depth, form) = open.swap_remove(nearest);
            for rest in self.rests(&form) {
                match self.smallest(&rest) {
                    Some(0..) => return true,
                    Some(smallest) if depth > 1 && seen.insert(rest.clone()) => {
                        open.push((smallest, depth - 1, rest));
                    }
                    _ => {}
                }
                if seen.len() >= MAX_STEPS {
                    return false;
                }
            }
        }
        false
    }

    /// Returns the rests of a sum after a fact has eliminated one of its atoms. If one of these is not negative, the sum is not.
    fn rests(&self, form: &Form) -> impl Iterator<Item = Form> {
        // The latest atoms are the innermost, and are bounded by earlier ones.
        form.terms.iter().rev().flat_map(move |(atom, &count)| {
            let definitions = self.definitions.get(atom).into_iter().flatten();
            let facts = definitions.chain(&self.conditions);
            facts.filter_map(move |fact| without(form, atom, count, fact))
        })
    }

    /// The smallest value by intervals.
    fn smallest(&self, form: &Form) -> Option<i128> {
        form.terms.iter().try_fold(form.constant, |sum, (&atom, &count)| {
            let (low, high): Interval = self.intervals.var(atom);
            sum.checked_add(count.checked_mul(if count > 0 { low } else { high })?)
        })
    }
}

/// A multiple of a sum without as many of a fact as make an atom disappear, of which there are `count` in the sum.
fn without(form: &Form, atom: &Var, count: i128, fact: &Form) -> Option<Form> {
    let &other = fact.terms.get(atom).filter(|&&other| (other > 0) == (count > 0))?;
    let common = common_divisor(count.checked_abs()?, other.checked_abs()?);
    let scaled = Form::default().plus(form, other.checked_abs()? / common)?;
    scaled.plus(fact, -(count.checked_abs()? / common))
}

/// The greatest common divisor of two positive numbers.
fn common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Returns facts about a quotient by a positive constant, of a dividend that is not negative.
fn quotient(dividend: &Form, result: &Form, divisor: i128) -> Option<Vec<Form>> {
    let below = dividend.plus(result, divisor.checked_neg()?)?;
    let above = Form::default().plus(&below, -1)?.plus_constant(divisor.checked_sub(1)?)?;
    Some(vec![below, above])
}

/// Two to the power of a constant distance that a shift does not mask.
fn power_of_two(distance: &Form, ty: ScalarType) -> Option<i128> {
    let distance =
        distance.as_constant().filter(|distance| (0..8 * ty.bytes() as i128).contains(distance))?;
    Some(1 << distance)
}
