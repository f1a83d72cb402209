//! Types as they are written become types to compute with: names are looked up, other names for types are written out, and
//! kinds are checked (rules 1 to 13 of FCL's kind system).

use super::arena::{Arena, LevelRef, Node, SizeRef, Ty};
use super::infer::Checker;
use super::scheme::InferredScheme;
use super::ty::Kind;
use crate::ast::{
    Ident, LevelExpr, Name, Path, Signature, SizeExpr, TypeDeclarationKind, TypeExpr, TypeExprKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use pumice_scalar::ScalarType;
use std::collections::HashMap;

/// Maximum number of nodes of a written type, and maximum nesting depth of type aliases.
const MAX_NODES: u32 = 4_000;
const MAX_NESTED: u32 = 100;

/// Variables that are in scope in written types.
#[derive(Clone, Default)]
pub struct TypeScope {
    pub types: HashMap<Name, Ty>,
    pub levels: Vec<(Name, LevelRef)>,
    pub sizes: HashMap<Name, SizeRef>,
    /// The declaration, if these are the parameters of one; no other variables are in scope there.
    declaration: Option<Name>,
    /// Depth of new variables, if it is not that of the current binding.
    depth: Option<u32>,
    nodes: u32,
    nested: u32,
}

impl TypeScope {
    /// Creates the scope of a declaration.
    pub fn of_declaration(name: &Name) -> TypeScope {
        TypeScope { declaration: Some(name.clone()), ..TypeScope::default() }
    }

    /// Creates the scope for types in the body of a function: their variables belong to the function, not to an inner binding. Only levels
    /// that are parameters are in scope.
    pub fn in_body(self) -> TypeScope {
        TypeScope { depth: Some(1), levels: Vec::new(), ..self }
    }
}

impl Checker<'_> {
    /// Returns the scheme of a signature, and its variables by name.
    pub fn signature(&mut self, module: usize, signature: &Signature) -> (InferredScheme, TypeScope) {
        let mut scope = TypeScope::default();
        self.arena.depth += 1;
        let ty = self.elaborate(module, &signature.ty, &mut scope);
        for (class, variable) in &signature.constraints {
            self.constraint(class, variable, &scope);
        }
        self.arena.depth -= 1;
        let scheme = self.generalise(ty, signature.span);
        let known: Vec<(Name, Ty)> = scope.types.iter().map(|(name, ty)| (name.clone(), *ty)).collect();
        for (name, ty) in known {
            if let Node::Rigid { variable, .. } = self.arena.look(ty).1 {
                self.arena.names.insert(variable, name);
            }
        }
        for quantified in &scheme.variables {
            let Some((variable, _)) = self.arena.quantified(*quantified) else { continue };
            let name = match quantified {
                super::scheme::Quantified::Level(level) => {
                    scope.levels.iter().find(|(_, of)| of.variable == Some(*level)).map(|(name, _)| name)
                }
                super::scheme::Quantified::Size(size) => {
                    scope.sizes.iter().find(|(_, of)| **of == SizeRef::Variable(*size)).map(|(name, _)| name)
                }
                super::scheme::Quantified::Type(_) => None,
            };
            if let Some(name) = name {
                self.arena.names.insert(variable, name.clone());
            }
        }
        (scheme, scope)
    }

    fn constraint(&mut self, class: &Ident, variable: &Ident, scope: &TypeScope) {
        let Some(kind) = Kind::of_class(&class.name) else {
            let error = Diagnostic::new(class.span, format!("no class is called `{}`", class.name));
            self.errors.push(error.help(
                "the classes are `Number`, `Integer`, `Float`, `Ordered`, `Equal`, `Element` and `Ground`",
            ));
            return;
        };
        let Some(ty) = scope.types.get(&variable.name) else {
            let message = format!("`{}` does not occur in the type", variable.name);
            self.errors.push(Diagnostic::new(variable.span, message));
            return;
        };
        if let Err(clash) = self.arena.require(*ty, kind) {
            self.clash(variable.span, clash);
        }
    }

    /// Converts a written type.
    pub fn elaborate(&mut self, module: usize, written: &TypeExpr, scope: &mut TypeScope) -> Ty {
        scope.nodes += 1;
        if scope.nodes > MAX_NODES || scope.nested > MAX_NESTED {
            if scope.nodes != u32::MAX / 2 {
                self.errors.push(Diagnostic::new(written.span, "this type is too large"));
                // Reported once; the count stays above the limit from here on.
                scope.nodes = u32::MAX / 2 - 1;
            }
            return self.arena.add(Node::Error);
        }
        match &written.kind {
            TypeExprKind::Error => self.arena.add(Node::Error),
            TypeExprKind::Name(path, arguments) => self.named(module, written.span, path, arguments, scope),
            TypeExprKind::Tuple(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|part| self.elaborate(module, part, scope)).collect();
                self.arena.tuple(&parts)
            }
            TypeExprKind::Record(fields) => {
                self.check_fields_differ(fields.iter().map(|(name, _)| name));
                let fields = fields
                    .iter()
                    .map(|(name, field)| (name.name.clone(), self.elaborate(module, field, scope)));
                let fields = fields.collect();
                self.arena.record(fields)
            }
            TypeExprKind::Function(parameter, result) => {
                let parameter = self.elaborate(module, parameter, scope);
                let result = self.elaborate(module, result, scope);
                self.arena.function(parameter, result)
            }
            TypeExprKind::LevelFunction(name, result) => {
                let depth = self.arena.depth;
                let level = self.arena.rigid_level(Some(name.name.clone()), depth);
                let at = scope.levels.len();
                scope.levels.push((name.name.clone(), LevelRef { above: 0, variable: Some(level) }));
                let result = self.elaborate(module, result, scope);
                scope.levels.remove(at);
                self.arena.add(Node::LevelFunction(level, result))
            }
            TypeExprKind::Array(element, sizes, level) => {
                let element_type = self.elaborate(module, element, scope);
                let level = level.as_ref().map(|level| self.written_level(level, scope));
                let kind = if level.is_some() { Kind::Base } else { Kind::Ground };
                if self.arena.require(element_type, kind).is_err() {
                    self.bad_element(element.span, element_type, kind);
                    return self.arena.add(Node::Error);
                }
                let mut sizes: Vec<SizeRef> = sizes.iter().map(|size| self.size(size, scope)).collect();
                if sizes.is_empty() {
                    sizes.push(SizeRef::Any);
                }
                self.arena.array(element_type, &sizes, level)
            }
        }
    }

    fn bad_element(&mut self, span: Span, element: Ty, kind: Kind) {
        let element = self.show(element);
        self.errors.push(match kind {
            Kind::Base => Diagnostic::new(
                span,
                format!(
                    "the elements of a push array must be values that can be stored, and `{element}` is none"
                ),
            )
            .label("neither functions nor arrays can be stored"),
            _ => Diagnostic::new(
                span,
                format!("the elements of an array cannot be functions, and `{element}` is one"),
            ),
        });
    }

    /// Converts a scalar, a variable, or a declared type.
    fn named(
        &mut self,
        module: usize,
        span: Span,
        path: &Path,
        arguments: &[TypeExpr],
        scope: &mut TypeScope,
    ) -> Ty {
        let name = &path.name.name;
        let scalar = match &**name {
            "int" => Some(ScalarType::I64),
            "double" => Some(ScalarType::F64),
            name => ScalarType::from_name(name),
        };
        let is_declared = path.module.is_some() || name.starts_with(char::is_uppercase);
        if !is_declared && &**name == "mem" && arguments.len() == 1 {
            let element = self.elaborate(module, &arguments[0], scope);
            if let Err(clash) = self.arena.require(element, Kind::Base) {
                self.clash(arguments[0].span, clash);
            }
            return self.arena.add(Node::Memory(element));
        }
        if is_declared {
            return self.declared(module, span, path, arguments, scope);
        }
        if !arguments.is_empty() {
            self.errors.push(Diagnostic::new(span, format!("`{name}` takes no arguments")));
        }
        match (scalar, scope.types.get(name)) {
            (Some(scalar), _) => self.arena.scalar(scalar),
            (None, Some(ty)) => *ty,
            (None, None) => {
                if let Some(declaration) = &scope.declaration {
                    let error = Diagnostic::new(span, format!("`{name}` is no parameter of `{declaration}`"));
                    self.errors.push(error.help(format!("write `type {declaration} {name} = …`")));
                    return self.arena.add(Node::Error);
                }
                let ty = self.at_depth(scope.depth, |arena| arena.fresh(Kind::Type));
                scope.types.insert(name.clone(), ty);
                ty
            }
        }
    }

    fn declared(
        &mut self,
        module: usize,
        span: Span,
        path: &Path,
        arguments: &[TypeExpr],
        scope: &mut TypeScope,
    ) -> Ty {
        let number = match self.names.ty(module, path) {
            Ok(number) => number,
            Err(error) => {
                self.errors.push(error);
                return self.arena.add(Node::Error);
            }
        };
        let declared = self.names.declared[number as usize];
        let program = self.program;
        let declaration = &program.modules[declared.module].module.types[declared.index];
        if arguments.len() != declaration.parameters.len() {
            let message = format!(
                "`{}` takes {}, and here {}",
                declaration.name.name,
                count(declaration.parameters.len()),
                are(arguments.len())
            );
            self.errors.push(Diagnostic::new(span, message).other(declaration.name.span, "declared here"));
            return self.arena.add(Node::Error);
        }
        let types: Vec<Ty> =
            arguments.iter().map(|argument| self.elaborate(module, argument, scope)).collect();
        if self.broken_types.contains(&number) {
            return self.arena.add(Node::Error);
        }
        match (&declaration.kind, declared.sum) {
            (TypeDeclarationKind::Alias(body), _) => {
                let parameters = declaration.parameters.iter().map(|parameter| parameter.name.clone());
                let mut inner = TypeScope {
                    types: parameters.zip(types).collect(),
                    declaration: Some(declaration.name.name.clone()),
                    nodes: scope.nodes,
                    nested: scope.nested + 1,
                    ..TypeScope::default()
                };
                let ty = self.elaborate(declared.module, body, &mut inner);
                scope.nodes = inner.nodes;
                ty
            }
            (TypeDeclarationKind::Sum(_), sum) => {
                let sum = sum.unwrap_or(0);
                let kinds = self.parameter_kinds.get(sum as usize).cloned().unwrap_or_default();
                for ((ty, kind), argument) in types.iter().zip(kinds).zip(arguments) {
                    if let Err(clash) = self.arena.require(*ty, kind) {
                        self.clash(argument.span, clash);
                    }
                }
                let parts = self.arena.list(&types);
                self.arena.add(Node::Sum(sum, parts))
            }
        }
    }

    fn size(&mut self, size: &SizeExpr, scope: &mut TypeScope) -> SizeRef {
        match size {
            SizeExpr::Any(_) => SizeRef::Any,
            SizeExpr::Number(number, _) => SizeRef::Number(*number),
            SizeExpr::Name(name) => {
                if scope.declaration.is_some() {
                    return SizeRef::Any;
                }
                let fresh = self.at_depth(scope.depth, Arena::fresh_size);
                *scope.sizes.entry(name.name.clone()).or_insert(fresh)
            }
        }
    }

    /// Runs a function at this depth, if it is less than the current one.
    fn at_depth<T>(&mut self, depth: Option<u32>, make: impl FnOnce(&mut Arena) -> T) -> T {
        let here = self.arena.depth;
        self.arena.depth = depth.unwrap_or(here).min(here);
        let made = make(&mut self.arena);
        self.arena.depth = here;
        made
    }

    /// Converts a written level; names are parameters around it or variables.
    pub fn written_level(&mut self, level: &LevelExpr, scope: &mut TypeScope) -> LevelRef {
        match level {
            LevelExpr::Above(more, below, span) => {
                let below = self.written_level(below, scope);
                let level = LevelRef { above: below.above.saturating_add(*more), variable: below.variable };
                self.check_level(level, *span);
                level
            }
            LevelExpr::Name(name) => match level_named(&name.name) {
                Some(above) => LevelRef { above, variable: None },
                None => match scope.levels.iter().rev().find(|(known, _)| *known == name.name) {
                    Some((_, level)) => *level,
                    None => {
                        let level = self.at_depth(scope.depth, Arena::fresh_level);
                        scope.levels.push((name.name.clone(), level));
                        level
                    }
                },
            },
        }
    }

    /// Reports fields of the same name.
    pub fn check_fields_differ<'n>(&mut self, names: impl Iterator<Item = &'n Ident>) {
        let mut seen: HashMap<&Name, Span> = HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(&name.name, name.span) {
                let error = Diagnostic::new(name.span, format!("the field `{}` is there twice", name.name))
                    .label("again");
                self.errors.push(error.other(first, "for the first time"));
            }
        }
    }
}

/// Returns how many levels above `thread` a named level is.
pub fn level_named(name: &str) -> Option<u32> {
    ["thread", "warp", "block", "grid"].iter().position(|level| *level == name).map(|above| above as u32)
}

/// Writes a number of arguments in words.
pub fn count(number: usize) -> String {
    match number {
        0 => "no arguments".to_string(),
        1 => "1 argument".to_string(),
        more => format!("{more} arguments"),
    }
}

/// Writes "is" or "are" with a number, in words.
pub fn are(number: usize) -> String {
    match number {
        0 => "are none".to_string(),
        1 => "is 1".to_string(),
        more => format!("are {more}"),
    }
}
