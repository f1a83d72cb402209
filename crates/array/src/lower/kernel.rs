//! One kernel of an array program: built from a producer and its listeners, readied for a device, bound to buffers.

use super::{Listeners, Lowering, Parameters, Step};
use crate::error::Error;
use crate::fuser::slot_and_column;
use crate::lower::parameters::ScalarParameter;
use crate::plan::{Launch, PlanArgument};
use crate::program::Node;
use pumice_kernel::skeletons::{Listener, hand_on};
use pumice_kernel::{BuiltKernel, Dynamic, Grid, Ix, Known, Passes, Push, build, comment, on_behalf, ready};
use pumice_program::Param;
use pumice_scalar::{Constant, PlacedMessage, Site};
use std::rc::Rc;
use std::sync::Arc;

/// Name of a kernel, and the size of its blocks.
#[derive(Clone, Copy)]
pub struct KernelName<'a> {
    /// The operation that it comes from.
    pub node: &'a Node,
    /// Its own name.
    pub name: &'a str,
    /// The skeleton that makes it.
    pub skeleton: &'a str,
    /// Threads of a block.
    pub threads: u32,
}

impl Lowering<'_> {
    /// Builds the kernel in which a producer hands its elements to listeners: zeroes the memory that they need zeroed, and launches.
    pub fn kernel(
        &self,
        name: KernelName<'_>,
        listeners: &Listeners,
        producer: impl FnOnce(&Rc<Parameters>) -> Push<Grid, Dynamic, Ix>,
    ) -> Result<Vec<Step>, Error> {
        let mut complete = true;
        let launch = self.launch(name, &listeners.ways(), |parameters| {
            let heard: Vec<Rc<dyn Listener>> =
                listeners.heard.iter().map(|heard| heard.listener(parameters)).collect();
            let push = producer(parameters);
            complete = push.is_complete();
            hand_on(&push, &heard);
        })?;
        let mut steps = Vec::new();
        if !complete {
            let slots = listeners.heard.iter().filter_map(|heard| heard.consumer.written());
            steps.extend(slots.flat_map(|slot| self.buffers_of(slot)).map(Step::Zero));
        }
        steps.push(launch);
        Ok(steps)
    }

    /// Builds a kernel that `describe` describes, and readies it for the device.
    pub fn launch(
        &self,
        name: KernelName<'_>,
        ways: &[String],
        describe: impl FnOnce(&Rc<Parameters>),
    ) -> Result<Step, Error> {
        let KernelName { node, name, skeleton, threads } = name;
        if threads > self.profile.max_threads {
            let (place, most) = (node.place, self.profile.max_threads);
            return Err(Error::Program(PlacedMessage::at(
                format!("skeleton `{skeleton}` has {threads} threads in a block, and the limit is {most},"),
                place,
            )));
        }
        let parameters = Rc::new(Parameters::new(self.extents, self.cells));
        // A user's skeleton has places in the user's source already.
        let theirs = &self.options.skeletons;
        let is_users = theirs.fold.as_ref().is_some_and(|users| users.name() == skeleton)
            || theirs.write.as_ref().is_some_and(|users| users.name() == skeleton);
        let place = (!is_users).then_some(node.place);
        let built = build(name, threads, || {
            comment(node.place.to_string());
            on_behalf(place, || describe(&parameters));
        });
        let kernel = built.map_err(|error| Error::Program(PlacedMessage::at(error, node.place)))?;
        let skeleton = std::iter::once(skeleton).chain(ways.iter().map(String::as_str));
        let skeleton = skeleton.collect::<Vec<_>>().join(", ");
        self.ready(node, kernel, skeleton, &parameters)
    }

    /// Runs the passes over a kernel and finds its arguments.
    fn ready(
        &self,
        node: &Node,
        kernel: BuiltKernel,
        skeleton: String,
        parameters: &Parameters,
    ) -> Result<Step, Error> {
        let BuiltKernel { program, sites, .. } = &kernel;
        let columns = parameters.columns.borrow();
        let scalars = parameters.scalars.borrow();
        let (mut next_column, mut next_scalar) = (columns.iter(), scalars.iter());
        let lost = || Error::Program(PlacedMessage::at("a kernel's parameters are lost", node.place));
        let mut arguments = Vec::new();
        let mut known = Known::default();
        let first_site = Constant::from(self.sites.borrow().len() as i64);
        // A plan is for one value of each argument that an extent is computed from.
        let shaping = self.program.shaping_arguments();
        for param in &program.params {
            let failure = program.failure;
            let argument = match *param {
                Param::Memory(memory) if failure.is_some_and(|failure| failure.memory == memory) => {
                    PlanArgument::Failure
                }
                Param::Scalar(var) if failure.is_some_and(|failure| failure.base == var) => {
                    arguments.push(PlanArgument::Constant(first_site));
                    continue;
                }
                Param::Memory(_) => {
                    let (slot, column) = slot_and_column(next_column.next().ok_or_else(lost)?.0);
                    let buffer = self.buffers.borrow().of(slot).get(column).copied();
                    PlanArgument::Buffer(buffer.ok_or_else(lost)?)
                }
                Param::Scalar(var) => {
                    let (parameter, _) = next_scalar.next().ok_or_else(lost)?;
                    let argument = match *parameter {
                        ScalarParameter::Argument(number) => PlanArgument::Scalar(number),
                        ScalarParameter::Extent(class) => {
                            PlanArgument::Constant(Constant::from(parameters.bound(class)))
                        }
                        ScalarParameter::Number(_, value) => PlanArgument::Constant(Constant::from(value)),
                        ScalarParameter::Fixed(value) => PlanArgument::Constant(value),
                    };
                    let constant = match argument {
                        PlanArgument::Scalar(number) if shaping.contains(&number) => {
                            self.knowledge.scalars.get(number as usize).copied()
                        }
                        PlanArgument::Constant(constant) => Some(constant),
                        _ => None,
                    };
                    if let Some(value) = constant.and_then(Constant::as_integer) {
                        // Not the value itself: programs for other extents should come out the same.
                        let is_fixed = matches!(parameter, ScalarParameter::Fixed(_));
                        known.integer(var, if is_fixed { value } else { value.min(1) }, value);
                    }
                    argument
                }
            };
            arguments.push(argument);
        }
        let scalar = |argument: &PlanArgument| match argument {
            PlanArgument::Constant(constant) => Some(*constant),
            PlanArgument::Scalar(number) => self.knowledge.scalars.get(*number as usize).copied(),
            PlanArgument::Buffer(_) | PlanArgument::Failure => None,
        };
        let launch: Vec<Constant> = arguments.iter().filter_map(scalar).collect();
        kernel.check_launch(&launch).map_err(|error| Error::Shape(PlacedMessage::at(error, node.place)))?;
        let ready = ready(program.clone(), self.profile, self.passes(), &known)
            .map_err(|error| Error::Program(PlacedMessage::at(error, node.place)))?;
        let arguments = ready.bind(arguments, PlanArgument::Constant);
        // Where every check was proved away, nothing can fail.
        if ready.program.failure.is_some() {
            self.add_sites(sites);
        }
        let place = node.place;
        let (program, why) = (Arc::new(ready.program), self.reasons.take());
        // The planner adds the fused operations.
        Ok(Step::Launch(Launch { program, arguments, place, skeleton, why, fused: Vec::new() }))
    }

    /// Adds places where launches can fail; the number of the first.
    pub(crate) fn add_sites(&self, sites: &[Site]) -> usize {
        let mut all = self.sites.borrow_mut();
        all.extend(sites.iter().copied());
        all.len() - sites.len()
    }

    /// The passes over kernels that the options ask for.
    pub(crate) fn passes(&self) -> Passes {
        Passes { vectorise: self.options.vectorise, narrow: self.options.narrow }
    }
}

impl Listeners {
    fn ways(&self) -> Vec<String> {
        let mut ways = Vec::new();
        for way in self.heard.iter().filter_map(|heard| heard.consumer.way()) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }
}
