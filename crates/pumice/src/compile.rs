//! Compiling and running programs: the last step from a description to results.

use crate::arguments::{Arguments, Function};
use crate::call::CallArguments;
use crate::profile::RunReport;
use crate::results::ProgramResult;
use crate::untyped::Untyped;
use pumice_array::{ArrayProgram, CheckedProgram, Described, Explanation, Launch, Plan, PlanOptions};
use pumice_kernel::Passes;
use pumice_kernel::skeletons::{Combine, Division, Skeletons};
use pumice_runtime::{Choices, Device, EmitOptions, Engine, Result, default_device, open};
use pumice_scalar::{Place, scope};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A compiler configuration: the device, and the freedoms that code generation may take.
///
/// ```
/// use pumice::{Compiler, prelude::*};
/// let compiler = Compiler::on("cpu")?.fast_math(true);
/// let roots = compiler.compile(|xs: Acc<Vector<f64>>| xs.map(|x| x.sqrt()))?;
/// assert_eq!(roots.run(&[4.0, 9.0])?.to_vec()?, [2.0, 3.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone)]
pub struct Compiler {
    device: Arc<dyn Device>,
    options: EmitOptions,
    plan: PlanOptions,
    limit: Option<Duration>,
}

impl Compiler {
    /// Returns a compiler for the default device: the one that `PUMICE_DEVICE` names, or the best one that works.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let compiler = Compiler::new()?;
    /// println!("programs run on {}", compiler.device().description());
    /// assert_eq!(compiler.run(fill(2, 7))?.to_vec()?, [7, 7]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn new() -> Result<Compiler> {
        Ok(Compiler::with(default_device()?))
    }

    /// For the device with this name: `cuda`, `opencl`, `cpu` or `sim`.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// assert_eq!(Compiler::on("sim")?.run(use_(&[1, 2]).sum())?.to_value()?, 3);
    /// assert!(Compiler::on("abacus").is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn on(device: &str) -> Result<Compiler> {
        Ok(Compiler::with(open(device)?))
    }

    /// For this device.
    ///
    /// ```
    /// use pumice::{Compiler, layers::runtime::devices::Sim, prelude::*};
    /// use std::sync::Arc;
    /// // A simulator of its own, which shares no memory with that of others.
    /// let compiler = Compiler::with(Arc::new(Sim::open()?));
    /// assert_eq!(compiler.run(fill(2, 7))?.to_vec()?, [7, 7]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn with(device: Arc<dyn Device>) -> Compiler {
        Compiler { device, options: EmitOptions::default(), plan: PlanOptions::default(), limit: None }
    }

    /// Whether floats may be computed less exactly than IEEE says, for speed: contraction, reassociation, approximate
    /// functions. Off by default.
    ///
    /// The errors that [`Exp`](crate::Exp)'s functions state do not hold then, and none do on every device: GPUs have
    /// functions with a few units of error near 0 that grow with the argument, division and square root may be off by 2
    /// units, and results of infinities, NaN, subnormal numbers and the sign of zero may be anything.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let fast = Compiler::new()?.fast_math(true).compile(|xs: Acc<Vector<f32>>| xs.map(|x| x.exp()))?;
    /// assert!((fast.run(&[1.0])?.to_vec()?[0] - 1f32.exp()).abs() < 1e-3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn fast_math(mut self, on: bool) -> Compiler {
        self.options.fast_math = on;
        self.plan.fast_math = on;
        self
    }

    /// Sets the execution scope that takes the elements of one source of an expansion. It applies where only fused consumers take the
    /// elements, and the elements themselves are not written. By default it is chosen per source: on a device with warps, a thread takes
    /// a small source, a warp a larger one, and all blocks a large one. On a device without warps, a division by warps is replaced, and
    /// equal shares of all elements without sums in memory ([`Division::Shares`]) are for no more sources than a block has threads. With
    /// [`Division::Balanced`], which is never chosen by itself, every block has an equal share on any device and of any sources, even if one of
    /// them has nearly all elements; kernels before add up the sizes, into eight bytes per source. Folds of each source (`expand_reduce`), and
    /// elements that are written in order, have divisions of their own, and so has an expansion of the elements of another one, which the thread
    /// that takes those does.
    ///
    /// ```
    /// use pumice::{kernel::skeletons::Division, prelude::*};
    /// let lengths = |sizes: Acc<Vector<i64>>| sizes.segmented_iota().histogram(9, |number| number);
    /// let program = pumice::Compiler::on("sim")?.division(Division::Several).compile(lengths)?;
    /// assert_eq!(program.run(&[2, 9, 0])?.to_vec()?, [2, 2, 1, 1, 1, 1, 1, 1, 1]);
    /// assert!(program.explain(&[2, 9, 0])?.contains("by prefix sums"));
    ///
    /// let program = pumice::Compiler::on("sim")?.division(Division::Balanced).compile(lengths)?;
    /// assert_eq!(program.run(&[0, 2, 9])?.to_vec()?, [2, 2, 1, 1, 1, 1, 1, 1, 1]);
    /// assert!(program.explain(&[0, 2, 9])?.contains("sources are found by search"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn division(mut self, division: Division) -> Compiler {
        self.plan.division = Some(division);
        self
    }

    /// Sets the number of parts, from 1 on, in which [`in_parts`](crate::Acc::in_parts) works, and comprehensions whose inner arrays need memory: each part
    /// needs that much less. By default it is 1, and a run for which the device has no memory begins again with 8 times as many.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let medians = |ns: Acc<Vector<i64>>| comp![row[n / 2] | n <- ns, let row = [n % d | d <- 1..=n].sort()];
    /// let in_three = pumice::Compiler::on("sim")?.parts(3).compile(medians)?;
    /// assert_eq!(in_three.run(&[7, 5, 8, 6])?.to_vec()?, [1, 1, 1, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn parts(mut self, parts: u32) -> Compiler {
        self.plan.parts = parts.max(1);
        self
    }

    /// Sets how `permute`, `scatter` and `histogram` combine elements at an index, where their operator allows it. By
    /// default that is chosen for the operator, the extents and the device; [`Compiled::explain`] shows the choice.
    ///
    /// ```
    /// use pumice::kernel::skeletons::Combine;
    /// use pumice::prelude::*;
    /// fn parities(xs: Acc<Vector<i32>>) -> Acc<Vector<u32>> {
    ///     xs.histogram(2, |x| (x & 1).cast::<i64>())
    /// }
    /// let program = pumice::Compiler::on("sim")?.combine(Combine::Native).compile(parities)?;
    /// assert!(program.explain(&[3, 1, 2])?.contains("native atomics"));
    /// assert_eq!(program.run(&[3, 1, 2])?.to_vec()?, [1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn combine(mut self, how: Combine) -> Compiler {
        self.plan.combine = Some(how);
        self
    }

    /// Whether operations are fused. On by default; off, every array is written to memory, which helps to find errors.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let program = |xs: Acc<Vector<i32>>| xs.map(|x| x + 1).sum();
    /// let (fused, unfused) = (Compiler::on("sim")?, Compiler::on("sim")?.fuse(false));
    /// let fused = fused.compile(program)?.skeletons(&[1, 2])?.len();
    /// assert!(fused < unfused.compile(program)?.skeletons(&[1, 2])?.len());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn fuse(mut self, on: bool) -> Compiler {
        self.plan.fuse = on;
        self
    }

    /// Whether arrays that are described alike are computed once. On by default.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let twice = |xs: Acc<Vector<i32>>| (xs.clone().sort().reverse(), xs.sort().sum());
    /// let compiler = pumice::Compiler::on("sim")?;
    /// let once = compiler.compile(twice)?.skeletons(&[2, 1])?.len();
    /// assert!(once < compiler.share(false).compile(twice)?.skeletons(&[2, 1])?.len());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn share(mut self, on: bool) -> Compiler {
        self.plan.share = on;
        self
    }

    /// Whether arrays that need the same elements are computed by one kernel: several folds of an array, say, or several consumers of
    /// an expansion. On by default.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let both = |xs: Acc<Vector<f32>>| (xs.clone().sum(), xs.max());
    /// let compiler = pumice::Compiler::on("sim")?;
    /// assert_eq!(compiler.compile(both)?.skeletons(&[1.0])?.len(), 1);
    /// assert_eq!(compiler.together(false).compile(both)?.skeletons(&[1.0])?.len(), 2);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn together(mut self, on: bool) -> Compiler {
        self.plan.together = on;
        self
    }

    /// Whether a loop over arrays that fit one block is one kernel, of one block: then its rounds cost no launches, and the host does not
    /// read its condition. On by default. [`Compiled::explain`](crate::Compiled::explain) says why a loop is run by the host.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let doubled = |xs: Acc<Vector<i32>>| awhile(xs, |xs| xs.any(|x| x.lt(100)), |xs| xs.map(|x| x * 2));
    /// let compiler = pumice::Compiler::on("sim")?;
    /// let program = compiler.compile(doubled)?;
    /// assert_eq!(program.run(&[1, 50])?.to_vec()?, [128, 6400]);
    /// assert_eq!(program.skeletons(&[1, 50])?.len(), 1);
    /// assert_eq!(compiler.small_loops(false).compile(doubled)?.run(&[1, 50])?.to_vec()?, [128, 6400]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn small_loops(mut self, on: bool) -> Compiler {
        self.plan.small_loops = on;
        self
    }

    /// Whether arrays are moved out of loops that do not change them, and into the side of a branch that alone needs them. On by
    /// default.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let scaled = |xs: Acc<Vector<f32>>| iterate(3, xs.clone(), |ys| ys.map(|y| y / xs.clone().max().the()));
    /// let compiler = pumice::Compiler::on("sim")?;
    /// let (once, each) = (compiler.clone().compile(scaled)?, compiler.float(false).compile(scaled)?);
    /// assert_eq!(once.run(&[1.0, 2.0])?.to_vec()?, each.run(&[1.0, 2.0])?.to_vec()?);
    /// // The largest element is found before the loop, or in each of its rounds.
    /// assert!(once.plan(&[1.0])?.launches().any(|launch| launch.place.operation() == "max"));
    /// assert!(!each.plan(&[1.0])?.launches().any(|launch| launch.place.operation() == "max"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn float(mut self, on: bool) -> Compiler {
        self.plan.float = on;
        self
    }

    /// Whether neighbouring accesses become wide ones where the device has them. On by default.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let narrow = Compiler::on("sim")?.vectorise(false).compile(|xs: Acc<Vector<f32>>| xs.map(|x| -x))?;
    /// assert_eq!(narrow.run(&[1.0, 2.0])?.to_vec()?, [-1.0, -2.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn vectorise(mut self, on: bool) -> Compiler {
        self.plan.vectorise = on;
        self
    }

    /// Sets whether a round of a loop writes its results over its inputs, where every element is read only where it is written. On
    /// by default.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let apart = Compiler::on("sim")?.overwrite(false);
    /// let doubled = apart.compile(|xs: Acc<Vector<i32>>| iterate(10, xs, |xs| xs.map(|x| x + x)))?;
    /// assert_eq!(doubled.run(&[1, 2])?.to_vec()?, [1024, 2048]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn overwrite(mut self, on: bool) -> Compiler {
        self.plan.overwrite = on;
        self
    }

    /// Whether index arithmetic is done in 32 bits where that provably suffices. On by default.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let wide = Compiler::on("sim")?.narrow(false).compile(|xs: Acc<Vector<f32>>| xs.reverse())?;
    /// assert_eq!(wide.run(&[1.0, 2.0])?.to_vec()?, [2.0, 1.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn narrow(mut self, on: bool) -> Compiler {
        self.plan.narrow = on;
        self
    }

    /// Sets a time limit for each run of a program or kernel that this compiles, from its first launch on.
    /// A run that takes longer is stopped, its result is an [`Error::Deadline`](crate::Error::Deadline) when it is looked at, and the device is
    /// free for the next run. Without a deadline, which is the default, nothing is spent on it.
    ///
    /// Loops that may go on for ever (`while_`) are left, and no further block is begun; a block without such a loop runs
    /// to its end. A loop over arrays (`awhile`) begins no further round. On `cuda`, the time of a launch is that of the
    /// device's clock. On `opencl`, kernels are stopped through memory that the host writes while they run: that works where a
    /// device shares the host's memory, as PoCL does, and OpenCL promises it nowhere. With a deadline, launches on `opencl`
    /// wait for their end.
    ///
    /// ```
    /// use pumice::{Compiler, Error, prelude::*};
    /// use std::time::Duration;
    /// let compiler = Compiler::on("cpu")?.deadline(Duration::from_millis(100));
    /// let halves = compiler.compile(|xs: Acc<Vector<f32>>| {
    ///     // Never negative.
    ///     xs.map(|x| while_(x, |x| x.ge(0.0), |x| x * 0.5))
    /// })?;
    /// let error = halves.run(&[1.0])?.to_vec().map_err(Error::from);
    /// assert!(matches!(error, Err(Error::Deadline { .. })));
    /// assert_eq!(halves.run(&[-1.0])?.to_vec()?, [-1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn deadline(mut self, limit: Duration) -> Compiler {
        self.limit = Some(limit);
        self
    }

    /// Returns the time limit of a run, if there is one.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Skeletons to use in place of ours: how rows are folded and arrays are written, as functions of the kernel language.
    ///
    /// ```
    /// use pumice::kernel::Pull;
    /// use pumice::kernel::skeletons::{FoldRows, Skeletons, fold_skeleton};
    /// use pumice::{Compiler, prelude::*};
    /// // One thread a row.
    /// let alone = fold_skeleton("alone", 64, |fold: FoldRows, _| {
    ///     let FoldRows { rows, matrix, operator, neutral, .. } = fold;
    ///     Pull::new(rows, move |row| matrix.at(row).seq_reduce(neutral.clone(), &*operator)).push()
    /// });
    /// let skeletons = Skeletons { fold: Some(alone), ..Skeletons::default() };
    /// let compiler = Compiler::on("cpu")?.skeletons(skeletons);
    /// let sums = compiler.compile(|m: Acc<Matrix<f32>>| m.sum())?;
    /// let m = Matrix::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(sums.run(&m)?.to_vec()?, [3.0, 7.0]);
    /// assert!(sums.explain(&m)?.contains("by alone"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn skeletons(mut self, skeletons: Skeletons) -> Compiler {
        self.plan.skeletons = skeletons;
        self
    }

    /// The device.
    ///
    /// ```
    /// assert_eq!(pumice::Compiler::on("sim")?.device().name().to_string(), "sim");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The bytes of the device's memory that arrays, runs and copies of host arrays hold in this process. Free memory that is kept
    /// to be used again does not count.
    ///
    /// ```
    /// use pumice::{Compiler, layers::runtime::devices::Sim, prelude::*};
    /// let compiler = Compiler::with(std::sync::Arc::new(Sim::open()?));
    /// let (ones, twos) = compiler.run((fill(1000, 1i32), fill(500, 2i32)))?;
    /// assert_eq!(compiler.memory_in_use(), 6000);
    /// drop(ones);
    /// assert_eq!(compiler.memory_in_use(), 2000);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn memory_in_use(&self) -> usize {
        Engine::of(self.device.clone()).memory_in_use()
    }

    /// Returns the most bytes of [`Compiler::memory_in_use`] at a time since the last call of this function: what a run needs, if it is asked
    /// before and after.
    ///
    /// ```
    /// use pumice::{Compiler, layers::runtime::devices::Sim, prelude::*};
    /// let compiler = Compiler::with(std::sync::Arc::new(Sim::open()?));
    /// let sums = compiler.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x * x).scanl1(|a, b| a + b).reverse().sum())?;
    /// sums.run(&[1; 10_000])?;
    /// // The argument, and little more: no array that the program describes is in memory but the scan's.
    /// assert!((80_000..90_000).contains(&compiler.most_memory_in_use()));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn most_memory_in_use(&self) -> usize {
        Engine::of(self.device.clone()).most_memory_in_use()
    }

    /// The passes over kernels that these choices ask for.
    pub(crate) fn passes(&self) -> Passes {
        Passes { vectorise: self.plan.vectorise, narrow: self.plan.narrow }
    }

    /// Returns the options of code generation.
    pub(crate) fn emit_options(&self) -> EmitOptions {
        self.options.clone()
    }

    /// Compiles a program.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// fn scaled(xs: Acc<Vector<f64>>, by: Exp<f64>) -> Acc<Vector<f64>> {
    ///     xs.map(|x| x * by)
    /// }
    /// let scaled = Compiler::new()?.compile(scaled)?;
    /// assert_eq!(scaled.run((&[1.0, 2.0], 10.0))?.to_vec()?, [10.0, 20.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn compile<P, F: Function<P>>(&self, program: F) -> Result<Compiled<P, F::Result>> {
        let place = Place::caller("argument");
        let results = scope(|| program.describe_at(place).arrays());
        Ok(Compiled::of(self.compile_program(ArrayProgram::of(&results))?))
    }

    /// Compiles a program of array IR, for front ends that have no Rust types.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// let text = "a0: [_] (i64) = use [3] {1, 2, 3}\nreturn a0\n";
    /// let program = text.parse::<ArrayProgram>().map_err(|error| pumice::Error::Invalid(error.to_string().into()))?;
    /// let numbers = Compiler::on("sim")?.compile_program(program)?.run(&Inputs::default())?;
    /// assert_eq!(numbers.extents(), [3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn compile_program(&self, program: ArrayProgram) -> Result<Untyped> {
        let (engine, program) = (Engine::of(self.device.clone()), CheckedProgram::new(program)?);
        let choices = Choices { plan: self.plan.clone(), emit: self.options.clone(), limit: self.limit };
        Untyped::new(engine, program, choices)
    }

    /// Runs a program with one result, or a tuple of several, once.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let xs = generate(5, |i| i * i);
    /// let (sum, largest) = Compiler::on("sim")?.run((xs.clone().sum(), xs.max()))?;
    /// assert_eq!((sum.to_value()?, largest.to_value()?), (30, 16));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run<R: ProgramResult>(&self, program: R) -> Result<R::Value> {
        self.compile(|| program)?.run(())
    }
}

/// Explains which kernels and memory a program without arguments needs: `acc.explain()`. Everything that [`run`] takes has it.
///
/// ```
/// use pumice::prelude::*;
/// let explained = generate(100, |i| i * i).sort().explain()?;
/// assert!(!explained.parts[0].kernels.is_empty());
/// println!("{}", explained.summary());
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Explain: ProgramResult {
    /// Explains the program as the default device would run it; see [`Compiled::explain`]. Nothing is run.
    fn explain(self) -> Result<Explanation> {
        Compiler::new()?.compile(|| self)?.explain(())
    }
}

impl<R: ProgramResult> Explain for R {}

/// Compiles a program for the default device. Its kernels are compiled when it is first run on some extents, and kept in
/// memory and on disk.
///
/// ```
/// use pumice::prelude::*;
/// let double = pumice::compile(|xs: Acc<Vector<i32>>| xs.map(|x| x + x))?;
/// assert_eq!(double.run(&[1, 2, 3])?.to_vec()?, [2, 4, 6]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn compile<P, F: Function<P>>(program: F) -> Result<Compiled<P, F::Result>> {
    Compiler::new()?.compile(program)
}

/// Runs a program with one result, or a tuple of several, once on the default device.
///
/// ```
/// use pumice::prelude::*;
/// let squares = generate(4, |i| i * i);
/// assert_eq!(pumice::run(squares.clone())?.to_vec()?, [0, 1, 4, 9]);
/// let (squares, sum) = pumice::run((squares.clone(), squares.sum()))?;
/// assert_eq!((squares.len(), sum.to_value()?), (4, 14));
/// let words = pumice::run(comp![[10 * i + j | j <- 0..i] | i <- 1..4])?;
/// assert_eq!(words.to_vecs(), [vec![10], vec![20, 21], vec![30, 31, 32]]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn run<R: ProgramResult>(program: R) -> Result<R::Value> {
    Compiler::new()?.run(program)
}

/// A compiled program with parameters `P` that returns an `R`. It can be run from any thread.
///
/// Rows of different lengths are parameters and results like others:
///
/// ```
/// use pumice::prelude::*;
/// fn sorted_and_added(rows: AccRagged<i64>, added: Exp<i64>) -> AccRagged<i64> {
///     rows.sort().map(|x| x + added)
/// }
/// let program = pumice::Compiler::on("sim")?.compile(sorted_and_added)?;
/// let rows = program.run((&Ragged::from(vec![vec![3, 1], vec![], vec![2]]), 10))?;
/// assert_eq!(rows.to_vecs(), [vec![11, 13], vec![], vec![12]]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Compiled<P, R> {
    pub(crate) untyped: Arc<Untyped>,
    of: PhantomData<fn(P) -> R>,
}

impl<P, R> Compiled<P, R> {
    /// A program that takes a `P` and gives an `R`.
    pub(crate) fn of(untyped: Untyped) -> Compiled<P, R> {
        Compiled { untyped: Arc::new(untyped), of: PhantomData }
    }
}

/// The same program: its plans and kernels are shared.
impl<P, R> Clone for Compiled<P, R> {
    fn clone(&self) -> Compiled<P, R> {
        Compiled { untyped: self.untyped.clone(), of: PhantomData }
    }
}

impl<P, R: ProgramResult> Compiled<P, R> {
    /// Runs the program. An array stays on the device until it is looked at; rows of different lengths are brought to the host.
    ///
    /// Several results are computed by one run, and share its outcome: if a check fails (an index out of bounds, a division by
    /// zero), each result that was computed beside it gives that error when it is looked at, whichever of them it belongs to. An
    /// argument that is returned as it is stays unchanged.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let program = pumice::compile(|m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>, by: Exp<f32>| m.matvec(v).map(|x| x * by))?;
    /// let m = Matrix::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    /// // Arrays as slices, vectors or `Array`s; a result is an argument without being brought to the host.
    /// let once = program.run((&m, &[1.0, 1.0], 1.0))?;
    /// assert_eq!(program.run((&m, &once, 10.0))?.to_vec()?, [170.0, 370.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run(&self, arguments: impl Arguments<P>) -> Result<R::Value> {
        R::value(&mut self.untyped.run_all(&arguments.collect())?.into_iter())
    }

    /// The results of this program for arrays and scalars of another one, as a part of that: `f.call(xs).map(..)`.
    ///
    /// It describes the same operations as if they were written there, so they are fused with those around them, and run
    /// on the caller's device with the caller's choices. Arrays that the program holds ([`use_`](crate::use_)) are shared, loops
    /// and branches work, and failures name the places where the program was written. A scalar argument may be any expression
    /// of the caller, also one that is computed from its arrays.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let compiler = pumice::Compiler::on("sim")?;
    /// let scaled = compiler.compile(|xs: Acc<Vector<i64>>, by: Exp<i64>| {
    ///     let scaled = xs.map(|x| x * by);
    ///     (scaled.clone(), scaled.sum())
    /// })?;
    /// let shares = compiler.compile(|xs: Acc<Vector<i64>>| {
    ///     let (scaled, total) = scaled.call((xs, 100));
    ///     scaled.map(|x| x * 100 / total.the())
    /// })?;
    /// let twice = compiler.compile(|xs: Acc<Vector<i64>>| {
    ///     let longest = xs.size();
    ///     scaled.call((scaled.call((xs, 2)).0, longest)).1
    /// })?;
    /// assert_eq!(shares.run(&[0, 300, 100])?.to_vec()?, [0, 75, 25]);
    /// assert_eq!(twice.run(&[1, 2, 3])?.to_value()?, 36);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn call(&self, arguments: impl CallArguments<P>) -> R {
        let place = Place::caller("call");
        let mut results = self.untyped.written().describe(&arguments.pass_all()).into_iter();
        R::describe(&mut |(rank, types)| {
            let missing = "a program that is called gives too few arrays";
            results.next().unwrap_or_else(|| Described::mistaken(missing, rank, types, place))
        })
    }

    /// Times the kernels of the program with inputs on the device and kernels compiled: milliseconds of `runs` runs. Where the
    /// host reads something in between, as for a loop, it is the time of a whole run by the host's clock.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let sum = pumice::compile(|xs: Acc<Vector<f32>>| xs.sum())?;
    /// let milliseconds = sum.time(vec![1.0; 1000], 3)?;
    /// assert_eq!(milliseconds.len(), 3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn time(&self, arguments: impl Arguments<P>, runs: usize) -> Result<Vec<f64>> {
        self.untyped.time(&arguments.collect(), runs)
    }

    /// Returns the plan for these arguments: the allocations, the launches, and the operations that each kernel comes from.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum())?;
    /// assert_eq!(f.plan(&[1.0, 2.0])?.launches().count(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn plan(&self, arguments: impl Arguments<P>) -> Result<Plan> {
        self.untyped.plan(&arguments.collect())
    }

    /// The launches for these arguments: each with its kernel, the operation that it comes from and the skeleton that made it.
    /// Launches of a loop or a branch are listed once, as in [`Compiled::explain`].
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum())?;
    /// let launches = f.skeletons(&[1.0, 2.0])?;
    /// assert_eq!(launches[0].skeleton, "fold");
    /// println!("{}", launches[0].program);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn skeletons(&self, arguments: impl Arguments<P>) -> Result<Vec<Launch>> {
        let foreseen = self.untyped.foresee(&arguments.collect())?;
        let plans = foreseen.iter().filter_map(|foreseen| foreseen.plan.as_ref().ok());
        Ok(plans.flat_map(Plan::launches).cloned().collect())
    }

    /// Explains which kernels and memory the program needs for these arguments, and why: as text (`Display`), as JSON and as a drawing.
    /// Nothing is run. The text has a summary, then the plan, and after it the kernels of its launches in the text form of Program IR.
    /// If the plan ends with a loop or a branch, the plans of its programs follow, for the arrays of the first round. The plan of the rest
    /// comes last, if its extents do not depend on how the loop goes on.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum())?;
    /// let explained = f.explain(&[1.0, 2.0])?;
    /// assert!(explained.contains("kernel sum"));
    /// assert!(explained.summary().contains("computes map at "));
    /// assert!(explained.svg().starts_with("<svg") && explained.json().starts_with("{"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn explain(&self, arguments: impl Arguments<P>) -> Result<Explanation> {
        self.untyped.explain(&arguments.collect())
    }

    /// Runs the program twice and reports the time of the second run: each kernel by the device's own clock where it has one, transfers,
    /// bytes per second, and the share of the device's limits ([`Ceilings`](crate::Ceilings), which are measured when a device is
    /// first asked about). Results are brought to the host. While it runs, kernels are launched one by one: a loop that a GPU would
    /// go through by itself asks the host in every round.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum())?;
    /// let report = f.profile(&vec![1.0; 1000])?;
    /// assert_eq!(report.queue.len(), 1);
    /// assert_eq!(report.queue[0].bytes, 4004);
    /// assert_eq!((report.uploads.bytes, report.downloads.bytes), (4000, 4));
    /// println!("{report}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn profile(&self, arguments: impl Arguments<P>) -> Result<RunReport> {
        self.untyped.profile(&arguments.collect())
    }

    /// The program in the array language's text form.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.sum())?;
    /// assert!(f.describe().contains("a1: [] (f32) = fold (a0)"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn describe(&self) -> String {
        self.untyped.describe()
    }

    /// The program.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.sum())?;
    /// assert_eq!(f.program().results().len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn program(&self) -> &CheckedProgram {
        self.untyped.program()
    }

    /// The device that it runs on.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|n: Exp<i64>| fill(n, 0))?;
    /// assert_eq!(f.device().name().to_string(), "sim");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn device(&self) -> &Arc<dyn Device> {
        self.untyped.device()
    }
}
