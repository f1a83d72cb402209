//! The harness of cases: runs programs and compares their results, or only plans them.

use pumice::layers::array::operations::{Argument, ZipWith};
use pumice::layers::array::{
    Array, ArrayData, ArrayProgram, CheckedProgram, Foreseen, HostData, Knowledge, PlanOptions, foresee,
};
use pumice::layers::kernel::Profile;
use pumice::layers::kernel::skeletons::Division;
use pumice::layers::program::Verified;
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{Constant, Place, ScalarType, Term, function, scope};
use pumice::{Acc, AccRagged, Arguments, Compiler, Elt, Function, ProgramResult, Ragged, Shape, Untyped};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::Arc;

/// Outcome of a case: the error has the expected and the actual result.
pub type Outcome = Result<(), String>;

/// Tolerance of float results. Other types are compared to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same bits; any NaN for a NaN.
    Exact,
    /// Units in the last place.
    Ulps(u64),
    /// Relative to the larger of 1 and the expected magnitude.
    Relative(f64),
}

/// Runs the programs of a case on a device, or plans them for one.
pub struct Harness {
    compiler: Compiler,
    planning: Option<Planning>,
}

struct Planning {
    profile: Profile,
    options: PlanOptions,
    seen: RefCell<HashSet<String>>,
    programs: RefCell<Vec<Arc<Verified>>>,
}

impl Harness {
    /// Returns a harness that runs programs with this compiler.
    pub fn running(compiler: &Compiler) -> Harness {
        Harness { compiler: compiler.clone(), planning: None }
    }

    /// Returns a harness that plans programs for a device with this profile, and runs nothing. Results are zeros of the right
    /// shape, and are not compared.
    pub fn planning(profile: &Profile, options: &PlanOptions) -> Result<Harness, String> {
        let planning = Planning {
            profile: profile.clone(),
            options: options.clone(),
            seen: RefCell::default(),
            programs: RefCell::default(),
        };
        // Describing a program takes a compiler, but its device does not matter.
        let compiler = Compiler::on("sim").map_err(|error| error.to_string())?.fuse(options.fuse);
        Ok(Harness { compiler, planning: Some(planning) })
    }

    /// Returns the kernels that were planned, each once.
    pub fn into_programs(self) -> Vec<Arc<Verified>> {
        self.planning.map_or(Vec::new(), |planning| planning.programs.into_inner())
    }

    /// Runs a case with this division of expansions.
    pub fn dividing(&self, division: Division, case: impl FnOnce(&Harness) -> Outcome) -> Outcome {
        let compiler = self.compiler.clone().division(division);
        self.with(compiler, |options| options.division = Some(division), case)
    }

    /// Runs a case in so many parts.
    pub fn in_parts(&self, parts: u32, case: impl FnOnce(&Harness) -> Outcome) -> Outcome {
        self.with(self.compiler.clone().parts(parts), |options| options.parts = parts, case)
    }

    /// Runs a case with another compiler, and with the same options where it is only planned.
    fn with(
        &self,
        compiler: Compiler,
        change: impl FnOnce(&mut PlanOptions),
        case: impl FnOnce(&Harness) -> Outcome,
    ) -> Outcome {
        let mut planning = self.planning.as_ref().map(|planning| Planning {
            profile: planning.profile.clone(),
            options: planning.options.clone(),
            seen: planning.seen.clone(),
            programs: planning.programs.clone(),
        });
        if let Some(planning) = &mut planning {
            change(&mut planning.options);
        }
        let changed = Harness { compiler, planning };
        case(&changed)?;
        if let (Some(mine), Some(theirs)) = (&self.planning, changed.planning) {
            mine.seen.swap(&theirs.seen);
            mine.programs.swap(&theirs.programs);
        }
        Ok(())
    }

    /// Returns the compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Returns whether programs are only planned, so that results mean nothing.
    pub fn is_planning(&self) -> bool {
        self.planning.is_some()
    }

    /// Describes a program, to run it several times.
    pub fn compile<P, D: Shape, T: Elt>(
        &self,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
    ) -> Result<Program<'_, P, D, T>, String> {
        let root = scope(|| program.describe().described().clone());
        Ok(Program { untyped: self.compile_program(ArrayProgram::of(&[root]))?, of: PhantomData })
    }

    /// Compiles a program. Untyped, so that it is not instantiated for each program's types.
    fn compile_program(&self, program: ArrayProgram) -> Result<UntypedProgram<'_>, String> {
        let compiled = self.compiler.compile_program(program).map_err(|error| error.to_string())?;
        Ok(UntypedProgram { harness: self, compiled })
    }

    /// Runs a program once.
    pub fn run<P, D: Shape, T: Elt>(
        &self,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
        arguments: impl Arguments<P>,
    ) -> Result<Array<D, T>, String> {
        self.compile(program)?.run(arguments)
    }

    /// Runs a program once and compares the elements of its result, to the bit.
    pub fn check<P, D: Shape, T: Elt>(
        &self,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
        arguments: impl Arguments<P>,
        expected: &[T],
    ) -> Outcome {
        self.compile(program)?.check(arguments, expected)
    }

    /// Runs a function of each element of a vector, with any number of scalar results called `names`, and compares
    /// the results, element by element.
    #[track_caller]
    pub fn check_table(
        &self,
        input: &Arc<dyn ArrayData>,
        expressions: &dyn Fn(&[Term]) -> Vec<Term>,
        expected: &[Constant],
        tolerance: Tolerance,
        names: &[&str],
    ) -> Outcome {
        match self.run_table(input, expressions)? {
            Some(found) => compare(&found, expected, names.len(), tolerance, names),
            None => Ok(()),
        }
    }

    /// Runs a function of each element of a vector, with any number of scalar results, and returns the results, element by
    /// element; `None` if programs are only planned. It is untyped, so that rustc compiles a large table of
    /// expressions quickly.
    #[track_caller]
    pub fn run_table(
        &self,
        input: &Arc<dyn ArrayData>,
        expressions: &dyn Fn(&[Term]) -> Vec<Term>,
    ) -> Result<Option<Vec<Constant>>, String> {
        let place = Place::caller("map");
        let mut program = ArrayProgram::new();
        let argument = program.add(Argument(0), &[], 1, input.types(), place.named("argument"));
        let function = function(input.types(), expressions);
        let types = function.result_types();
        let result = program.add(ZipWith { function }, &[argument], 1, &types, place);
        program.give(result);
        let inputs = Inputs { arrays: HashMap::from([(0, input.clone())]), ..Inputs::default() };
        let data = self.compile_program(program)?.run(&inputs)?;
        if self.is_planning() {
            return Ok(None);
        }
        let columns = data.columns().map_err(|error| error.to_string())?;
        let count = data.extents()[0];
        let element = |position: usize| {
            let scalar = move |(ty, column): (&ScalarType, &Cow<'_, [u8]>)| {
                Constant::from_bytes(*ty, &column[position * ty.bytes()..])
            };
            types.iter().zip(&columns).map(scalar)
        };
        Ok(Some((0..count).flat_map(element).collect()))
    }

    /// Runs a program of array IR and returns its results; `None` if programs are only planned.
    pub fn run_results(
        &self,
        program: ArrayProgram,
        inputs: &Inputs,
    ) -> Result<Option<Vec<Arc<dyn ArrayData>>>, String> {
        let compiled = self.compile_program(program)?.compiled;
        match &self.planning {
            Some(planning) => self.plan(planning, compiled.program(), inputs).map(|_| None),
            None => compiled.run_all(inputs).map(Some).map_err(|error| error.to_string()),
        }
    }

    /// Runs a program once and returns all its results; `None` if programs are only planned.
    pub fn results<P, F: Function<P>>(
        &self,
        program: F,
        arguments: impl Arguments<P>,
    ) -> Result<Option<<F::Result as ProgramResult>::Value>, String> {
        let results = scope(|| program.describe().arrays());
        let Some(found) = self.run_results(ArrayProgram::of(&results), &arguments.collect())? else {
            return Ok(None);
        };
        F::Result::value(&mut found.into_iter()).map(Some).map_err(|error| error.to_string())
    }

    /// Runs a program once and compares the rows of its result, to the bit.
    pub fn check_rows<P, T: Elt>(
        &self,
        program: impl Function<P, Result = AccRagged<T>>,
        arguments: impl Arguments<P>,
        expected: &Ragged<T>,
    ) -> Outcome {
        let Some(found) = self.results(program, arguments)? else { return Ok(()) };
        let lengths = |rows: &Ragged<T>| rows.rows().map(<[T]>::len).collect::<Vec<_>>();
        if lengths(&found) != lengths(expected) {
            return Err(format!(
                "expected rows of {:?} elements, and they have {:?}",
                lengths(expected),
                lengths(&found)
            ));
        }
        let (found, expected) = (scalars(found.values()), scalars(expected.values()));
        compare(&found, &expected, T::types().len(), Tolerance::Exact, &[])
    }

    /// Compares an array's elements.
    pub fn expect<D: Shape, T: Elt>(
        &self,
        array: &Array<D, T>,
        expected: &[T],
        tolerance: Tolerance,
    ) -> Outcome {
        if self.is_planning() {
            return Ok(());
        }
        let found = array.to_vec().map_err(|error| error.to_string())?;
        compare(&scalars(&found), &scalars(expected), T::types().len(), tolerance, &[])
    }

    /// Expects a program to fail with a message that has all these parts, at the latest when its result is
    /// read.
    pub fn expect_error<P, D: Shape, T: Elt>(
        &self,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
        arguments: impl Arguments<P>,
        parts: &[&str],
    ) -> Outcome {
        let result = self.compile(program).and_then(|program| program.run(arguments));
        self.expect_failure(result, parts)
    }

    /// Expects an error, at the latest when the array is read.
    pub fn expect_failure<D: Shape, T: Elt>(
        &self,
        result: Result<Array<D, T>, String>,
        parts: &[&str],
    ) -> Outcome {
        if self.is_planning() {
            return Ok(());
        }
        let message = match result.and_then(|array| array.to_vec().map_err(|error| error.to_string())) {
            Ok(values) => return Err(format!("expected an error, and {} elements came", values.len())),
            Err(message) => message,
        };
        match parts.iter().find(|part| !message.contains(*part)) {
            Some(part) => Err(format!("expected an error with {part:?}, and it was {message:?}")),
            None => Ok(()),
        }
    }

    fn plan(
        &self,
        planning: &Planning,
        program: &CheckedProgram,
        inputs: &Inputs,
    ) -> Result<Arc<dyn ArrayData>, String> {
        let extents: HashMap<u32, Vec<usize>> =
            inputs.arrays.iter().map(|(number, data)| (*number, data.extents().to_vec())).collect();
        let knowledge = Knowledge::of(extents, &inputs.scalars);
        let foreseen = foresee(program, &planning.profile, &knowledge, &planning.options)
            .map_err(|error| error.to_string())?;
        let root = program.results().first().ok_or("a program without a result")?;
        let root = program.node(*root);
        // Extents that only a run determines are 0 here.
        let mut extents = vec![0; root.rank];
        for Foreseen { within, plan } in foreseen {
            let Ok(plan) = plan else { continue };
            for launch in plan.launches() {
                if launch.why.is_empty() {
                    return Err(format!(
                        "the kernel {} of {} has no reason",
                        launch.program.name, launch.place
                    ));
                }
                if planning.seen.borrow_mut().insert(launch.program.key_text()) {
                    planning.programs.borrow_mut().push(launch.program.clone());
                }
            }
            if within.is_empty() && plan.reads().is_none() {
                extents = plan.results().first().ok_or("a plan without a result")?.extents.clone();
            }
        }
        let count: usize = extents.iter().product();
        let columns = root.types.iter().map(|ty: &ScalarType| vec![0; count * ty.bytes()]).collect();
        Ok(Arc::new(HostData::new(extents, root.types.clone(), columns)))
    }
}

/// A described program.
pub struct Program<'a, P, D, T> {
    untyped: UntypedProgram<'a>,
    of: PhantomData<fn(P) -> (D, T)>,
}

struct UntypedProgram<'a> {
    harness: &'a Harness,
    compiled: Untyped,
}

impl UntypedProgram<'_> {
    fn run(&self, inputs: &Inputs) -> Result<Arc<dyn ArrayData>, String> {
        match &self.harness.planning {
            None => self.compiled.run(inputs).map_err(|error| error.to_string()),
            Some(planning) => self.harness.plan(planning, self.compiled.program(), inputs),
        }
    }
}

impl<P, D: Shape, T: Elt> Program<'_, P, D, T> {
    /// Runs it.
    pub fn run(&self, arguments: impl Arguments<P>) -> Result<Array<D, T>, String> {
        Array::from_data(self.untyped.run(&arguments.collect())?).map_err(|error| error.to_string())
    }

    /// Runs it and compares the elements of its result, to the bit.
    pub fn check(&self, arguments: impl Arguments<P>, expected: &[T]) -> Outcome {
        self.check_close(arguments, expected, Tolerance::Exact)
    }

    /// Runs it and compares the elements of its result.
    pub fn check_close(&self, arguments: impl Arguments<P>, expected: &[T], tolerance: Tolerance) -> Outcome {
        self.untyped.harness.expect(&self.run(arguments)?, expected, tolerance)
    }

    /// Runs it and compares extents and elements of its result, to the bit.
    pub fn check_shaped(&self, arguments: impl Arguments<P>, extents: D::Extents, expected: &[T]) -> Outcome {
        let array = self.run(arguments)?;
        if array.extents() != extents {
            return Err(format!("expected extents {extents:?}, found {:?}", array.extents()));
        }
        self.untyped.harness.expect(&array, expected, Tolerance::Exact)
    }

    /// Runs it and compares; `names` are the names of an element's scalars, for messages.
    pub fn check_named(
        &self,
        arguments: impl Arguments<P>,
        expected: &[T],
        tolerance: Tolerance,
        names: &[&str],
    ) -> Outcome {
        let array = self.run(arguments)?;
        if self.untyped.harness.is_planning() {
            return Ok(());
        }
        let found = array.to_vec().map_err(|error| error.to_string())?;
        compare(&scalars(&found), &scalars(expected), T::types().len(), tolerance, names)
    }
}

/// Returns the scalars of all elements, element by element.
fn scalars<T: Elt>(values: &[T]) -> Vec<Constant> {
    let mut constants = Vec::new();
    values.iter().for_each(|value| value.add_constants(&mut constants));
    constants
}

/// Compares elements of `width` scalars.
fn compare(
    found: &[Constant],
    expected: &[Constant],
    width: usize,
    tolerance: Tolerance,
    names: &[&str],
) -> Outcome {
    let width = width.max(1);
    if found.len() != expected.len() {
        return Err(format!("expected {} elements, found {}", expected.len() / width, found.len() / width));
    }
    let mut pairs = found.iter().zip(expected).enumerate().filter(|(_, (f, e))| !close(**f, **e, tolerance));
    let Some((place, (f, e))) = pairs.next() else { return Ok(()) };
    let more = pairs.count();
    let (position, scalar) = (place / width, place % width);
    let name = names.get(scalar).map_or(format!("scalar {scalar} of {width}"), |name| name.to_string());
    let count = expected.len() / width;
    Err(format!("at {position} of {count}, {name}: expected {e:?}, found {f:?} ({more} more differ)"))
}

fn close(found: Constant, expected: Constant, tolerance: Tolerance) -> bool {
    if found == expected {
        return true;
    }
    let (Some(f), Some(e)) = (found.as_float(), expected.as_float()) else { return false };
    if f.is_nan() || e.is_nan() {
        return f.is_nan() && e.is_nan();
    }
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Ulps(most) => ordered(found).abs_diff(ordered(expected)) <= most,
        Tolerance::Relative(most) => (f - e).abs() <= most * e.abs().max(1.0),
    }
}

/// Returns the rank of a float among all floats of its type.
pub(crate) fn ordered(constant: Constant) -> i64 {
    let (bits, sign) = (constant.bits() as i64, 1i64 << (8 * constant.ty().bytes() - 1));
    if bits & sign != 0 { -(bits & !sign) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_count_floats_between() {
        let one = Constant::from(1.0f32);
        let next = Constant::from(f32::from_bits(1.0f32.to_bits() + 2));
        assert!(close(next, one, Tolerance::Ulps(2)) && !close(next, one, Tolerance::Ulps(1)));
        let (minus, plus) = (Constant::from(-1e-45f32), Constant::from(1e-45f32));
        assert!(close(minus, plus, Tolerance::Ulps(2)) && !close(minus, plus, Tolerance::Ulps(1)));
        assert!(!close(0.0f64.into(), (-0.0f64).into(), Tolerance::Exact));
        assert!(close(f64::NAN.into(), (-f64::NAN).into(), Tolerance::Exact));
        assert!(!close(f64::NAN.into(), 1.0f64.into(), Tolerance::Relative(1e9)));
        assert!(!close(1i32.into(), 2i32.into(), Tolerance::Relative(10.0)));
    }

    #[test]
    fn differences_name_position_and_scalar() {
        let (found, expected) = (scalars(&[(1, 2.0f32), (3, 4.0)]), scalars(&[(1, 2.0f32), (3, 5.0)]));
        let outcome = compare(&found, &expected, 2, Tolerance::Exact, &["n", "x"]);
        assert_eq!(outcome, Err("at 1 of 2, x: expected 5.0:f32, found 4.0:f32 (0 more differ)".into()));
        let outcome = compare(&found[..2], &expected, 2, Tolerance::Exact, &[]);
        assert_eq!(outcome, Err("expected 2 elements, found 1".into()));
    }
}
