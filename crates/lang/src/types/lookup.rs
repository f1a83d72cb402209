//! Queries of editors about a program, which may have errors: where a name is defined, what is in scope, and types as they are written.
//! Infers nothing; says so where something is not known.

use super::arena::Ty;
use super::checked::{Checked, FunctionId, Resolved};
use super::export::is_known;
use super::hash::NumberMap;
use super::names::Entity;
use super::print::Namer;
use super::ty::{Scheme, SumId, Type};
use crate::ast::{ExprId, Ident, Name, Path, TypeDeclaration, TypeDeclarationKind};
use crate::source::{FileId, Span};

impl Checked {
    /// Returns the type of an expression, if all of it is known.
    pub fn known_type_of(&self, expression: ExprId) -> Option<Type> {
        self.known(*self.types.get(expression.0 as usize)?)
    }

    /// Returns the type of a name that a parameter, `let`, `case` or comprehension binds, by the name's span, if all of it is known.
    pub fn type_of_binding(&self, name: Span) -> Option<Type> {
        self.known(*self.locals.get(&name)?)
    }

    fn known(&self, ty: Ty) -> Option<Type> {
        // In a program with errors, an undecided variable may still be anything.
        let export = || match self.is_right {
            true => self.arena.export(ty),
            false => self.arena.export_for_message(ty),
        };
        let small = self.arena.is_small(ty, &mut NumberMap::default());
        small.then(export).filter(is_known)
    }

    /// Returns the scheme of a definition, if all of it is known.
    pub fn scheme_of(&self, meaning: &Resolved) -> Option<Scheme> {
        let scheme = match meaning {
            Resolved::Local => return None,
            Resolved::Function(function) => self.schemes.get(function.0 as usize)?.clone(),
            Resolved::Builtin(name) => self.scheme_of_builtin(name)?,
            Resolved::Constructor(sum, number) => {
                self.arena.export_scheme(self.constructors.get(sum.number as usize)?.get(*number)?)
            }
        };
        is_known(&scheme.ty).then_some(scheme)
    }

    /// Writes a type as in a function: variables have the names that the function's scheme gives them.
    pub fn show_in(&self, function: Option<FunctionId>, ty: &Type) -> String {
        let mut namer = Namer::default();
        let scheme = function.and_then(|function| self.schemes.get(function.0 as usize));
        if let Some(scheme) = scheme.filter(|scheme| is_known(&scheme.ty)) {
            for (variable, _, name) in &scheme.variables {
                if let Some(name) = name {
                    namer.suggest(*variable, name);
                }
            }
            namer.show(&scheme.ty);
        }
        namer.show(ty)
    }

    /// Returns the span of the name at the definition that a name in an expression refers to.
    pub fn definition(&self, expression: ExprId) -> Option<Span> {
        self.binding(expression).or_else(|| self.definition_of(&self.resolved(expression)?))
    }

    /// Returns the span of the name at a definition.
    pub fn definition_of(&self, meaning: &Resolved) -> Option<Span> {
        match meaning {
            Resolved::Local => None,
            Resolved::Function(function) => {
                self.names.functions.get(function.0 as usize)?;
                Some(self.function(*function).0.name.span)
            }
            Resolved::Builtin(name) => {
                let signatures = &self.modules.first()?.1.signatures;
                Some(signatures.iter().find(|signature| signature.name.name == *name)?.name.span)
            }
            Resolved::Constructor(sum, number) => Some(self.constructor_name(sum, *number)?.span),
        }
    }

    /// Returns the name of a constructor at its declaration.
    pub fn constructor_name(&self, sum: &SumId, number: usize) -> Option<&Ident> {
        match &self.declaration(*self.names.sums.get(sum.number as usize)?)?.kind {
            TypeDeclarationKind::Sum(constructors) => Some(&constructors.get(number)?.0),
            TypeDeclarationKind::Alias(_) => None,
        }
    }

    /// Returns the definition that a value's name refers to in a file, outside of its functions.
    pub fn value_named(&self, file: FileId, path: &Path) -> Option<Resolved> {
        let entity = self.names.value(self.module_of(file)?, path, &mut std::iter::empty()).ok()?;
        self.meaning(entity)
    }

    /// Returns the declaration that a type's name refers to in a file.
    pub fn type_named(&self, file: FileId, path: &Path) -> Option<&TypeDeclaration> {
        self.declaration(self.names.ty(self.module_of(file)?, path).ok()?)
    }

    /// Returns the declared types that are visible in a file.
    pub fn types_in_scope(&self, file: FileId) -> Vec<&TypeDeclaration> {
        let Some(module) = self.module_of(file) else { return Vec::new() };
        self.names.visible_types(module).into_iter().filter_map(|ty| self.declaration(ty)).collect()
    }

    /// Returns the values that are visible in a file without the name of another one. A name of several is listed once, for its meaning here.
    pub fn values_in_scope(&self, file: FileId) -> Vec<(Name, Resolved)> {
        let Some(module) = self.module_of(file) else { return Vec::new() };
        let mut seen = std::collections::HashSet::new();
        let visible = self.names.visible_values(module).filter(|(name, _)| seen.insert((*name).clone()));
        visible.filter_map(|(name, entity)| Some((name.clone(), self.meaning(entity)?))).collect()
    }

    /// Returns the values that a file defines.
    pub fn values_of(&self, file: FileId) -> Vec<(Name, Resolved)> {
        let Some(module) = self.module_of(file) else { return Vec::new() };
        let own = self.names.own_values(module);
        own.filter_map(|(name, entity)| Some((name.clone(), self.meaning(entity)?))).collect()
    }

    /// Returns the files that a file imports, by name.
    pub fn imports_of(&self, file: FileId) -> Vec<(Name, FileId)> {
        let Some(module) = self.module_of(file) else { return Vec::new() };
        let imported = self.names.imported(module);
        imported.filter_map(|(name, module)| Some((name.clone(), self.modules.get(module)?.0))).collect()
    }

    /// Returns the function that a file defines by this name.
    pub fn function_named(&self, file: FileId, name: &str) -> Option<FunctionId> {
        self.names.own_function(self.module_of(file)?, name)
    }

    fn module_of(&self, file: FileId) -> Option<usize> {
        self.modules.iter().position(|(other, _)| *other == file)
    }

    fn declaration(&self, ty: u32) -> Option<&TypeDeclaration> {
        let declared = self.names.declared.get(ty as usize)?;
        self.modules.get(declared.module)?.1.types.get(declared.index)
    }

    /// Converts an entry of the name tables to a definition that needs no tables.
    pub(super) fn meaning(&self, entity: Entity) -> Option<Resolved> {
        match entity {
            Entity::Function(function) => Some(Resolved::Function(function)),
            Entity::Builtin(number) => {
                let signature = self.modules.first()?.1.signatures.get(number as usize)?;
                Some(Resolved::Builtin(signature.name.name.clone()))
            }
            Entity::Constructor(sum, number) => {
                Some(Resolved::Constructor(self.arena.sum_id(sum), number as usize))
            }
        }
    }
}
