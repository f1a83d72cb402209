//! Auto-tuning: finds which numbers make a program fastest on a device, and remembers them.
//!
//! A [`Space`] has the parameters (threads of a block, items of a thread, rounds that are unrolled) and the
//! size of the inputs; a function times a choice; a [`Strategy`] decides which choices are timed. The best one is kept beside the
//! compiled kernels, for this device and inputs of about this size, and [`best`] finds it from then on:
//!
//! ```
//! use pumice::Compiler;
//! use pumice::kernel::{Grid, Ix, Pull, Push};
//! use pumice::tune::{Space, Strategy, tune};
//!
//! let compiler = Compiler::on("cpu")?;
//! let xs = compiler.upload(&[1.0f32; 4096])?;
//! let doubled = |xs: Pull<f32, Ix>| -> Push<Grid, f32, Ix> { xs.map(|x| x + x).push() };
//! let space = Space::new(xs.len()).with("threads", [32, 64, 128]);
//! let tuned = tune(&compiler, "doc_double", &space, Strategy::Exhaustive, |choice| {
//!     let kernel = compiler.kernel("double", choice.get("threads") as u32, doubled)?;
//!     Ok(kernel.time(&xs, 1)?[0])
//! })?;
//! assert_eq!(tuned.measurements.len(), 3);
//! # Ok::<(), pumice::Error>(())
//! ```
//!
//! Nothing here knows the tuned program, and nothing that is stored is trusted: a choice that the space does not have counts
//! as none.

use crate::Compiler;
use pumice_runtime::{Engine, Error, Result};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

/// A number that can be chosen.
///
/// ```
/// use pumice::tune::Parameter;
/// let threads = Parameter { name: "threads".into(), values: vec![64, 128, 256] };
/// assert_eq!(threads.values.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// The values to choose from; neighbours in this list are neighbours for [`Strategy::HillClimb`].
    pub values: Vec<i64>,
}

/// A search space: the parameters that can be chosen, for inputs of some size.
///
/// ```
/// use pumice::tune::Space;
/// let space = Space::new(1 << 20).with("threads", [64, 128, 256]).with("items", [1, 2, 4]);
/// assert_eq!(space.len(), 9);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    parameters: Vec<Parameter>,
    size: usize,
}

impl Space {
    /// Returns an empty space, for inputs of about `size` elements. Sizes with the same number of binary digits share their best choice.
    ///
    /// ```
    /// use pumice::tune::Space;
    /// assert_eq!(Space::new(1000).len(), 1);
    /// ```
    pub fn new(size: usize) -> Space {
        Space { parameters: Vec::new(), size }
    }

    /// The same with one more number to choose.
    ///
    /// ```
    /// use pumice::tune::Space;
    /// let space = Space::new(1000).with("threads", [64, 128, 128]);
    /// assert_eq!(space.parameters()[0].values, [64, 128]);
    /// ```
    pub fn with(mut self, name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Space {
        let mut values: Vec<i64> = values.into_iter().collect();
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(*value));
        self.parameters.push(Parameter { name: name.into(), values });
        self
    }

    /// The numbers to choose.
    ///
    /// ```
    /// use pumice::tune::Space;
    /// assert_eq!(Space::new(1000).with("threads", [64, 128]).parameters()[0].name, "threads");
    /// ```
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the number of choices.
    ///
    /// ```
    /// use pumice::tune::Space;
    /// assert_eq!(Space::new(1000).with("threads", [64, 128]).with("items", [1, 2, 4]).len(), 6);
    /// ```
    pub fn len(&self) -> u128 {
        self.parameters.iter().fold(1, |all, parameter| all.saturating_mul(parameter.values.len() as u128))
    }

    /// Returns `true` if there is no choice.
    ///
    /// ```
    /// use pumice::tune::Space;
    /// assert!(Space::new(1000).with("threads", []).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size class: the number of the size's binary digits.
    fn size_class(&self) -> u32 {
        usize::BITS - self.size.leading_zeros()
    }

    fn choice(&self, point: &[usize]) -> Choice {
        let value = |(parameter, position): (&Parameter, &usize)| {
            (parameter.name.clone(), parameter.values.get(*position).copied().unwrap_or(0))
        };
        Choice(self.parameters.iter().zip(point).map(value).collect())
    }

    /// The choice with this number, counted in the order of the parameters' values, the last one fastest.
    fn point(&self, number: u128) -> Vec<usize> {
        let mut rest = number;
        let digits = self.parameters.iter().rev().map(|parameter| {
            let count = (parameter.values.len() as u128).max(1);
            let digit = (rest % count) as usize;
            rest /= count;
            digit
        });
        let mut point: Vec<usize> = digits.collect();
        point.reverse();
        point
    }

    /// The choices that differ in one parameter by one step.
    fn neighbours(&self, point: &[usize]) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for (position, parameter) in self.parameters.iter().enumerate() {
            let (low, high) = (point[position].checked_sub(1), point[position] + 1);
            for value in low.into_iter().chain((high < parameter.values.len()).then_some(high)) {
                let mut neighbour = point.to_vec();
                neighbour[position] = value;
                all.push(neighbour);
            }
        }
        all
    }
}

/// A value for each parameter of a space.
///
/// ```
/// use pumice::tune::{Space, Strategy, search};
/// let space = Space::new(1000).with("items", [1, 2, 4]);
/// let found = search(&space, Strategy::Exhaustive, |choice| Ok(10.0 / choice.get("items") as f64))?;
/// assert_eq!(found.best.get("items"), 4);
/// assert_eq!(found.best.to_string(), "items=4");
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice(Vec<(String, i64)>);

impl Choice {
    /// The value of a parameter; 0 for a name that the space does not have.
    ///
    /// ```
    /// use pumice::tune::Choice;
    /// assert_eq!(Choice::default().get("threads"), 0);
    /// ```
    pub fn get(&self, name: &str) -> i64 {
        self.0.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value)
    }

    /// Names and values, in the order of the space.
    ///
    /// ```
    /// use pumice::tune::{Space, Strategy, search};
    /// let space = Space::new(1000).with("threads", [64]).with("items", [2]);
    /// let found = search(&space, Strategy::Exhaustive, |_| Ok(1.0))?;
    /// assert_eq!(found.best.values().collect::<Vec<_>>(), [("threads", 64), ("items", 2)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn values(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.0.iter().enumerate() {
            let space = if position == 0 { "" } else { " " };
            write!(f, "{space}{name}={value}")?;
        }
        Ok(())
    }
}

/// A search strategy: the choices that are timed. The same seed draws the same choices.
///
/// ```
/// use pumice::tune::{Space, Strategy, search};
/// let space = Space::new(1000).with("x", 0..100).with("y", 0..100);
/// let valley = |x: i64, y: i64| 1.0 + ((x - 30).pow(2) + (y - 60).pow(2)) as f64;
/// let found = search(&space, Strategy::HillClimb { restarts: 2, seed: 1 }, |choice| {
///     Ok(valley(choice.get("x"), choice.get("y")))
/// })?;
/// assert_eq!(found.best.to_string(), "x=30 y=60");
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Times all choices.
    Exhaustive,
    /// Times some choices, drawn at random.
    Random {
        /// Number of choices to draw; all are timed if there are no more.
        tries: usize,
        /// Seed of the random numbers.
        seed: u64,
    },
    /// Goes from a choice drawn at random to its best neighbour as long as that is faster; several times.
    HillClimb {
        /// Number of random starts.
        restarts: usize,
        /// Seed of the random numbers.
        seed: u64,
    },
}

/// A choice with its time.
///
/// ```
/// use pumice::tune::{Space, Strategy, search};
/// let found = search(&Space::new(1000).with("items", [1, 2]), Strategy::Exhaustive, |choice| {
///     Ok(choice.get("items") as f64)
/// })?;
/// assert_eq!(found.measurements[1].choice.get("items"), 2);
/// assert_eq!(found.measurements[1].milliseconds, 2.0);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The choice.
    pub choice: Choice,
    /// The median of its times, in milliseconds.
    pub milliseconds: f64,
}

/// Result of a search.
///
/// ```
/// use pumice::tune::{Space, Strategy, search};
/// let space = Space::new(10).with("threads", [32, 64, 4096]);
/// let found = search(&space, Strategy::Exhaustive, |choice| match choice.get("threads") {
///     4096 => Err(pumice::Error::Invalid("too many threads".into())),
///     threads => Ok(100.0 / threads as f64),
/// })?;
/// assert_eq!(found.best.get("threads"), 64);
/// assert_eq!((found.measurements.len(), found.infeasible), (2, 1));
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The fastest choice.
    pub best: Choice,
    /// Its time, in milliseconds.
    pub milliseconds: f64,
    /// Every choice that was timed, in order.
    pub measurements: Vec<Measurement>,
    /// Number of choices that could not run.
    pub infeasible: usize,
}

/// Timings of a choice, of which the median counts.
const TIMINGS: usize = 5;

/// Times choices by a strategy and gives the fastest. A choice of which `time` gives an error cannot run and is left out;
/// it is an error only if none can.
///
/// See [`Tuned`] for an example.
///
/// ```
/// use pumice::tune::{Space, Strategy, search};
/// let space = Space::new(1000).with("items", [1, 2, 4]);
/// let found = search(&space, Strategy::Exhaustive, |choice| Ok((choice.get("items") as f64 - 2.0).abs()))?;
/// assert_eq!(found.best.get("items"), 2);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn search(space: &Space, strategy: Strategy, time: impl FnMut(&Choice) -> Result<f64>) -> Result<Tuned> {
    if space.is_empty() {
        return Err(Error::Invalid("a parameter to tune has no values".into()));
    }
    let mut search = Search { space, time, known: HashMap::new(), order: Vec::new(), error: None };
    match strategy {
        Strategy::Exhaustive => search.exhaust(),
        Strategy::Random { tries, seed } => search.random(tries, seed),
        Strategy::HillClimb { restarts, seed } => search.climb(restarts, seed),
    }
    search.finish()
}

/// Times choices by a strategy, gives the fastest, and remembers it for this program on the compiler's device and for
/// inputs of about this size; see [`best`]. Trouble with remembering is no error.
///
/// See the [module](self) for an example.
///
/// ```
/// use pumice::Compiler;
/// use pumice::tune::{Space, Strategy, best, tune};
/// let (compiler, space) = (Compiler::on("sim")?, Space::new(1000).with("items", [1, 2, 4]));
/// let tuned = tune(&compiler, "doc_tune", &space, Strategy::Exhaustive, |choice| Ok(choice.get("items") as f64))?;
/// assert_eq!(tuned.best.get("items"), 1);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn tune(
    compiler: &Compiler,
    program: &str,
    space: &Space,
    strategy: Strategy,
    time: impl FnMut(&Choice) -> Result<f64>,
) -> Result<Tuned> {
    let tuned = search(space, strategy, time)?;
    let engine = Engine::of(compiler.device().clone());
    engine.kernels().remember(&key(compiler, program, space), write(program, &tuned).as_bytes());
    Ok(tuned)
}

/// The choice that [`tune`] found best for this program on the compiler's device and inputs of about this size, in this
/// process or one before. A program that was never tuned has none.
///
/// ```
/// use pumice::Compiler;
/// use pumice::tune::{Space, Strategy, best, tune};
/// let (compiler, space) = (Compiler::on("sim")?, Space::new(1000).with("items", [1, 2, 4]));
/// tune(&compiler, "doc_best", &space, Strategy::Exhaustive, |choice| Ok(choice.get("items") as f64))?;
/// assert_eq!(best(&compiler, "doc_best", &space).map(|choice| choice.get("items")), Some(1));
/// assert_eq!(best(&compiler, "never tuned", &space), None);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn best(compiler: &Compiler, program: &str, space: &Space) -> Option<Choice> {
    let engine = Engine::of(compiler.device().clone());
    read(&engine.kernels().recall(&key(compiler, program, space))?, space)
}

/// The file in which the best choice is remembered, whether it is there or not; nothing if there is no folder for it.
///
/// ```
/// use pumice::tune::{Space, kept_in};
/// let space = Space::new(1000).with("items", [1, 2, 4]);
/// println!("{:?}", kept_in(&pumice::Compiler::on("sim")?, "program", &space));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn kept_in(compiler: &Compiler, program: &str, space: &Space) -> Option<PathBuf> {
    let engine = Engine::of(compiler.device().clone());
    engine.kernels().remembered_in(&key(compiler, program, space))
}

/// Returns the key that a choice is stored under.
fn key(compiler: &Compiler, program: &str, space: &Space) -> Vec<String> {
    let device = compiler.device();
    let parameters = space.parameters.iter().map(|parameter| format!("{parameter:?}"));
    let fixed = ["tuned".into(), program.into(), device.name().kind().into(), device.fingerprint()];
    fixed.into_iter().chain([space.size_class().to_string()]).chain(parameters).collect()
}

/// First line of a stored choice; the number changes with the format.
const HEADER: &str = "pumice tuned 1";

/// Writes the text that is stored: a line for people, the time, and a line per parameter.
fn write(program: &str, tuned: &Tuned) -> String {
    let name: String = program.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut text = format!("{HEADER}\nprogram {name}\nmilliseconds {}\n", tuned.milliseconds);
    for (_, value) in tuned.best.values() {
        text.push_str(&format!("value {value}\n"));
    }
    text
}

/// Reads a stored choice; `None` unless it is one of the space.
fn read(bytes: &[u8], space: &Space) -> Option<Choice> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    if lines.next()? != HEADER {
        return None;
    }
    lines.next()?.strip_prefix("program ")?;
    lines.next()?.strip_prefix("milliseconds ")?.parse::<f64>().ok()?;
    let mut point = Vec::new();
    for parameter in &space.parameters {
        let value: i64 = lines.next()?.strip_prefix("value ")?.parse().ok()?;
        point.push(parameter.values.iter().position(|known| *known == value)?);
    }
    lines.next().is_none().then(|| space.choice(&point))
}

/// A search under way.
struct Search<'a, F> {
    space: &'a Space,
    time: F,
    /// The times of choices; nothing for those that cannot run.
    known: HashMap<Vec<usize>, Option<f64>>,
    /// The choices that were tried, in order.
    order: Vec<Vec<usize>>,
    /// Why the first choice that could not run could not.
    error: Option<Error>,
}

impl<F: FnMut(&Choice) -> Result<f64>> Search<'_, F> {
    /// The time of a choice, unless it cannot run.
    fn measure(&mut self, point: &[usize]) -> Option<f64> {
        if let Some(known) = self.known.get(point) {
            return *known;
        }
        let choice = self.space.choice(point);
        let timings = (0..TIMINGS).map(|_| match (self.time)(&choice) {
            Ok(time) if time.is_finite() && time >= 0.0 => Ok(time),
            Ok(time) => Err(Error::Invalid(format!("{time} milliseconds are no time").into())),
            Err(error) => Err(error),
        });
        let time = match timings.collect::<Result<Vec<f64>>>() {
            Ok(mut timings) => {
                timings.sort_by(f64::total_cmp);
                timings.get(TIMINGS / 2).copied()
            }
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        };
        self.known.insert(point.to_vec(), time);
        self.order.push(point.to_vec());
        time
    }

    fn exhaust(&mut self) {
        for number in 0..self.space.len() {
            self.measure(&self.space.point(number));
        }
    }

    fn random(&mut self, tries: usize, seed: u64) {
        let (all, mut draw) = (self.space.len(), Draw(seed));
        if tries as u128 >= all {
            return self.exhaust();
        }
        let mut drawn = HashSet::new();
        while drawn.len() < tries {
            let number = draw.below(all);
            if drawn.insert(number) {
                self.measure(&self.space.point(number));
            }
        }
    }

    fn climb(&mut self, restarts: usize, seed: u64) {
        let (all, mut draw) = (self.space.len(), Draw(seed));
        for _ in 0..restarts.max(1) {
            // A start that can run; where most choices cannot, it takes several draws.
            let start = (0..DRAWS).find_map(|_| {
                let point = self.space.point(draw.below(all));
                self.measure(&point).map(|time| (point, time))
            });
            let Some((mut here, mut time)) = start else { continue };
            loop {
                let neighbours = self.space.neighbours(&here);
                let timed = neighbours.into_iter().filter_map(|point| Some((self.measure(&point)?, point)));
                let best = timed.collect::<Vec<_>>().into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
                match best {
                    Some((better, point)) if better < time => (here, time) = (point, better),
                    _ => break,
                }
            }
        }
    }

    fn finish(self) -> Result<Tuned> {
        let timed = self.order.iter().filter_map(|point| {
            let milliseconds = self.known.get(point).copied().flatten()?;
            Some(Measurement { choice: self.space.choice(point), milliseconds })
        });
        let measurements: Vec<Measurement> = timed.collect();
        let infeasible = self.order.len() - measurements.len();
        // The first of those that are equally fast.
        let fastest = measurements.iter().min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds)).cloned();
        match (fastest, self.error) {
            (Some(Measurement { choice, milliseconds }), _) => {
                Ok(Tuned { best: choice, milliseconds, measurements, infeasible })
            }
            (None, Some(error)) => {
                Err(Error::Invalid(format!("none of {infeasible} choices can run: {error}").into()))
            }
            (None, None) => Err(Error::Invalid("no choice was tried".into())),
        }
    }
}

/// Draws in search of a start that can run.
const DRAWS: usize = 32;

/// Random numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound, which is not 0.
    fn below(&mut self, bound: u128) -> u128 {
        (u128::from(self.next()) << 64 | u128::from(self.next())) % bound
    }
}
