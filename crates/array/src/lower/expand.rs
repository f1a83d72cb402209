//! Expansions as producers: the kernels in which the elements of all sources are handed on.

use super::{KernelName, Listeners, Lowering, Step};
use crate::error::Error;
use crate::operations::Expand;
use pumice_kernel::skeletons::{ExpandPlan, Expansion};
use pumice_kernel::{Ix, Scalars};
use pumice_scalar::{Exp, Function};
use std::rc::Rc;

impl Lowering<'_> {
    /// The steps that hand on the elements of an expansion.
    pub(crate) fn expand(&self, expand: &Expand, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in group {
            let node = self.program.node(listeners.producer);
            let Some(sources) = node.inputs.first().copied() else { continue };
            let source = self.fuser.linear_of_input(sources).function;
            let (size, get) = (self.fuser.with_classes(&expand.size), self.fuser.with_classes(&expand.get));
            let plan = ExpandPlan::new(self.profile, self.extents.size(sources));
            let called = KernelName {
                node,
                name: node.place.operation(),
                skeleton: "expand, a source per thread",
                threads: plan.threads,
            };
            steps.extend(self.kernel(called, &listeners, |parameters| {
                let apply = |function: Function| {
                    let parameters = parameters.clone();
                    move |scalars: &[&Scalars]| parameters.apply_to(&function, scalars)
                };
                let (source, size, get) = (apply(source), apply(size), apply(get));
                let expansion = Expansion {
                    sources: self.size(sources, parameters),
                    source: Rc::new(move |number: Ix| source(&[&Scalars(vec![number.term()])])),
                    size: Rc::new(move |of| {
                        let size = size(&[of]).0.first().map_or(Exp::from(0), |size| Exp::from_term(*size));
                        size.max(0)
                    }),
                    get: Rc::new(move |of, number| get(&[of, &Scalars(vec![number.term()])])),
                };
                expansion.push(plan, parameters.number("blocks", plan.blocks.into()))
            })?);
        }
        Ok(steps)
    }
}
