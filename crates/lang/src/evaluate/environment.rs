//! Environments: bindings of names and type variables where an expression is evaluated.

use super::value::Value;
use crate::ast::{Expr, Name, Parameter};
use crate::source::Span;
use crate::types::{Argument, Level, Size, Type, Variable};
use pumice_kernel::AnyLevel;
use std::collections::HashMap;
use std::rc::Rc;

/// Arguments for the variables of a scheme.
pub type Instance = HashMap<Variable, Argument>;

/// Bindings of names and type variables. Cloning is free.
#[derive(Clone, Default)]
pub struct Environment {
    names: Option<Rc<Bound>>,
    types: Rc<Instance>,
    /// Span of the user's call of the function of [`crate::program::STANDARD`] whose body this is.
    caller: Option<Span>,
}

struct Bound {
    name: Name,
    meaning: Meaning,
    before: Option<Rc<Bound>>,
}

/// The binding of a name.
#[derive(Clone)]
pub enum Meaning {
    /// A value.
    Value(Value),
    /// A level.
    Level(AnyLevel),
    /// A definition that is evaluated at each use, because it has another type at each or calls itself.
    Definition(Rc<Definition>),
}

/// A binding that is evaluated where it is used.
pub struct Definition {
    /// The name itself, if it may occur in the body.
    pub own_name: Option<Name>,
    /// The parameters; a value has none.
    pub parameters: Rc<[Parameter]>,
    /// The body.
    pub body: Rc<Expr>,
    /// Bindings of the names in the body.
    pub environment: Environment,
}

impl Environment {
    /// Adds a name, which hides others of the same name.
    pub fn with(&self, name: &Name, meaning: Meaning) -> Environment {
        let bound = Bound { name: name.clone(), meaning, before: self.names.clone() };
        Environment { names: Some(Rc::new(bound)), ..self.clone() }
    }

    /// Creates an environment without names and with these type variables.
    pub fn of_types(types: Instance) -> Environment {
        Environment { names: None, types: Rc::new(types), caller: None }
    }

    /// Marks the environment of a body that the user did not write, with the span of the user's call.
    pub fn called_at(self, caller: Span) -> Environment {
        Environment { caller: Some(caller), ..self }
    }

    /// Returns the span to report for code at `written`: the user's call, if the user did not write that code.
    pub fn users_place(&self, written: Span) -> Span {
        self.caller.unwrap_or(written)
    }

    /// Adds type variables.
    pub fn with_types(&self, more: Instance) -> Environment {
        if more.is_empty() {
            return self.clone();
        }
        let mut types = (*self.types).clone();
        types.extend(more);
        Environment { types: Rc::new(types), ..self.clone() }
    }

    /// Looks up a name.
    pub fn get(&self, name: &str) -> Option<&Meaning> {
        let mut bound = self.names.as_deref();
        while let Some(here) = bound {
            if &*here.name == name {
                return Some(&here.meaning);
            }
            bound = here.before.as_deref();
        }
        None
    }

    /// Changes the bindings of these names; drops all other names.
    pub fn map(&self, names: &[Name], f: &mut dyn FnMut(&Meaning) -> Meaning) -> Environment {
        let mut mapped = Environment { names: None, ..self.clone() };
        for name in names {
            if let Some(meaning) = self.get(name) {
                mapped = mapped.with(name, f(meaning));
            }
        }
        mapped
    }

    /// Substitutes the type variables of this environment in a type.
    pub fn resolve(&self, ty: &Type) -> Type {
        let all = |types: &[Type]| types.iter().map(|ty| self.resolve(ty)).collect();
        match ty {
            Type::Scalar(_) => ty.clone(),
            Type::Variable(variable) => match self.types.get(variable) {
                Some(Argument::Type(ty)) => ty.clone(),
                _ => ty.clone(),
            },
            Type::Tuple(parts) => Type::Tuple(all(parts)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(name, ty)| (name.clone(), self.resolve(ty))).collect())
            }
            Type::Sum(id, arguments) => Type::Sum(id.clone(), all(arguments)),
            Type::Function(from, to) => {
                Type::Function(Box::new(self.resolve(from)), Box::new(self.resolve(to)))
            }
            Type::LevelFunction(level, to) => Type::LevelFunction(*level, Box::new(self.resolve(to))),
            Type::Array { element, sizes, level } => Type::Array {
                element: Box::new(self.resolve(element)),
                sizes: sizes.iter().map(|size| self.size(*size)).collect(),
                level: level.map(|level| self.level(level)),
            },
            Type::Memory(of) => Type::Memory(Box::new(self.resolve(of))),
        }
    }

    /// Substitutes the level variables of this environment in a level.
    pub fn level(&self, level: Level) -> Level {
        match level.variable.and_then(|variable| self.types.get(&variable)) {
            Some(Argument::Level(known)) => Level { above: known.above + level.above, ..*known },
            _ => level,
        }
    }

    fn size(&self, size: Size) -> Size {
        match size {
            Size::Variable(variable) => match self.types.get(&variable) {
                Some(Argument::Size(size)) => *size,
                _ => size,
            },
            _ => size,
        }
    }

    /// Substitutes the type variables of this environment in the arguments of a scheme's variables.
    pub fn resolve_all(&self, instance: impl IntoIterator<Item = (Variable, Argument)>) -> Instance {
        let resolved = |argument: Argument| match argument {
            Argument::Type(ty) => Argument::Type(self.resolve(&ty)),
            Argument::Level(level) => Argument::Level(self.level(level)),
            Argument::Size(size) => Argument::Size(self.size(size)),
        };
        instance.into_iter().map(|(variable, argument)| (variable, resolved(argument))).collect()
    }
}
