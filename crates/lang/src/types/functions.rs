//! The checker as a whole: declared types, signatures, then functions in the order of their uses.

use super::arena::{Node, Ty};
use super::checked::{Checked, FunctionId};
use super::elaborate::TypeScope;
use super::hash::NumberMap;
use super::infer::{Checker, Local};
use super::messages::Why;
use super::names::{Names, nearest, suggest};
use super::order::components;
use super::resolve::Meanings;
use super::scheme::InferredScheme;
use crate::ast::{Function, Ident, Name, Parameter, Pattern, Signature};
use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::source::Span;
use pumice_scalar::ScalarType;
use std::collections::HashMap;

/// Maximum number of reported errors.
pub const MAX_ERRORS: usize = 100;

/// Infers the types of a program, or returns its errors: some for each function, if several are wrong.
///
/// ```
/// use pumice_lang::{program::Program, types};
///
/// let program = Program::load("main.pum", "fun twice f x = f (f x)", &|_| Err(String::new())).unwrap();
/// let checked = types::check(&program).unwrap();
/// let twice = checked.entry("twice").unwrap();
/// assert_eq!(checked.scheme(twice).to_string(), "(a -> a) -> a -> a");
/// ```
pub fn check(program: &Program) -> Result<Checked, Vec<Diagnostic>> {
    let (checked, errors) = check_with_errors(program);
    if errors.is_empty() { Ok(checked) } else { Err(errors) }
}

/// Infers types as [`check`] does, for editors: returns what is known of a program although it may have errors. Only a program without
/// errors may be evaluated.
///
/// ```
/// use pumice_lang::{program::Program, types};
///
/// let (program, _) = Program::load_with_errors("main.pum", "fun one = 1i32\nfun wrong = one + true", &|_| Err(String::new()));
/// let (checked, errors) = types::check_with_errors(&program);
/// assert_eq!((errors.len(), checked.scheme(checked.entry("one").unwrap()).to_string()), (1, "i32".to_string()));
/// ```
pub fn check_with_errors(program: &Program) -> (Checked, Vec<Diagnostic>) {
    let mut errors = Vec::new();
    let names = Names::collect(program, &mut errors);
    let mut meanings = Meanings::new(program.expressions, names.functions.len());
    for (number, (module, index)) in names.functions.iter().enumerate() {
        let function = &program.modules[*module].module.functions[*index];
        meanings.resolve(&names, FunctionId(number as u32), function, &mut errors);
    }
    let mut checker = Checker::new(program, names, meanings, errors);
    checker.declarations();
    let signatures = checker.signatures();
    checker.groups(&signatures);
    checker.check_levels_inside();
    checker.finish()
}

/// The signature of a function: its scheme, its variables by name, and where it is.
type Signed = (InferredScheme, TypeScope, Span);

impl<'p> Checker<'p> {
    /// Reads all signatures, and tells those of nothing.
    fn signatures(&mut self) -> HashMap<FunctionId, Signed> {
        let program = self.program;
        let mut signed = HashMap::new();
        for (module, loaded) in program.modules.iter().enumerate() {
            let mut first: HashMap<&Name, Span> = HashMap::new();
            for signature in &loaded.module.signatures {
                let (scheme, scope) = self.signature(module, signature);
                if module == 0 {
                    self.builtins.push(scheme);
                    continue;
                }
                if let Some(span) = first.insert(&signature.name.name, signature.name.span) {
                    let error = Diagnostic::new(
                        signature.name.span,
                        format!("`{}` has two signatures", signature.name.name),
                    );
                    self.errors.push(error.label("again").other(span, "for the first time"));
                    continue;
                }
                match self.names.own_function(module, &signature.name.name) {
                    Some(function) => {
                        self.schemes[function.0 as usize] = Some(scheme.clone());
                        signed.insert(function, (scheme, scope, signature.span));
                    }
                    None => self.lone_signature(module, signature),
                }
            }
        }
        signed
    }

    fn lone_signature(&mut self, module: usize, signature: &Signature) {
        let name = &signature.name;
        let functions =
            self.program.modules[module].module.functions.iter().map(|function| &function.name.name);
        let error = Diagnostic::new(
            name.span,
            format!("the signature of `{}`, but there is no `fun {}`", name.name, name.name),
        );
        self.errors.push(suggest(error, nearest(&name.name, functions)));
    }

    /// Infers all functions. Who has a signature is used by it, so that it may be used before it is inferred.
    fn groups(&mut self, signed: &HashMap<FunctionId, Signed>) {
        let edges: Vec<Vec<u32>> = self
            .meanings
            .uses
            .iter()
            .map(|uses| uses.iter().filter(|used| !signed.contains_key(used)).map(|used| used.0).collect())
            .collect();
        for group in components(&edges) {
            let group: Vec<FunctionId> = group.into_iter().map(FunctionId).collect();
            match signed.get(&group[0]) {
                Some(signature) => self.signed_function(group[0], signature),
                None => self.group(&group),
            }
            if self.errors.len() > MAX_ERRORS {
                break;
            }
        }
    }

    fn the_function(&mut self, function: FunctionId) -> &'p Function {
        let (module, index) = self.names.functions[function.0 as usize];
        self.module = module;
        let program = self.program;
        &program.modules[module].module.functions[index]
    }

    /// Checks a function against its signature.
    fn signed_function(&mut self, id: FunctionId, (scheme, scope, span): &Signed) {
        let function = self.the_function(id);
        self.scope = scope.clone().in_body();
        self.arena.depth = 1;
        let before = self.errors.len();
        if self.check_parameters(function, scheme.ty, *span) {
            self.function(function, Some(scheme.ty), Why::Signature(&function.name.name, *span));
        }
        self.arena.depth = 0;
        self.settle(&[id], before);
    }

    /// Reports parameters that do not fit a signature: too many, or a level in place of a value, or the reverse.
    fn check_parameters(&mut self, function: &Function, mut ty: Ty, span: Span) -> bool {
        for (number, parameter) in function.parameters.iter().enumerate() {
            let name = &function.name.name;
            let (place, message) = match (parameter, self.arena.look(ty).1) {
                (Parameter::Value(_), Node::Function(_, result))
                | (Parameter::Level(_), Node::LevelFunction(_, result)) => {
                    ty = result;
                    continue;
                }
                (_, Node::Error) => return true,
                (Parameter::Value(pattern), Node::LevelFunction(..)) => {
                    (pattern.span, format!("the signature of `{name}` has a level here"))
                }
                (Parameter::Level(level), Node::Function(..)) => {
                    (level.span, format!("the signature of `{name}` has no level here"))
                }
                (Parameter::Value(Pattern { span, .. }), _) | (Parameter::Level(Ident { span, .. }), _) => {
                    let parameters = function.parameters.len();
                    (*span, format!("`{name}` has {parameters} parameters, but its signature has {number}"))
                }
            };
            let error = Diagnostic::new(place, message).other(span, "this is the signature");
            let is_level = matches!(self.arena.look(ty).1, Node::LevelFunction(..));
            self.errors.push(if is_level {
                error.help("write the level first, as in `fun f <l> x = …`")
            } else {
                error
            });
            return false;
        }
        true
    }

    /// Infers functions that use each other.
    fn group(&mut self, group: &[FunctionId]) {
        let before = self.errors.len();
        self.arena.depth = 1;
        for id in group {
            let function = self.the_function(*id);
            let ty = self.unknown_function(function);
            self.group.insert(*id, ty);
        }
        for id in group {
            let function = self.the_function(*id);
            self.scope = TypeScope::default().in_body();
            self.recursive_function(function, self.group[id]);
        }
        self.arena.depth = 0;
        self.settle(group, before);
        let broken = self.errors.len() > before || group.iter().any(|id| self.meanings.broken.contains(id));
        let first = self.arena.next_variable();
        for id in group {
            let ty = match (broken, self.group.remove(id)) {
                (false, Some(ty)) => ty,
                // Uses of a function with errors are not errors themselves.
                _ => self.unknown(),
            };
            let span = self.the_function(*id).name.span;
            let scheme = self.generalise_in_group(ty, first, span);
            self.schemes[id.0 as usize] = Some(scheme);
        }
    }

    /// Answers all that waited for the types of a group to be known.
    fn settle(&mut self, group: &[FunctionId], before: usize) {
        self.settle_fields(0);
        self.pending.clear();
        self.settle_levels(group);
        for (span, value, negative, ty) in std::mem::take(&mut self.literals) {
            self.check_literal(span, value, negative, ty);
        }
        let mut known = NumberMap::default();
        for id in std::mem::take(&mut self.visited) {
            if self.errors.len() == before && !self.arena.is_small(self.types[id.0 as usize], &mut known) {
                let span = self.the_function(group[0]).name.span;
                self.too_large(span);
            }
        }
    }

    fn check_literal(&mut self, span: Span, value: u64, negative: bool, ty: Ty) {
        let scalar = match self.arena.look(ty).1 {
            Node::Scalar(scalar) => scalar,
            Node::Flexible { .. } => ScalarType::I64,
            _ => return,
        };
        if !scalar.is_integer() {
            return;
        }
        let most = crate::syntax::largest_literal(scalar, negative);
        if value > most {
            let name = scalar.name();
            let error = Diagnostic::new(span, format!("this number is too large for the type `{name}`"));
            self.errors.push(error.label(format!("the largest is {most}")));
        }
    }

    /// Returns the result, and the errors.
    fn finish(mut self) -> (Checked, Vec<Diagnostic>) {
        let mut errors = std::mem::take(&mut self.errors);
        let order: HashMap<_, _> =
            self.program.modules.iter().enumerate().map(|(at, loaded)| (loaded.file, at)).collect();
        errors.sort_by_key(|error| (order.get(&error.span.file).copied(), error.span.start));
        errors.dedup();
        errors.truncate(MAX_ERRORS);
        let unknown = InferredScheme::plain(self.unknown());
        let arena = &self.arena;
        let mut known = NumberMap::default();
        // In a program with errors, types may be too large to be written out.
        let mut export = |scheme: &InferredScheme| match arena.is_small(scheme.ty, &mut known) {
            true => arena.export_scheme(scheme),
            false => arena.export_scheme(&unknown),
        };
        let schemes = self.schemes.iter().map(|scheme| export(scheme.as_ref().unwrap_or(&unknown))).collect();
        let bindings = self.locals.iter().filter_map(|(span, local)| match local {
            Local::Bound(scheme) if !scheme.variables.is_empty() => Some((*span, export(scheme))),
            _ => None,
        });
        let bindings = bindings.collect();
        let locals = self.locals.iter().map(|(span, local)| match local {
            Local::Value(ty) | Local::Itself(ty) => (*span, *ty),
            Local::Bound(scheme) => (*span, scheme.ty),
        });
        let locals = locals.collect();
        let sums = (0..self.names.sums.len()).map(|sum| self.sum_declaration(sum as u32)).collect();
        let checked = Checked {
            is_right: errors.is_empty(),
            modules: self.program.modules.iter().map(|loaded| (loaded.file, loaded.module.clone())).collect(),
            arena: self.arena,
            names: self.names,
            meanings: self.meanings,
            types: self.types,
            uses: self.uses,
            schemes,
            builtins: self.builtins,
            constructors: self.constructors,
            bindings,
            locals,
            level_parameters: self.level_parameters,
            sums,
        };
        (checked, errors)
    }
}
