//! Types while a program is evaluated: substitution of variables, and checks that values are of the type that the checker says.

use super::costs::CostLevel;
use super::value::{Types, Value};
use super::{Evaluator, Outcome};
use crate::evaluate::fields_of;
use crate::source::Span;
use crate::types::{Argument, Kind, Level, Scheme, Size, Type};
use pumice_scalar::{Constant, ScalarType};
use std::collections::HashMap;
use std::rc::Rc;

/// Substitutes variables in a type.
pub(super) fn resolve(ty: &Type, types: &Types) -> Type {
    let all = |parts: &[Type]| parts.iter().map(|part| resolve(part, types)).collect();
    match ty {
        Type::Scalar(_) => ty.clone(),
        Type::Variable(variable) => match types.get(variable) {
            Some(Argument::Type(known)) => known.clone(),
            _ => ty.clone(),
        },
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::Record(fields) => {
            Type::Record(fields.iter().map(|(name, field)| (name.clone(), resolve(field, types))).collect())
        }
        Type::Sum(id, arguments) => Type::Sum(id.clone(), all(arguments)),
        Type::Function(from, to) => {
            Type::Function(Box::new(resolve(from, types)), Box::new(resolve(to, types)))
        }
        Type::LevelFunction(variable, to) => Type::LevelFunction(*variable, Box::new(resolve(to, types))),
        Type::Array { element, sizes, level } => Type::Array {
            element: Box::new(resolve(element, types)),
            sizes: sizes.clone(),
            level: level.map(|level| resolve_level(level, types)),
        },
        Type::Memory(of) => Type::Memory(Box::new(resolve(of, types))),
    }
}

fn resolve_level(level: Level, types: &Types) -> Level {
    match level.variable.and_then(|variable| types.get(&variable)) {
        Some(Argument::Level(known)) => {
            Level { variable: known.variable, above: known.above.saturating_add(level.above) }
        }
        _ => level,
    }
}

/// Substitutes variables in an argument.
pub(super) fn resolve_argument(argument: &Argument, types: &Types) -> Argument {
    match argument {
        Argument::Type(ty) => Argument::Type(resolve(ty, types)),
        Argument::Level(level) => Argument::Level(resolve_level(*level, types)),
        Argument::Size(size) => Argument::Size(*size),
    }
}

/// Returns default arguments for the variables of a program's entry: `double` for floats, the grid for levels, `int` for everything else.
pub(super) fn defaults(scheme: &Scheme) -> Types {
    let default = |kind: Kind| match kind {
        Kind::Float => Argument::Type(Type::Scalar(ScalarType::F64)),
        Kind::Level => Argument::Level(Level { variable: None, above: 3 }),
        Kind::Size => Argument::Size(Size::Any),
        _ => Argument::Type(Type::Scalar(ScalarType::I64)),
    };
    let variables = scheme.variables.iter();
    Rc::new(variables.map(|(variable, kind, _)| (*variable, default(*kind))).collect::<HashMap<_, _>>())
}

/// Returns the level of an array's type, if it is known.
pub(super) fn level_of(ty: &Type) -> Option<CostLevel> {
    match ty {
        Type::Array { level: Some(Level { variable: None, above }), .. } => CostLevel::above_thread(*above),
        _ => None,
    }
}

impl<'p> Evaluator<'p> {
    /// Checks that a value is of a type, as far as that is known, as type preservation promises.
    pub(super) fn preserved(&self, value: &Value<'p>, ty: &Type, span: Span) -> Outcome<()> {
        match self.fits_type(value, ty) {
            true => Ok(()),
            false => Err(self.fault(span, format!("a value that is not of its type `{ty}`"))),
        }
    }

    fn fits_type(&self, value: &Value<'p>, ty: &Type) -> bool {
        match (value, ty) {
            (_, Type::Variable(_)) => true,
            (Value::Scalar(scalar), Type::Scalar(ty)) => scalar.ty() == *ty,
            (Value::Tuple(parts), Type::Tuple(types)) => {
                parts.len() == types.len()
                    && parts.iter().zip(types).all(|(part, ty)| self.fits_type(part, ty))
            }
            (Value::Record(fields), Type::Record(types)) => {
                let same = |((name, field), (wanted, ty)): (&(_, Value<'p>), &(_, Type))| {
                    name == wanted && self.fits_type(field, ty)
                };
                fields.len() == types.len() && fields.iter().zip(types).all(same)
            }
            (Value::Sum(number, fields), Type::Sum(..)) => {
                let types = fields_of(ty, self.checked.sums()).unwrap_or_default();
                types.get(*number).is_some_and(|types| {
                    types.len() == fields.len()
                        && fields.iter().zip(types).all(|(field, ty)| self.fits_type(field, ty))
                })
            }
            (Value::Pull(pull), Type::Array { sizes, level: None, .. }) => pull.shape.rank == sizes.len(),
            (Value::Push(push), Type::Array { level: Some(level), .. }) => {
                level.variable.is_some() || CostLevel::above_thread(level.above) == Some(push.level)
            }
            (Value::Memory(_), Type::Memory(_)) => true,
            (Value::Function(_), Type::Function(..) | Type::LevelFunction(..)) => true,
            _ => false,
        }
    }

    /// Returns the value of a type whose scalars are all zero.
    pub(super) fn zero(&self, ty: &Type, span: Span) -> Outcome<Value<'p>> {
        Ok(match ty {
            Type::Scalar(scalar) => Value::Scalar(Constant::zero(*scalar)),
            Type::Tuple(parts) => {
                Value::Tuple(parts.iter().map(|part| self.zero(part, span)).collect::<Outcome<_>>()?)
            }
            Type::Record(fields) => {
                let field = |(name, ty): &(crate::ast::Name, Type)| Ok((name.clone(), self.zero(ty, span)?));
                Value::Record(fields.iter().map(field).collect::<Outcome<_>>()?)
            }
            Type::Sum(..) => {
                let all = fields_of(ty, self.checked.sums()).unwrap_or_default();
                let first = all.first().map_or(&[][..], |fields| fields);
                Value::Sum(0, first.iter().map(|field| self.zero(field, span)).collect::<Outcome<_>>()?)
            }
            other => return Err(self.fault(span, format!("nothing of type `{other}` is zero"))),
        })
    }
}
