//! Results of the checker, for the evaluator and for printing. Types are kept as they were inferred, and
//! converted to data on request.

use super::arena::{Arena, LevelId, Ty};
use super::hash::NumberMap;
use super::names::{Entity, Names};
use super::resolve::{Meanings, Target};
use super::scheme::{Chosen, InferredScheme, Quantified};
use super::ty::{Argument, Scheme, SumId, Type, Variable};
use crate::ast::{ExprId, Function, Module, Name};
use crate::source::{FileId, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// A `fun` of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// The definition that a name in an expression refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A parameter, or a name that a `let`, `case` or comprehension binds.
    Local,
    /// A `fun` of any file.
    Function(FunctionId),
    /// A built-in of the language.
    Builtin(Name),
    /// A constructor of a sum, by its number.
    Constructor(SumId, usize),
}

/// A declared sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumDeclaration {
    /// Its name.
    pub name: Name,
    /// The variables in the types of fields that its arguments stand for.
    pub parameters: Vec<Variable>,
    /// Its constructors, with the types of their fields.
    pub constructors: Vec<(Name, Vec<Type>)>,
}

/// Instantiation of a polymorphic name at a use.
#[derive(Clone, Debug)]
pub(super) enum Use {
    /// Types, levels and sizes for the variables of its scheme.
    Chosen {
        of: Entity,
        chosen: Vec<Chosen>,
    },
    ChosenLocal {
        of: Span,
        chosen: Vec<Chosen>,
    },
    /// The variables of the surrounding scheme: a function that uses itself, or one that uses it.
    Itself(FunctionId),
    ItselfLocal(Span),
}

/// A program with the types of its parts: all of them, if the program has no errors.
pub struct Checked {
    /// Whether the program has no errors.
    pub(super) is_right: bool,
    pub(super) arena: Arena,
    pub(super) modules: Vec<(FileId, Arc<Module>)>,
    pub(super) names: Names,
    pub(super) meanings: Meanings,
    pub(super) types: Vec<Ty>,
    pub(super) uses: NumberMap<ExprId, Use>,
    pub(super) schemes: Vec<Scheme>,
    pub(super) builtins: Vec<InferredScheme>,
    pub(super) constructors: Vec<Vec<InferredScheme>>,
    pub(super) bindings: NumberMap<Span, Scheme>,
    /// The types of all local names, by the span of the name where it is bound.
    pub(super) locals: NumberMap<Span, Ty>,
    pub(super) level_parameters: NumberMap<Span, LevelId>,
    pub(super) sums: Vec<SumDeclaration>,
}

impl Checked {
    /// Returns the type of an expression, in the variables of the polymorphic bindings around it.
    pub fn type_of(&self, expression: ExprId) -> Type {
        match self.types.get(expression.0 as usize) {
            Some(ty) => self.arena.export(*ty),
            None => Type::Tuple(Vec::new()),
        }
    }

    /// Returns the definition that a name refers to, or `None` if the expression is not a name.
    pub fn resolved(&self, expression: ExprId) -> Option<Resolved> {
        match self.meanings.names.get(expression.0 as usize)? {
            Target::Nothing => None,
            Target::Local(_) => Some(Resolved::Local),
            Target::Global(entity) => self.meaning(*entity),
        }
    }

    /// Returns the span of the name that binds a local name; see [`Checked::scheme_of_binding`].
    pub fn binding(&self, expression: ExprId) -> Option<Span> {
        match self.meanings.names.get(expression.0 as usize)? {
            Target::Local(span) => Some(*span),
            _ => None,
        }
    }

    /// Returns the constructor of a pattern, by the pattern's span.
    pub fn constructor_of_pattern(&self, pattern: Span) -> Option<(SumId, usize)> {
        let (sum, number) = self.meanings.patterns.get(&pattern)?;
        Some((self.arena.sum_id(*sum), *number as usize))
    }

    /// Returns the arguments for the variables of a polymorphic name at a use, in variables of its surroundings. Empty for all other
    /// expressions. A function that uses itself without a signature is instantiated with its own variables.
    pub fn instance(&self, expression: ExprId) -> Vec<(Variable, Argument)> {
        let itself = |scheme: Option<&Scheme>| {
            let variables = scheme.map_or(&[][..], |scheme| &scheme.variables);
            variables
                .iter()
                .map(|(variable, kind, _)| (*variable, Argument::variable(*variable, *kind)))
                .collect()
        };
        let chosen = |variables: Vec<Variable>, chosen: &[Chosen]| {
            variables.into_iter().zip(chosen.iter().map(|chosen| self.arena.export_chosen(*chosen))).collect()
        };
        match self.uses.get(&expression) {
            None => Vec::new(),
            Some(Use::Itself(function)) => itself(self.schemes.get(function.0 as usize)),
            Some(Use::ItselfLocal(span)) => itself(self.bindings.get(span)),
            Some(Use::Chosen { of, chosen: with }) => chosen(self.variables(*of), with),
            Some(Use::ChosenLocal { of, chosen: with }) => {
                let scheme = self.bindings.get(of);
                chosen(
                    scheme.map_or(Vec::new(), |scheme| {
                        scheme.variables.iter().map(|variable| variable.0).collect()
                    }),
                    with,
                )
            }
        }
    }

    /// Returns the scheme of a name that a `let` binds, by the name's span, if it is polymorphic.
    pub fn scheme_of_binding(&self, name: Span) -> Option<&Scheme> {
        self.bindings.get(&name)
    }

    /// Returns the variable of a level parameter in the types around it, by the span of its name.
    pub fn level_parameter(&self, name: Span) -> Option<Variable> {
        let quantified = Quantified::Level(*self.level_parameters.get(&name)?);
        Some(self.arena.quantified(quantified)?.0)
    }

    /// Returns a function and its file.
    pub fn function(&self, function: FunctionId) -> (&Function, FileId) {
        let (module, index) = self.names.functions[function.0 as usize];
        let (file, module) = &self.modules[module];
        (&module.functions[index], *file)
    }

    /// Returns the scheme of a function.
    pub fn scheme(&self, function: FunctionId) -> &Scheme {
        &self.schemes[function.0 as usize]
    }

    /// Returns the scheme of a built-in.
    pub fn scheme_of_builtin(&self, name: &str) -> Option<Scheme> {
        let signatures = &self.modules.first()?.1.signatures;
        let number = signatures.iter().position(|signature| &*signature.name.name == name)?;
        Some(self.arena.export_scheme(self.builtins.get(number)?))
    }

    /// Returns all declared sums, by number.
    pub fn sums(&self) -> &[SumDeclaration] {
        &self.sums
    }

    /// Returns a declared sum.
    pub fn sum(&self, sum: &SumId) -> &SumDeclaration {
        &self.sums[sum.number as usize]
    }

    /// Returns a function of the program's own file.
    pub fn entry(&self, name: &str) -> Option<FunctionId> {
        self.names.own_function(self.modules.len().checked_sub(1)?, name)
    }

    /// Returns the functions that a function uses, directly or through others, and itself.
    pub fn reachable(&self, function: FunctionId) -> HashSet<FunctionId> {
        let (mut found, mut open) = (HashSet::from([function]), vec![function]);
        while let Some(next) = open.pop() {
            let uses = self.meanings.uses.get(next.0 as usize).into_iter().flatten();
            open.extend(uses.copied().filter(|used| found.insert(*used)));
        }
        found
    }

    /// Iterates over all functions of all files.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.schemes.len() as u32).map(FunctionId)
    }

    /// Iterates over the functions of the program's own file, in source order.
    pub fn own_functions(&self) -> impl Iterator<Item = FunctionId> + use<'_> {
        let last = self.modules.len().saturating_sub(1);
        let functions =
            self.names.functions.iter().enumerate().filter(move |(_, (module, _))| *module == last);
        functions.map(|(number, _)| FunctionId(number as u32))
    }

    fn variables(&self, of: Entity) -> Vec<Variable> {
        let inferred = match of {
            Entity::Function(function) => {
                return self.schemes[function.0 as usize]
                    .variables
                    .iter()
                    .map(|variable| variable.0)
                    .collect();
            }
            Entity::Builtin(number) => self.builtins.get(number as usize),
            Entity::Constructor(sum, number) => {
                self.constructors.get(sum as usize).and_then(|all| all.get(number as usize))
            }
        };
        let variables = inferred.map_or(&[][..], |scheme| &scheme.variables);
        variables.iter().filter_map(|variable| Some(self.arena.quantified(*variable)?.0)).collect()
    }
}
