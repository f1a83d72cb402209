//! Functions, `let`, and names: rules 24, 25, 28 and 29. Generalises bindings, and instantiates them where they are used.

use super::arena::{LevelRef, Node, Ty};
use super::checked::Use;
use super::infer::{Checker, Local};
use super::messages::Why;
use super::names::Entity;
use super::resolve::Target;
use super::scheme::InferredScheme;
use super::ty::{Kind, Variable};
use crate::ast::{Binding, Expr, Function, Parameter, Pattern, PatternKind};
use crate::source::Span;

impl Checker<'_> {
    /// Infers the type of a function; it is that of its signature, if there is one.
    pub fn function(&mut self, function: &Function, expected: Option<Ty>, why: Why<'_>) -> Ty {
        self.lambda(&function.parameters, &function.body, expected, why)
    }

    /// Creates a type of unknown parts for a function, with as many parameters as the function has.
    pub fn unknown_function(&mut self, function: &Function) -> Ty {
        let mut ty = self.arena.fresh(Kind::Type);
        for parameter in function.parameters.iter().rev() {
            ty = match parameter {
                Parameter::Value(_) => {
                    let parameter = self.arena.fresh(Kind::Type);
                    self.arena.function(parameter, ty)
                }
                // The type behind a level parameter may depend on that level.
                Parameter::Level(_) => self.arena.fresh(Kind::Type),
            };
        }
        ty
    }

    /// Infers the type of a function that may use itself, at type `itself`.
    pub fn recursive_function(&mut self, function: &Function, itself: Ty) -> Ty {
        let why = Why::Recursion(&function.name.name);
        let ty = self.function(function, Some(itself), why);
        if let Err(clash) = self.arena.unify(itself, ty) {
            self.mismatch(&function.body, ty, itself, why, clash);
        }
        ty
    }

    /// Infers the type of a function of parameters; an expected type gives the types of its parameters.
    pub fn lambda(
        &mut self,
        parameters: &[Parameter],
        body: &Expr,
        expected: Option<Ty>,
        why: Why<'_>,
    ) -> Ty {
        let Some((first, rest)) = parameters.split_first() else {
            return match expected {
                Some(expected) => {
                    self.check(body, expected, why);
                    expected
                }
                None => self.infer(body),
            };
        };
        let expected = expected.map(|expected| self.arena.find(expected).1);
        match (first, expected) {
            (Parameter::Value(pattern), Some(Node::Function(parameter, result))) => {
                self.pattern(pattern, parameter);
                self.check_irrefutable(pattern);
                let result = self.lambda(rest, body, Some(result), why);
                self.arena.function(parameter, result)
            }
            (Parameter::Value(pattern), _) => {
                let parameter = self.arena.fresh(Kind::Type);
                self.pattern(pattern, parameter);
                self.check_irrefutable(pattern);
                let result = self.lambda(rest, body, None, why);
                self.arena.function(parameter, result)
            }
            (Parameter::Level(name), Some(Node::LevelFunction(level, result))) => {
                self.level_parameters.insert(name.span, level);
                self.scope.levels.push((name.name.clone(), LevelRef { above: 0, variable: Some(level) }));
                let result = self.lambda(rest, body, Some(result), why);
                self.scope.levels.pop();
                self.arena.add(Node::LevelFunction(level, result))
            }
            (Parameter::Level(name), _) => {
                self.arena.depth += 1;
                let depth = self.arena.depth;
                let level = self.arena.rigid_level(Some(name.name.clone()), depth);
                self.level_parameters.insert(name.span, level);
                self.scope.levels.push((name.name.clone(), LevelRef { above: 0, variable: Some(level) }));
                let result = self.lambda(rest, body, None, why);
                self.scope.levels.pop();
                self.arena.depth -= 1;
                if let Err(clash) = self.arena.confine_body(result, level) {
                    self.clash(body.span, clash);
                }
                self.arena.add(Node::LevelFunction(level, result))
            }
        }
    }

    /// Rule 25: infers the types of `let` bindings and generalises them over all variables that are unknown outside.
    pub fn bindings(&mut self, bindings: &[Binding]) {
        for binding in bindings {
            match binding {
                Binding::Value(Pattern { span, kind: PatternKind::Name(_) }, value) => {
                    self.arena.depth += 1;
                    let before = self.pending.len();
                    let ty = self.infer(value);
                    self.arena.depth -= 1;
                    self.settle_fields(before);
                    // A polymorphic binding is evaluated at each use, but memory is allocated once.
                    if self.arena.has_memory(ty)
                        && let Err(clash) = self.arena.lower(ty, self.arena.depth)
                    {
                        self.clash(value.span, clash);
                    }
                    let scheme = self.generalise(ty, value.span);
                    self.locals.insert(*span, Local::Bound(scheme));
                }
                Binding::Value(pattern, value) => {
                    let ty = self.infer(value);
                    self.pattern(pattern, ty);
                    self.check_irrefutable(pattern);
                }
                Binding::Function(function) => {
                    self.arena.depth += 1;
                    let before = self.pending.len();
                    let itself = self.unknown_function(function);
                    self.locals.insert(function.name.span, Local::Itself(itself));
                    let ty = self.recursive_function(function, itself);
                    self.arena.depth -= 1;
                    self.settle_fields(before);
                    let scheme = self.generalise(ty, function.name.span);
                    self.locals.insert(function.name.span, Local::Bound(scheme));
                }
            }
        }
    }

    /// Generalises a type over the variables that are not known outside.
    pub fn generalise(&mut self, ty: Ty, span: Span) -> InferredScheme {
        self.generalise_in_group(ty, self.arena.next_variable(), span)
    }

    /// Generalises one of several functions that use each other; `first` is the first variable of them all.
    pub fn generalise_in_group(&mut self, ty: Ty, first: Variable, span: Span) -> InferredScheme {
        match self.arena.generalise_in_group(ty, first) {
            Some(scheme) => scheme,
            None => {
                self.too_large(span);
                InferredScheme::plain(self.unknown())
            }
        }
    }

    /// Infers the type of a name at a use, and records the use.
    pub fn name(&mut self, expr: &Expr) -> Ty {
        let target = self.meanings.names.get(expr.id.0 as usize).copied().unwrap_or(Target::Nothing);
        match target {
            Target::Nothing => self.unknown(),
            Target::Local(span) => match self.locals.get(&span).cloned() {
                None => self.unknown(),
                Some(Local::Value(ty)) => ty,
                Some(Local::Itself(ty)) => {
                    self.uses.insert(expr.id, Use::ItselfLocal(span));
                    ty
                }
                Some(Local::Bound(scheme)) => {
                    let (ty, chosen) = self.arena.instantiate(&scheme);
                    if !chosen.is_empty() {
                        self.use_levels(expr, &scheme, &chosen);
                        self.uses.insert(expr.id, Use::ChosenLocal { of: span, chosen });
                    }
                    ty
                }
            },
            Target::Global(entity) => self.global(expr, entity),
        }
    }

    fn global(&mut self, expr: &Expr, entity: Entity) -> Ty {
        let scheme = match entity {
            Entity::Function(function) => {
                if let Some(ty) = self.group.get(&function) {
                    self.uses.insert(expr.id, Use::Itself(function));
                    return *ty;
                }
                self.use_function(expr, function);
                self.schemes[function.0 as usize].clone()
            }
            Entity::Builtin(number) => self.builtins.get(number as usize).cloned(),
            Entity::Constructor(sum, number) => self.constructors[sum as usize].get(number as usize).cloned(),
        };
        let Some(scheme) = scheme else { return self.unknown() };
        let (ty, chosen) = self.arena.instantiate(&scheme);
        if !chosen.is_empty() {
            self.use_levels(expr, &scheme, &chosen);
            self.uses.insert(expr.id, Use::Chosen { of: entity, chosen });
        }
        ty
    }
}
