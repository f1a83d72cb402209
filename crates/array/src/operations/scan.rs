//! `scan`: the running results of reducing each row of the innermost dimension, from the left or from the right.
//!
//! A scan hands its elements on with their indices. All elements of a row combined are a result of their own, of the same
//! kernel where both are asked for.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::rows_and_columns;
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, ScanJob, ScanSource, Step};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use crate::reduction::Reduction;
use pumice_kernel::skeletons::ScanKind;
use pumice_scalar::{Constant, Function};
use std::any::Any;
use std::sync::Arc;

/// Results of a scan of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// For each element all up to it, and itself.
    Inclusive,
    /// For each element all before it.
    Exclusive,
    /// Like `Exclusive`, and all of them at the end: one element more.
    Extended,
    /// All of them, once.
    Total,
}

const GIVES: [Gives; 4] = [Gives::Inclusive, Gives::Exclusive, Gives::Extended, Gives::Total];

/// A scan of rows.
#[derive(Clone)]
pub struct Scan {
    /// An associative operator, from two elements.
    pub operator: Function,
    /// The value before the first element of a row in the order of the scan, from no parameters.
    pub initial: Option<Function>,
    /// The kind of result.
    pub gives: Gives,
    /// Whether it begins with the last element of a row.
    pub from_right: bool,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "scan",
    make: |Parts { attributes, functions, .. }| {
        let [gives, from_right] = attributes[..] else { return None };
        let gives = *GIVES.get(usize::try_from(gives).ok()?)?;
        let from_right = match from_right {
            0 => false,
            1 => true,
            _ => return None,
        };
        let mut functions = functions.into_iter();
        let (operator, initial) = (functions.next()?, functions.next());
        let fits = functions.next().is_none() && (initial.is_some() || gives == Gives::Inclusive);
        fits.then(|| Arc::new(Scan { operator, initial, gives, from_right }) as Arc<dyn Operation>)
    },
};

impl Operation for Scan {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        let gives = GIVES.iter().position(|gives| *gives == self.gives).unwrap_or(0);
        vec![gives as i64, i64::from(self.from_right)]
    }
    fn functions(&self) -> Vec<&Function> {
        std::iter::once(&self.operator).chain(&self.initial).collect()
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let operator = next(&mut functions, &self.operator);
        let initial = self.initial.as_ref().map(|initial| next(&mut functions, initial));
        Arc::new(Scan { operator, initial, ..self.clone() })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        let less = usize::from(self.gives == Gives::Total);
        ensure(rank > 0 && rank == signature.rank + less, RANK)?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.operator, &[types, types].concat(), types)?;
        match &self.initial {
            Some(initial) => fits(initial, &[], types),
            None => ensure(self.gives == Gives::Inclusive, "a scan has nothing to begin with"),
        }
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let mut extents = shapes.same(0);
        match self.gives {
            Gives::Inclusive | Gives::Exclusive => {}
            Gives::Total => drop(extents.pop()),
            Gives::Extended => {
                let columns = extents.pop().map_or(Ok(0), |extent| shapes.number(extent))?;
                extents.push(Extent::Number(columns.saturating_add(1)));
            }
        }
        Ok(extents)
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn cost(&self) -> u32 {
        0
    }

    fn shares(&self, lowering: &Lowering<'_>, node: &Node) -> Option<Vec<i64>> {
        // Only totals come out of the kernel of another scan, and that is of the same array.
        let input = *node.inputs.first()?;
        let classes = lowering.extents.classes(input);
        let mine = [input.0.into(), i64::from(self.from_right)];
        Some(classes.iter().map(|class| *class as i64).chain(mine).collect())
    }

    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let lost = || Error::Program("a scan has no array".into());
        let mut steps = Vec::new();
        let mut waiting = group;
        while let Some(listeners) = (!waiting.is_empty()).then(|| waiting.remove(0)) {
            let scan = scan_of(lowering, &listeners).ok_or_else(lost)?;
            // Its partners: the same scan, of which one of the two gives the totals.
            let together = |other: &Listeners| {
                scan_of(lowering, other).is_some_and(|other| {
                    other.operator == scan.operator
                        && other.initial == scan.initial
                        && (other.gives == Gives::Total) != (scan.gives == Gives::Total)
                })
            };
            let other = waiting.iter().position(together).map(|position| waiting.remove(position));
            let (elements, totals) = match scan.gives {
                Gives::Total => (other, Some(listeners)),
                _ => (Some(listeners), other),
            };
            steps.extend(scan_steps(lowering, elements, totals)?);
        }
        Ok(steps)
    }

    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let operator = interpreter.evaluator(&self.operator)?;
        let initial = match &self.initial {
            Some(initial) => Some(interpreter.evaluator(initial)?(&[])?),
            None => None,
        };
        let from = interpreter.input(node, 0);
        let extents = interpreter.extents(node.inputs[0]);
        let (rows, columns) = rows_and_columns(&extents);
        let (rows, columns) = (rows as usize, columns as usize);
        let mut all = Elements::new();
        for row in 0..rows {
            let mut sum: Option<Vec<Constant>> = initial.clone();
            let mut results = Elements::new();
            for place in 0..columns {
                let column = if self.from_right { columns - 1 - place } else { place };
                let element = &from[row * columns + column];
                let next = match &sum {
                    None => element.clone(),
                    Some(sum) if self.from_right => operator(&[&element[..], sum].concat())?,
                    Some(sum) => operator(&[&sum[..], element].concat())?,
                };
                results.extend(match self.gives {
                    Gives::Inclusive => Some(next.clone()),
                    Gives::Exclusive | Gives::Extended => sum,
                    Gives::Total => None,
                });
                sum = Some(next);
            }
            if matches!(self.gives, Gives::Extended | Gives::Total) {
                results.extend(sum);
            }
            if self.from_right {
                results.reverse();
            }
            all.extend(results);
        }
        Ok(all)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The scan that some listen to.
fn scan_of<'a>(lowering: &Lowering<'a>, listeners: &Listeners) -> Option<&'a Scan> {
    lowering.program.node(listeners.producer).operation.as_any().downcast_ref::<Scan>()
}

/// Scans an array for the listeners to its elements, its totals or both.
fn scan_steps(
    lowering: &Lowering<'_>,
    elements: Option<Listeners>,
    totals: Option<Listeners>,
) -> Result<Vec<Step>, Error> {
    let lost = || Error::Program("a scan has no array".into());
    let any = elements.as_ref().or(totals.as_ref()).ok_or_else(lost)?;
    let node = lowering.program.node(any.producer);
    let (Some(scan), Some(input)) = (scan_of(lowering, any), node.inputs.first()) else { return Err(lost()) };
    let operator = lowering.fuser.with_classes(&scan.operator);
    let initial = scan.initial.as_ref().map(|initial| lowering.fuser.with_classes(initial));
    let at = lowering.fuser.rows_of_input(*input).function;
    let reduction = Reduction::scanned(at, &operator, initial.as_ref(), scan.from_right);
    let (rows, columns) = rows_and_columns(&lowering.extents.bounds(*input));
    let finished = |listeners: Option<Listeners>| {
        listeners.map_or(Vec::new(), |listeners| reduction.heard(&listeners.heard))
    };
    let job = ScanJob {
        lowering,
        node,
        reduction: &reduction,
        source: ScanSource::Array(*input, reduction.elements.clone()),
        kind: match scan.gives {
            Gives::Inclusive => ScanKind::Inclusive,
            Gives::Exclusive | Gives::Total => ScanKind::Exclusive,
            Gives::Extended => ScanKind::Extended,
        },
        from_right: scan.from_right,
        rows,
        columns,
        elements: finished(elements),
        totals: finished(totals),
    };
    job.steps(node.place.operation())
}
