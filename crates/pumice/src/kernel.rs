//! The kernel language, and kernels as typed values: programs with `Pull`, `Push` and levels run on every device.
//!
//! A function on [`Pull`] arrays becomes a kernel with [`Compiler::kernel`], and [`Kernel::run`] launches it:
//!
//! ```
//! use pumice::Compiler;
//! use pumice::kernel::{Grid, Ix, Pull, Push};
//!
//! fn reversed(xs: Pull<f32, Ix>) -> Push<Grid, f32, Ix> {
//!     xs.reverse().push()
//! }
//! let reverse = Compiler::on("cpu")?.kernel("reverse", 256, reversed)?;
//! assert_eq!(reverse.run(&[1.0, 2.0, 3.0])?.to_vec()?, [3.0, 2.0, 1.0]);
//! # Ok::<(), pumice::Error>(())
//! ```
//!
//! This file adds types to the runtime's functions; it decides nothing about kernels or launches itself.

mod apply;
mod arguments;

use crate::Compiler;
use pumice_array::{Array, Dim1, IntoArray, Shape};
use pumice_program::simulate::Report;
use pumice_program::{Program, Verified};
use pumice_runtime::devices::Sim;
use pumice_runtime::{Callable, Engine, Error, Result};
use pumice_scalar::{Elt, Place, PlacedMessage};
use std::marker::PhantomData;
use std::sync::Arc;

pub use apply::{Feeds, Inputs, apply};
pub use arguments::{Arguments, Gives};
pub use pumice_kernel::{
    Any, AnyLevel, AtomicElt, AtomicOp, Binding, Block, BuildError, Definition, Dynamic, Forced, Forces,
    Grid, IntoSize, Item, ItemForm, Ix, KernelFunction, KernelParameter, KernelResult, Layout, Length, Level,
    Loops, Mutable, Order, Outcome, ParameterKind, Placed, PreviewError, Profile, Pull, Push, Round, Rows,
    Scalars, Size, StaticLength, Storable, Thread, Value, Warp, Window, Within, accumulate, block_threads,
    block_warps, comment, cond, define, define_data, fence_block, fence_grid, force_scalar, force_windows,
    generate, iota, named, on_behalf, parallel, parts_for, power, preview, quotient, remainder, replicate,
    seq_for, seq_until, skeletons, warp, while_, written_at,
};

/// A kernel: parameters `P`, and a result with elements `T`. It can be run from any thread.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, Push};
/// use pumice::{Compiler, Exp};
///
/// fn scaled(factor: Exp<f32>, xs: Pull<f32, Ix>) -> Push<Grid, f32, Ix> {
///     xs.map(move |x| factor * x).push()
/// }
/// let scale = Compiler::on("sim")?.kernel("scale", 64, scaled)?;
/// let once = scale.run((2.0, &[1.0, 2.0]))?;
/// // The first result is still on the device, and is used there.
/// assert_eq!(scale.run((10.0, &once))?.to_vec()?, [20.0, 40.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Kernel<P, T> {
    callable: Callable,
    of: PhantomData<fn(P) -> T>,
}

impl Compiler {
    /// Makes a kernel of a function in the kernel language, with blocks of `threads` threads. It is compiled when it is
    /// first run with arrays of some lengths, and kept in memory and on disk.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::kernel::{Grid, Ix, Pull, Push};
    /// let compiler = Compiler::on("cpu")?;
    /// let doubled = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.map(|x| x + x).push() };
    /// let double = compiler.kernel("double", 128, doubled)?;
    /// assert_eq!(double.run(vec![1, 2, 3])?.to_vec()?, [2, 4, 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn kernel<P, F: KernelFunction<P>>(
        &self,
        name: &str,
        threads: u32,
        f: F,
    ) -> Result<Kernel<P, <F::Result as KernelResult>::Elt>> {
        let place = Place::caller(name);
        let definition = pumice_kernel::define(name, threads, f).map_err(|error| {
            Error::Invalid(PlacedMessage::naming(place, format!("kernel {place} cannot be built: {error}")))
        })?;
        let engine = Engine::of(self.device().clone());
        let callable = Callable::new(engine, definition, self.passes(), self.emit_options())?;
        let callable = callable.with_deadline(self.limit()).at(place);
        Ok(Kernel { callable, of: PhantomData })
    }

    /// Milliseconds that the launches of `work` take, by the device's clock.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::kernel::{Grid, Ix, Pull, Push};
    /// let compiler = Compiler::on("cpu")?;
    /// let copied = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.push() };
    /// let copy = compiler.kernel("copy", 128, copied)?;
    /// let xs = compiler.upload(&[1.0; 1000])?;
    /// let ms = compiler.time(|| {
    ///     let once = copy.run(&xs)?;
    ///     copy.run(&once).map(drop)
    /// })?;
    /// assert!(ms >= 0.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn time(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        self.device().time(&mut work)
    }

    /// An array with these elements in the device's memory, where kernels and programs use it without another copy.
    ///
    /// ```
    /// let compiler = pumice::Compiler::on("cpu")?;
    /// let xs = compiler.upload(&[1, 2, 3])?;
    /// assert_eq!(xs.to_vec()?, [1, 2, 3]);
    /// let m = compiler.upload(pumice::Matrix::from([[1, 2], [3, 4]]))?;
    /// assert_eq!(m.extents(), [2, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn upload<D: Shape, T: Elt>(&self, values: impl IntoArray<D, T>) -> Result<Array<D, T>> {
        let engine = Engine::of(self.device().clone());
        Ok(Array::from_data(engine.upload(values.into_array().data())?)?)
    }
}

impl<P, T: Elt> Kernel<P, T> {
    /// Launches the kernel. The result stays on the device until it is looked at; a failure in the kernel is an error
    /// then. A kernel that returns nothing gives an array without elements.
    ///
    /// An array that the kernel changes (a parameter [`Mutable`]) is changed in place if there is no other handle on it, and copied
    /// first otherwise: other handles on the same array never see the change.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::kernel::{Grid, Ix, Loops, Mutable, Pull};
    /// fn add_to(sums: Mutable<i32>, xs: Pull<i32, Ix>) {
    ///     Grid::for_each(xs.len(), &|i| {
    ///         sums.atomic_add(0, xs.at(i));
    ///     });
    /// }
    /// let compiler = Compiler::on("sim")?;
    /// let add = compiler.kernel("add_to", 64, add_to)?;
    /// let mut sums = compiler.upload(&[100])?;
    /// add.run((&mut sums, &[1, 2, 3]))?;
    /// assert_eq!(sums.to_vec()?, [106]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run(&self, arguments: impl Arguments<P>) -> Result<Array<Dim1, T>> {
        Ok(Array::from_data(self.callable.run(arguments.collect())?)?)
    }

    /// Times the kernel with its arguments on the device: milliseconds of `runs` launches. An array that it changes is
    /// changed every time.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::kernel::{Grid, Ix, Pull, Push};
    /// let copied = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.push() };
    /// let copy = Compiler::on("cpu")?.kernel("copy", 128, copied)?;
    /// assert_eq!(copy.time(&[0.5; 100], 3)?.len(), 3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn time(&self, arguments: impl Arguments<P>, runs: usize) -> Result<Vec<f64>> {
        self.callable.time(arguments.collect(), runs)
    }

    /// Runs the kernel on the simulator and reports what these arguments would cost on a GPU: line by line, memory
    /// sectors, bank conflicts, divergent branches, barriers. A race or another fault is an error that names both places.
    ///
    /// ```
    /// use pumice::Compiler;
    /// use pumice::kernel::{Grid, Ix, Pull, Push};
    /// let every_eighth = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.every_nth(8).push() };
    /// let kernel = Compiler::on("cpu")?.kernel("every_eighth", 32, every_eighth)?;
    /// let report = kernel.simulate(&[0.5; 256])?;
    /// // One warp: its loads touch a sector of 32 bytes each, its stores four in all.
    /// assert_eq!(report.costs.global_loads.sectors, 32);
    /// assert_eq!(report.costs.global_stores.sectors, 4);
    /// println!("{report}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn simulate(&self, arguments: impl Arguments<P>) -> Result<Report> {
        let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
        let passes = self.callable.passes();
        let simulated =
            Callable::new(Engine::of(sim.clone()), self.definition().clone(), passes, Default::default())?;
        simulated.run(arguments.collect())?;
        Ok(sim.recorded().pop().map(|launch| launch.report).unwrap_or_default())
    }

    /// The kernel as it was described, before any pass.
    ///
    /// ```
    /// # use pumice::{Compiler, kernel::{Grid, Ix, Pull, Push}};
    /// # let copied = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.push() };
    /// let copy = Compiler::on("sim")?.kernel("copy", 128, copied)?;
    /// assert_eq!(copy.program().threads, 128);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn program(&self) -> &Program {
        &self.definition().kernel().program
    }

    /// The kernel as it runs for these arguments, after all passes.
    ///
    /// ```
    /// # use pumice::{Compiler, kernel::{Grid, Ix, Pull, Push}};
    /// # let copied = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.push() };
    /// let copy = Compiler::on("sim")?.kernel("copy", 128, copied)?;
    /// println!("{}", copy.program_for(&[1.0, 2.0])?);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn program_for(&self, arguments: impl Arguments<P>) -> Result<Arc<Verified>> {
        self.callable.specialised(&arguments.collect())
    }

    /// Returns the definition: the program, and the meaning of its parameters.
    ///
    /// ```
    /// # use pumice::{Compiler, kernel::{Grid, Ix, Pull, Push}};
    /// # let copied = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.push() };
    /// let copy = Compiler::on("sim")?.kernel("copy", 128, copied)?;
    /// assert_eq!(copy.definition().parameters().len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn definition(&self) -> &Definition {
        self.callable.definition()
    }
}
