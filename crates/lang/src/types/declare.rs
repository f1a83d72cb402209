//! Declared types: sums, and other names for types. None contains itself.

use super::arena::{Node, SumKind, Ty};
use super::checked::SumDeclaration;
use super::elaborate::TypeScope;
use super::infer::Checker;
use super::order::components;
use super::scheme::InferredScheme;
use super::ty::{Kind, Variable};
use crate::ast::{Ident, Name, TypeDeclarationKind, TypeExpr, TypeExprKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Checker<'_> {
    /// Reads all declared types, each after those that it mentions.
    pub fn declarations(&mut self) {
        let edges: Vec<Vec<u32>> = (0..self.names.declared.len())
            .map(|number| {
                let declared = self.names.declared[number];
                let mut found = Vec::new();
                match &self.program.modules[declared.module].module.types[declared.index].kind {
                    TypeDeclarationKind::Alias(body) => self.mentioned(declared.module, body, &mut found),
                    TypeDeclarationKind::Sum(constructors) => {
                        let fields = constructors.iter().flat_map(|(_, fields)| fields);
                        fields.for_each(|field| self.mentioned(declared.module, field, &mut found));
                    }
                }
                found
            })
            .collect();
        let groups = components(&edges);
        for group in &groups {
            let first = group[0];
            if group.len() > 1 || edges[first as usize].contains(&first) {
                self.contains_itself(group);
            }
        }
        for number in groups.into_iter().flatten() {
            if !self.broken_types.contains(&number) {
                self.declare(number);
            }
        }
    }

    /// Collects the declared types that a written type mentions.
    fn mentioned(&self, module: usize, written: &TypeExpr, found: &mut Vec<u32>) {
        match &written.kind {
            TypeExprKind::Error => {}
            TypeExprKind::Name(path, arguments) => {
                if path.module.is_some() || path.name.name.starts_with(char::is_uppercase) {
                    found.extend(self.names.ty(module, path).ok());
                }
                arguments.iter().for_each(|argument| self.mentioned(module, argument, found));
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.mentioned(module, part, found)),
            TypeExprKind::Record(fields) => {
                fields.iter().for_each(|(_, field)| self.mentioned(module, field, found))
            }
            TypeExprKind::Function(parameter, result) => {
                self.mentioned(module, parameter, found);
                self.mentioned(module, result, found);
            }
            TypeExprKind::LevelFunction(_, part) | TypeExprKind::Array(part, _, _) => {
                self.mentioned(module, part, found)
            }
        }
    }

    fn contains_itself(&mut self, group: &[u32]) {
        let declared: Vec<(Name, Span)> = group
            .iter()
            .map(|number| {
                let declared = self.names.declared[*number as usize];
                let name = &self.program.modules[declared.module].module.types[declared.index].name;
                (name.name.clone(), name.span)
            })
            .collect();
        let (name, span) = &declared[0];
        let mut error = Diagnostic::new(*span, format!("the type `{name}` contains itself"));
        for (other, span) in declared.iter().skip(1).take(5) {
            error = error.other(*span, format!("through `{other}`"));
        }
        self.errors.push(error.help("values have a size that is known: use an array and indices into it"));
        self.broken_types.extend(group);
    }

    /// Reads the declaration of a sum or of another name; those that it mentions have been read.
    fn declare(&mut self, number: u32) {
        let declared = self.names.declared[number as usize];
        let program = self.program;
        let declaration = &program.modules[declared.module].module.types[declared.index];
        let mut scope = TypeScope::of_declaration(&declaration.name.name);
        self.arena.depth += 1;
        let mut parameters = Vec::new();
        for parameter in &declaration.parameters {
            let ty = self.arena.fresh(Kind::Type);
            if scope.types.insert(parameter.name.clone(), ty).is_some() {
                let message = format!("`{}` is a parameter twice", parameter.name);
                self.errors.push(Diagnostic::new(parameter.span, message));
            }
            parameters.push(ty);
        }
        match (&declaration.kind, declared.sum) {
            (TypeDeclarationKind::Alias(body), _) => {
                let ty = self.elaborate(declared.module, body, &mut scope);
                self.arena.depth -= 1;
                if let Node::Record(shape, _) = self.arena.look(ty).1 {
                    self.record_aliases.insert(number, self.arena.shape(shape));
                }
            }
            (TypeDeclarationKind::Sum(constructors), sum) => {
                let fields: Vec<Vec<Ty>> = constructors
                    .iter()
                    .map(|(_, fields)| {
                        fields
                            .iter()
                            .map(|field| self.elaborate(declared.module, field, &mut scope))
                            .collect()
                    })
                    .collect();
                self.arena.depth -= 1;
                self.finish_sum(sum.unwrap_or(0), &declaration.name, &parameters, fields);
                for (parameter, ty) in declaration.parameters.iter().zip(&parameters) {
                    if let Node::Rigid { variable, .. } = self.arena.look(*ty).1 {
                        self.arena.names.insert(variable, parameter.name.clone());
                    }
                }
            }
        }
    }

    fn finish_sum(
        &mut self,
        sum: u32,
        Ident { name, span }: &Ident,
        parameters: &[Ty],
        fields: Vec<Vec<Ty>>,
    ) {
        // The kind of a sum is the narrowest that all fields are of, whatever its arguments are.
        let all: Vec<Ty> = fields.iter().flatten().copied().collect();
        let narrowest = [Kind::Equal, Kind::Ground].into_iter().find(|kind| {
            // On trial: the parameters must not become of that kind by it.
            all.iter().all(|field| {
                let fits = self.arena.require(*field, *kind).is_ok();
                self.arena.undo();
                fits
            })
        });
        let narrowest = narrowest.unwrap_or(Kind::Type);
        let quantified = self.arena.tuple(parameters);
        let scheme = self.arena.generalise(quantified).unwrap_or(InferredScheme::plain(quantified));
        let kinds = scheme
            .variables
            .iter()
            .filter_map(|variable| Some(self.arena.quantified(*variable)?.1))
            .collect();
        self.parameter_kinds[sum as usize] = kinds;
        let (size, too_large) = self.arena.measure_all(&all);
        if too_large {
            let number = self.names.sums[sum as usize];
            self.errors
                .push(Diagnostic::new(*span, format!("values of the type `{name}` would be too large")));
            self.broken_types.insert(number);
        }
        self.arena.sums[sum as usize] = SumKind { name: name.clone(), narrowest, size };
        let parts = self.arena.list(parameters);
        let result = self.arena.add(Node::Sum(sum, parts));
        let schemes = fields.iter().map(|fields| {
            let ty = fields.iter().rev().fold(result, |result, field| self.arena.function(*field, result));
            InferredScheme { variables: scheme.variables.clone(), ty }
        });
        self.constructors[sum as usize] = schemes.collect();
        self.fields[sum as usize] = fields;
        self.parameters[sum as usize] = parameters.to_vec();
    }

    /// Converts a sum to data.
    pub fn sum_declaration(&self, sum: u32) -> SumDeclaration {
        let parameters: Vec<Variable> = self.parameters[sum as usize]
            .iter()
            .filter_map(|parameter| match self.arena.look(*parameter).1 {
                Node::Rigid { variable, .. } => Some(variable),
                _ => None,
            })
            .collect();
        let constructors = self.fields[sum as usize].iter().enumerate().map(|(number, fields)| {
            let fields = fields.iter().map(|field| self.arena.export(*field)).collect();
            (self.constructor_name(sum, number as u32), fields)
        });
        SumDeclaration {
            name: self.arena.sums[sum as usize].name.clone(),
            parameters,
            constructors: constructors.collect(),
        }
    }
}
