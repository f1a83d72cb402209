//! Modules of the `.pum` language in Rust programs: files that were checked, whose functions are parts of array programs.
//!
//! [`include_pum!`](crate::include_pum) makes Rust functions of those of a file when a program is compiled, and `pumice build --to rust` writes the
//! same as text; [`Module`] is for programs that have the text only at run time. This module knows the parts of a file's
//! functions, and nothing of how programs are run.

mod columns;

use crate::results::ProgramResult;
use pumice_array::{Acc, ArrayProgram, CheckedProgram, Described, Passed};
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::evaluate;
use pumice_lang::program::Program;
use pumice_lang::source::Sources;
use pumice_lang::types::{Checked, check};
use pumice_runtime::{Error, Result};
use pumice_scalar::{Exp, Place, Primitive};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use pumice_lang::interface::{Datum, Export, Interface, Leaf};
pub use pumice_lang::types::Size;

/// A file of the `.pum` language whose types are right, with its imports.
///
/// ```
/// use pumice::{Compiler, pum::Module};
/// use std::sync::Arc;
///
/// let text = "sig total : [i64] -> i64\nfun total xs = sum (map shapes::double xs)\nimport shapes";
/// let module = Module::load(&[("main.pum", text), ("shapes", "sig double : i64 -> i64\nfun double x = x * 2")])?;
/// let total = Compiler::on("sim")?.compile_program(module.function("total")?.columns())?;
/// let mut inputs = pumice::layers::runtime::Inputs::default();
/// inputs.arrays.insert(0, pumice::Vector::from(vec![1i64, 2, 3]).data().clone());
/// let results = total.run_all(&inputs)?;
/// assert_eq!(results[0].columns()?[0][..], 12i64.to_le_bytes());
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Module {
    program: Arc<Program>,
    checked: Arc<Checked>,
    interface: Interface,
    /// The functions that were asked for so far.
    functions: Mutex<HashMap<String, Arc<ModuleFunction>>>,
}

/// A function of a module, as an array program.
///
/// ```
/// use pumice::pum::Module;
/// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
/// let twice = module.function("twice")?;
/// assert_eq!(twice.program().results().len(), 1);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct ModuleFunction {
    export: Export,
    program: CheckedProgram,
}

impl Module {
    /// Checks a file: the first of these names and texts is its own, the others are its imports by these names. The error has the mistakes,
    /// with their places.
    ///
    /// ```
    /// use pumice::pum::Module;
    /// assert!(Module::load(&[("main.pum", "fun one = 1")]).is_ok());
    /// let error = Module::load(&[("main.pum", "fun wrong = 1 + true")]).err().map(|error| error.to_string());
    /// assert!(error.is_some_and(|error| error.contains("main.pum:1")));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn load(texts: &[(&str, &str)]) -> Result<Module> {
        let [(name, text), imports @ ..] = texts else {
            return Err(Error::Invalid("a module has a text".into()));
        };
        let import = |name: &str| match imports.iter().find(|(imported, _)| *imported == name) {
            Some((_, text)) => Ok(text.to_string()),
            None => Err("its text was not given".to_string()),
        };
        let program =
            Program::load(name, text, &import).map_err(|(sources, errors)| wrong(&sources, &errors))?;
        let checked = check(&program).map_err(|errors| wrong(&program.sources, &errors))?;
        let interface = Interface::of(&program, &checked);
        let (program, checked) = (Arc::new(program), Arc::new(checked));
        Ok(Module { program, checked, interface, functions: Mutex::default() })
    }

    /// Returns the module's interface: the functions that can be called, and the reasons why others cannot.
    ///
    /// ```
    /// use pumice::pum::Module;
    /// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
    /// assert_eq!(module.interface().exports.len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// A function as an array program, which is made when it is first asked for.
    ///
    /// ```
    /// use pumice::pum::Module;
    /// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
    /// assert!(module.function("twice").is_ok());
    /// assert!(module.function("thrice").is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn function(&self, name: &str) -> Result<Arc<ModuleFunction>> {
        let known = |functions: &HashMap<String, Arc<ModuleFunction>>| functions.get(name).cloned();
        if let Some(function) = known(&self.functions.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(function);
        }
        let export = self.interface.export(name).map_err(|mistake| Error::Invalid(mistake.into()))?.clone();
        let options = evaluate::Options::default();
        let compiled = evaluate::compile(&self.program, &self.checked, export.function, &[], options)
            .map_err(|error| wrong(&self.program.sources, &[error]))?;
        let function = Arc::new(ModuleFunction { export, program: CheckedProgram::new(compiled.program)? });
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(functions.entry(name.to_string()).or_insert(function).clone())
    }
}

impl ModuleFunction {
    /// Its name, parameters and result.
    ///
    /// ```
    /// use pumice::pum::Module;
    /// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
    /// assert_eq!(module.function("twice")?.export().parameters.len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn export(&self) -> &Export {
        &self.export
    }

    /// The program, whose arrays have elements as the function has them.
    ///
    /// ```
    /// use pumice::pum::Module;
    /// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
    /// assert!(module.function("twice")?.program().to_string().contains("argument 0"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn program(&self) -> &CheckedProgram {
        &self.program
    }

    /// The program as languages see it that have only arrays of numbers: every column of an array is an argument or a result of its own, in
    /// the order of [`Datum::leaves`].
    ///
    /// ```
    /// use pumice::pum::Module;
    /// let module = Module::load(&[("main.pum", "sig twice : [i64] -> [i64]\nfun twice xs = map (fn x => x * 2) xs")])?;
    /// assert_eq!(module.function("twice")?.columns().results().len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn columns(&self) -> ArrayProgram {
        columns::by_columns(&self.program, &self.export)
    }
}

fn wrong(sources: &Sources, errors: &[Diagnostic]) -> Error {
    let errors: Vec<String> = errors.iter().map(|error| error.render(sources, false)).collect();
    Error::Invalid(errors.join("\n").into())
}

/// A module whose texts are part of a Rust program. It is checked when a function of it is first called.
///
/// ```
/// // What `include_pum!` writes.
/// use pumice::pum::{IncludedModule, ModuleArguments};
/// use pumice::prelude::*;
/// static SHAPES: IncludedModule =
///     IncludedModule::new(&[("shapes.pum", "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)")]);
/// let scaled: Acc<Vector<f32>> =
///     SHAPES.call("scale", ModuleArguments::default().scalar(constant(2.0f32)).array(&use_(&[1.0f32, 2.0])));
/// assert_eq!(pumice::run(scaled)?.to_vec()?, [2.0, 4.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct IncludedModule {
    texts: &'static [(&'static str, &'static str)],
    module: OnceLock<std::result::Result<Module, String>>,
}

impl IncludedModule {
    /// A module of these texts, as [`Module::load`] takes them.
    ///
    /// ```
    /// use pumice::pum::IncludedModule;
    /// static ONE: IncludedModule = IncludedModule::new(&[("one.pum", "fun one = 1")]);
    /// ```
    pub const fn new(texts: &'static [(&'static str, &'static str)]) -> IncludedModule {
        IncludedModule { texts, module: OnceLock::new() }
    }

    /// Describes the results of a function as a part of the program that is being written. An error is reported when that program is compiled.
    ///
    /// ```
    /// use pumice::pum::{IncludedModule, ModuleArguments};
    /// use pumice::prelude::*;
    /// static SHAPES: IncludedModule =
    ///     IncludedModule::new(&[("shapes.pum", "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)")]);
    /// // Numbers and arrays are counted each for themselves.
    /// let scaled: Acc<Vector<f32>> =
    ///     SHAPES.call("scale", ModuleArguments::default().scalar(constant(2.0f32)).array(&use_(&[1.0f32, 2.0])));
    /// assert_eq!(pumice::run(scaled)?.to_vec()?, [2.0, 4.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn call<R: ProgramResult>(&self, function: &str, arguments: ModuleArguments) -> R {
        let place = Place::caller(function);
        let module = self.module.get_or_init(|| Module::load(self.texts).map_err(|error| error.to_string()));
        let described = match module {
            Ok(module) => module.function(function).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        let described = described.map(|function| function.program.describe(&arguments.0));
        let (mut results, error) = match described {
            Ok(results) => (results.into_iter(), "a function of a module gives too few arrays".to_string()),
            Err(error) => (Vec::new().into_iter(), error),
        };
        R::describe(&mut |(rank, types)| match results.next() {
            Some(array) if array.rank() == rank && array.types() == types => array,
            _ => Described::mistaken(&error, rank, types, place),
        })
    }
}

/// Arguments of a call of a module's function: its arrays and numbers, in order.
///
/// ```
/// use pumice::pum::ModuleArguments;
/// use pumice::prelude::*;
/// let arguments = ModuleArguments::default().array(&use_(&[1.0, 2.0])).scalar(constant(2i64));
/// ```
#[derive(Default)]
pub struct ModuleArguments(Passed);

impl ModuleArguments {
    /// Adds an array.
    ///
    /// ```
    /// use pumice::pum::ModuleArguments;
    /// use pumice::prelude::*;
    /// let arguments = ModuleArguments::default().array(&use_(&[1.0, 2.0]));
    /// ```
    pub fn array<A>(mut self, array: &Acc<A>) -> ModuleArguments {
        let number = self.0.arrays.len() as u32;
        self.0.arrays.insert(number, array.described().clone());
        self
    }

    /// Adds a number.
    ///
    /// ```
    /// use pumice::pum::ModuleArguments;
    /// use pumice::prelude::*;
    /// let arguments = ModuleArguments::default().scalar(constant(2i64));
    /// ```
    pub fn scalar<T: Primitive>(mut self, scalar: Exp<T>) -> ModuleArguments {
        let number = self.0.scalars.len() as u32;
        self.0.scalars.insert(number, scalar.term());
        self
    }
}
