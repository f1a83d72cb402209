//! Tables of the names that files define: functions, built-ins, constructors and types, of the file itself, of files that it
//! imports, and of the prelude and the built-ins, in this order.

use super::checked::FunctionId;
use super::elsewhere::elsewhere;
use crate::ast::{Ident, Name, Path, TypeDeclarationKind};
use crate::diagnostic::Diagnostic;
use crate::program::{Program, STANDARD};
use crate::source::Span;
use std::collections::HashMap;

/// The definition that a value's name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Function(FunctionId),
    /// The signature's number in the file of built-ins.
    Builtin(u32),
    /// The sum's number, and the number of its constructor.
    Constructor(u32, u32),
}

/// A declared type: the file and its number there; the sum's number if it is one.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    pub module: usize,
    pub index: usize,
    pub sum: Option<u32>,
}

/// The names of a file.
#[derive(Default)]
struct Scope {
    values: HashMap<Name, (Entity, Span)>,
    types: HashMap<Name, (u32, Span)>,
    listed_values: HashMap<Name, (Entity, Span)>,
    listed_types: HashMap<Name, (u32, Span)>,
    modules: HashMap<Name, usize>,
}

/// The names of all files.
#[derive(Default)]
pub struct Names {
    scopes: Vec<Scope>,
    /// The file and the number there of each function.
    pub functions: Vec<(usize, usize)>,
    pub declared: Vec<Declared>,
    /// The declaration of each sum.
    pub sums: Vec<u32>,
}

impl Names {
    /// Reads all files, and reports duplicate definitions and imports that do not exist.
    pub fn collect(program: &Program, errors: &mut Vec<Diagnostic>) -> Names {
        let mut names = Names::default();
        for (number, loaded) in program.modules.iter().enumerate() {
            let mut scope = Scope::default();
            if number == 0 {
                for (index, signature) in loaded.module.signatures.iter().enumerate() {
                    let name = &signature.name;
                    define(&mut scope.values, name, Entity::Builtin(index as u32), errors);
                }
            }
            for (index, function) in loaded.module.functions.iter().enumerate() {
                let id = FunctionId(names.functions.len() as u32);
                names.functions.push((number, index));
                define(&mut scope.values, &function.name, Entity::Function(id), errors);
            }
            for (index, declaration) in loaded.module.types.iter().enumerate() {
                let mut declared = Declared { module: number, index, sum: None };
                let id = names.declared.len() as u32;
                if let TypeDeclarationKind::Sum(constructors) = &declaration.kind {
                    let sum = names.sums.len() as u32;
                    names.sums.push(id);
                    declared.sum = Some(sum);
                    for (number, (constructor, _)) in constructors.iter().enumerate() {
                        define(
                            &mut scope.values,
                            constructor,
                            Entity::Constructor(sum, number as u32),
                            errors,
                        );
                    }
                }
                names.declared.push(declared);
                define(&mut scope.types, &declaration.name, id, errors);
            }
            for import in &loaded.module.imports {
                let found = program.modules[..number]
                    .iter()
                    .position(|other| other.name == import.module.name && !other.is_built_in());
                let Some(other) = found else { continue };
                scope.modules.insert(import.module.name.clone(), other);
                for listed in &import.names {
                    names.list(&mut scope, program, other, listed, errors);
                }
            }
            names.scopes.push(scope);
        }
        names
    }

    /// Brings a name of another file into scope without that file's name. A sum brings its constructors.
    fn list(
        &self,
        scope: &mut Scope,
        program: &Program,
        other: usize,
        listed: &Ident,
        errors: &mut Vec<Diagnostic>,
    ) {
        let theirs = &self.scopes[other];
        let value = theirs.values.get(&listed.name).map(|(entity, _)| *entity);
        let ty = theirs.types.get(&listed.name).map(|(ty, _)| *ty);
        if value.is_none() && ty.is_none() {
            let module = &program.modules[other].name;
            let error = Diagnostic::new(
                listed.span,
                format!("`{module}` has nothing that is called `{}`", listed.name),
            );
            let near = nearest(&listed.name, theirs.values.keys().chain(theirs.types.keys()));
            errors.push(suggest(error, near));
        }
        if let Some(entity) = value {
            check_free(&scope.values, listed, errors);
            define(&mut scope.listed_values, listed, entity, errors);
        }
        if let Some(ty) = ty {
            check_free(&scope.types, listed, errors);
            define(&mut scope.listed_types, listed, ty, errors);
            if let Some(sum) = self.declared[ty as usize].sum {
                for (name, (entity, _)) in &theirs.values {
                    if matches!(entity, Entity::Constructor(of, _) if *of == sum) && *name != listed.name {
                        scope.listed_values.entry(name.clone()).or_insert((*entity, listed.span));
                    }
                }
            }
        }
    }

    /// Looks up a name in a file, or returns the error.
    pub fn value<'n>(
        &'n self,
        module: usize,
        path: &Path,
        locals: &mut dyn Iterator<Item = &'n Name>,
    ) -> Result<Entity, Diagnostic> {
        let name = &path.name;
        if let Some(qualifier) = &path.module {
            let theirs = &self.scopes[self.module(module, qualifier)?];
            let found = theirs.values.get(&name.name).map(|(entity, _)| *entity);
            return found.ok_or_else(|| {
                let message = format!("`{}` has nothing that is called `{}`", qualifier.name, name.name);
                suggest(Diagnostic::new(name.span, message), nearest(&name.name, theirs.values.keys()))
            });
        }
        let tables = self.value_tables(module);
        let found = tables.iter().find_map(|table| table.get(&name.name)).map(|(entity, _)| *entity);
        found.ok_or_else(|| {
            let known = tables.iter().flat_map(|table| table.keys()).chain(locals);
            let error = Diagnostic::new(name.span, format!("nothing is called `{}` here", name.name));
            let error = error.label("not found");
            match elsewhere(&name.name) {
                Some(help) => error.help(help),
                None => suggest(error, nearest(&name.name, known)),
            }
        })
    }

    /// Looks up the name of a type in a file, or returns the error.
    pub fn ty(&self, module: usize, path: &Path) -> Result<u32, Diagnostic> {
        let name = &path.name;
        let scopes: Vec<&HashMap<Name, (u32, Span)>> = match &path.module {
            Some(qualifier) => vec![&self.scopes[self.module(module, qualifier)?].types],
            None => {
                let own = &self.scopes[module];
                let mut tables = vec![&own.types, &own.listed_types];
                tables.extend(self.scopes.iter().take(STANDARD.len()).rev().map(|scope| &scope.types));
                tables
            }
        };
        let found = scopes.iter().find_map(|table| table.get(&name.name)).map(|(ty, _)| *ty);
        found.ok_or_else(|| {
            let error = Diagnostic::new(name.span, format!("no type is called `{}` here", name.name));
            suggest(
                error.label("not found"),
                nearest(&name.name, scopes.iter().flat_map(|table| table.keys())),
            )
        })
    }

    /// Returns the declared types that are visible in a file, also through the name of another file.
    pub fn visible_types(&self, module: usize) -> Vec<u32> {
        let scope = &self.scopes[module];
        let modules = scope.modules.values().copied().chain(0..STANDARD.len()).chain([module]);
        let mut types: Vec<u32> = modules
            .filter_map(|module| self.scopes.get(module))
            .flat_map(|scope| scope.types.values().map(|(ty, _)| *ty))
            .collect();
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Returns a function that a file defines itself.
    pub fn own_function(&self, module: usize, name: &str) -> Option<FunctionId> {
        match self.scopes.get(module)?.values.get(name)? {
            (Entity::Function(function), _) => Some(*function),
            _ => None,
        }
    }

    /// Iterates over the values that are visible in a file without the name of another one; of several with one name, the first is meant.
    pub fn visible_values(&self, module: usize) -> impl Iterator<Item = (&Name, Entity)> {
        self.value_tables(module).into_iter().flatten().map(|(name, (entity, _))| (name, *entity))
    }

    /// Iterates over the values that a file defines.
    pub fn own_values(&self, module: usize) -> impl Iterator<Item = (&Name, Entity)> {
        self.scopes
            .get(module)
            .into_iter()
            .flat_map(|scope| &scope.values)
            .map(|(name, (entity, _))| (name, *entity))
    }

    /// Iterates over the files that a file imports, by name.
    pub fn imported(&self, module: usize) -> impl Iterator<Item = (&Name, usize)> {
        self.scopes
            .get(module)
            .into_iter()
            .flat_map(|scope| &scope.modules)
            .map(|(name, module)| (name, *module))
    }

    fn value_tables(&self, module: usize) -> Vec<&HashMap<Name, (Entity, Span)>> {
        let own = &self.scopes[module];
        let mut tables = vec![&own.values, &own.listed_values];
        tables.extend(self.scopes.iter().take(STANDARD.len()).rev().map(|scope| &scope.values));
        tables
    }

    fn module(&self, module: usize, qualifier: &Ident) -> Result<usize, Diagnostic> {
        let known = &self.scopes[module].modules;
        known.get(&qualifier.name).copied().ok_or_else(|| {
            let error =
                Diagnostic::new(qualifier.span, format!("no file is imported as `{}`", qualifier.name));
            match nearest(&qualifier.name, known.keys()) {
                None => {
                    let top = Span { start: 0, end: 0, ..qualifier.span };
                    let import = format!("import {}", qualifier.name);
                    let error = error.help(format!("write `{import}` at the top of the file"));
                    error.fix(format!("write `{import}`"), vec![(top, format!("{import}\n"))])
                }
                near => suggest(error, near),
            }
        })
    }
}

fn define<T>(table: &mut HashMap<Name, (T, Span)>, name: &Ident, value: T, errors: &mut Vec<Diagnostic>) {
    if check_free(table, name, errors) {
        table.insert(name.name.clone(), (value, name.span));
    }
}

fn check_free<T>(table: &HashMap<Name, (T, Span)>, name: &Ident, errors: &mut Vec<Diagnostic>) -> bool {
    let Some((_, first)) = table.get(&name.name) else { return true };
    let error = Diagnostic::new(name.span, format!("`{}` is defined twice", name.name)).label("again");
    errors.push(error.other(*first, "for the first time"));
    false
}

/// Adds a name that was perhaps meant to an error.
pub fn suggest(error: Diagnostic, near: Option<&Name>) -> Diagnostic {
    match near {
        Some(near) => {
            let here = error.span;
            let error = error.help(format!("did you mean `{near}`?"));
            error.fix(format!("write `{near}`"), vec![(here, near.to_string())])
        }
        None => error,
    }
}

/// Returns the name that differs least, if it does not differ much.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n Name>) -> Option<&'n Name> {
    let allowed = match name.chars().count() {
        0..=2 => 0,
        3..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    let near = known.filter(|other| other.len().abs_diff(name.len()) <= 2 * allowed);
    let near =
        near.map(|other| (edit_distance(name, other), other)).filter(|(distance, _)| *distance <= allowed);
    // Of equally near ones the first in the alphabet, so that messages do not depend on the order of tables.
    near.min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1))).map(|(_, name)| name)
}

/// Returns the edit distance of two names: insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
