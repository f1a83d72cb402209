//! The walk over a file's tree that finds its names. The checker knows what each means; here they are only recorded.

use crate::index::{Application, Binder, CaseOf, Index, NameKind, Occurrence};
use pumice_lang::ast::{
    Binding, Drawn, Expr, ExprId, ExprKind, Function, Ident, LevelExpr, Module, Name, Parameter, Path,
    Pattern, PatternKind, Qualifier, TypeDeclaration, TypeDeclarationKind, TypeExpr, TypeExprKind,
};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::{Checked, FunctionId, Resolved, Type};

/// Records the names of a file, in the order of the walk.
pub fn index(checked: &Checked, file: FileId, module: &Module) -> Index {
    let index = Index::default();
    let mut walk = Walk { checked, file, function: None, hinted: false, levels: Vec::new(), index };
    walk.module(module);
    walk.index
}

struct Walk<'c> {
    checked: &'c Checked,
    file: FileId,
    function: Option<FunctionId>,
    /// Whether the parameters of the current function have no written type.
    hinted: bool,
    levels: Vec<(Name, Span)>,
    index: Index,
}

impl Walk<'_> {
    fn module(&mut self, module: &Module) {
        for import in &module.imports {
            let imported = self.checked.imports_of(self.file);
            let found = imported.iter().find(|(name, _)| *name == import.module.name);
            let Some((_, file)) = found else { continue };
            self.name(&import.module, Span { file: *file, start: 0, end: 0 }, NameKind::Module, None);
            for listed in &import.names {
                let path = Path { module: Some(import.module.clone()), name: listed.clone() };
                self.value(&path.name, self.checked.value_named(self.file, &path), None);
                self.type_name(&path);
            }
        }
        for declaration in &module.types {
            self.declaration(declaration);
        }
        for signature in &module.signatures {
            if let Some(function) = self.checked.function_named(self.file, &signature.name.name) {
                self.value(&signature.name, Some(Resolved::Function(function)), None);
            }
            self.ty(&signature.ty);
        }
        for function in &module.functions {
            let signed = module.signatures.iter().any(|signature| signature.name.name == function.name.name);
            self.function = self.checked.function_named(self.file, &function.name.name);
            self.name(&function.name, function.name.span, NameKind::Function, None);
            self.hinted = !signed;
            self.parameters(&function.parameters, &function.body);
            self.function = None;
        }
    }

    fn declaration(&mut self, declaration: &TypeDeclaration) {
        self.name(&declaration.name, declaration.name.span, NameKind::Type, None);
        match &declaration.kind {
            TypeDeclarationKind::Alias(body) => {
                if let TypeExprKind::Record(fields) = &body.kind {
                    for (field, _) in fields {
                        self.name(field, field.span, NameKind::Field, None);
                    }
                }
                self.ty(body);
            }
            TypeDeclarationKind::Sum(constructors) => {
                for (constructor, fields) in constructors {
                    self.name(constructor, constructor.span, NameKind::Constructor, None);
                    fields.iter().for_each(|field| self.ty(field));
                }
            }
        }
    }

    fn name(&mut self, ident: &Ident, target: Span, kind: NameKind, expression: Option<ExprId>) {
        // A missing name has no letters.
        if ident.span.start < ident.span.end {
            let function = self.function;
            let span = ident.span;
            self.index.occurrences.push(Occurrence {
                span,
                target,
                kind,
                expression,
                is_pun: false,
                function,
            });
        }
    }

    fn value(&mut self, ident: &Ident, meaning: Option<Resolved>, expression: Option<ExprId>) {
        let Some(meaning) = meaning else { return };
        let kind = match meaning {
            Resolved::Local => return,
            Resolved::Function(_) => NameKind::Function,
            Resolved::Builtin(_) => NameKind::Builtin,
            Resolved::Constructor(..) => NameKind::Constructor,
        };
        if let Some(target) = self.checked.definition_of(&meaning) {
            self.name(ident, target, kind, expression);
        }
    }

    fn qualifier_of(&mut self, path: &Path) {
        if let Some(module) = &path.module {
            let imported = self.checked.imports_of(self.file);
            if let Some((_, file)) = imported.iter().find(|(name, _)| *name == module.name) {
                self.name(module, Span { file: *file, start: 0, end: 0 }, NameKind::Module, None);
            }
        }
    }

    fn type_name(&mut self, path: &Path) {
        if let Some(target) = self.checked.type_named(self.file, path).map(|declared| declared.name.span) {
            self.name(&path.name, target, NameKind::Type, None);
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        self.index.types.push(ty.span);
        match &ty.kind {
            TypeExprKind::Error => {}
            TypeExprKind::Name(path, arguments) => {
                self.qualifier_of(path);
                self.type_name(path);
                arguments.iter().for_each(|argument| self.ty(argument));
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.ty(part)),
            TypeExprKind::Record(fields) => fields.iter().for_each(|(_, field)| self.ty(field)),
            TypeExprKind::Function(parameter, result) => {
                self.ty(parameter);
                self.ty(result);
            }
            TypeExprKind::LevelFunction(_, result) => self.ty(result),
            TypeExprKind::Array(element, _, level) => {
                self.ty(element);
                level.iter().for_each(|level| self.level(level));
            }
        }
    }

    fn level(&mut self, level: &LevelExpr) {
        match level {
            LevelExpr::Above(_, level, _) => self.level(level),
            LevelExpr::Name(name) => {
                let known = self.levels.iter().rev().find(|(known, _)| *known == name.name);
                if let Some((_, target)) = known.cloned() {
                    self.name(name, target, NameKind::Level, None);
                }
            }
        }
    }

    fn parameters(&mut self, parameters: &[Parameter], body: &Expr) {
        let outer = self.levels.len();
        for parameter in parameters {
            match parameter {
                Parameter::Value(pattern) => self.pattern(pattern, body.span, NameKind::Parameter),
                Parameter::Level(level) => {
                    self.name(level, level.span, NameKind::Level, None);
                    self.levels.push((level.name.clone(), level.span));
                }
            }
        }
        self.expr(body);
        self.levels.truncate(outer);
    }

    fn pattern(&mut self, pattern: &Pattern, scope: Span, kind: NameKind) {
        self.index.patterns.push(pattern.span);
        match &pattern.kind {
            PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
            PatternKind::Name(name) => self.bind(name, pattern.span, scope, kind),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern(part, scope, kind)),
            PatternKind::Record(fields) => {
                let names: Vec<&Name> = fields.iter().map(|(name, _)| &name.name).collect();
                for (name, field) in fields {
                    let is_pun = field.span == name.span;
                    match self.field(name, &names, false) {
                        Some(target) if !is_pun => self.name(name, target, NameKind::Field, None),
                        _ => {}
                    }
                    self.pattern(field, scope, kind);
                    if let Some(last) = self.index.occurrences.last_mut().filter(|_| is_pun) {
                        last.is_pun = true;
                    }
                }
            }
            PatternKind::Constructor(path, parts) => {
                self.qualifier_of(path);
                let meaning = self.checked.constructor_of_pattern(pattern.span);
                self.value(&path.name, meaning.map(|(sum, number)| Resolved::Constructor(sum, number)), None);
                parts.iter().for_each(|part| self.pattern(part, scope, kind));
            }
        }
    }

    fn bind(&mut self, name: &Name, span: Span, scope: Span, kind: NameKind) {
        self.name(&Ident { name: name.clone(), span }, span, kind, None);
        let hinted = kind != NameKind::Parameter || self.hinted;
        self.index.binders.push(Binder { name: name.clone(), span, scope, hinted, function: self.function });
    }

    /// Returns the field of a declared record that has these fields, and, if `all`, no others.
    fn field(&self, name: &Ident, names: &[&Name], all: bool) -> Option<Span> {
        self.checked.types_in_scope(self.file).into_iter().find_map(|declaration| {
            let TypeDeclarationKind::Alias(TypeExpr { kind: TypeExprKind::Record(fields), .. }) =
                &declaration.kind
            else {
                return None;
            };
            let has = |name: &Name| fields.iter().any(|(field, _)| field.name == *name);
            let fits = names.iter().all(|name| has(name)) && (!all || names.len() == fields.len());
            let (field, _) = fields.iter().find(|(field, _)| fits && field.name == name.name)?;
            Some(field.span)
        })
    }

    /// Records the name of a field of an expression that is a record.
    fn record_field(&mut self, record: ExprId, name: &Ident) {
        let Some(Type::Record(fields)) = self.checked.known_type_of(record) else { return };
        let names: Vec<&Name> = fields.iter().map(|(name, _)| name).collect();
        if let Some(target) = self.field(name, &names, true) {
            self.name(name, target, NameKind::Field, Some(record));
        }
    }

    fn function(&mut self, function: &Function, scope: Span) {
        self.bind(&function.name.name, function.name.span, scope, NameKind::Variable);
        let outer = std::mem::replace(&mut self.hinted, true);
        self.parameters(&function.parameters, &function.body);
        self.hinted = outer;
    }

    fn expr(&mut self, expr: &Expr) {
        self.index.expressions.push((expr.span, expr.id, self.function));
        match &expr.kind {
            ExprKind::Apply(..) | ExprKind::ApplyLevel(..) => self.application(expr),
            ExprKind::Binary(_, _, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Negate(inner) => self.expr(inner),
            ExprKind::Field(record, name) => {
                self.expr(record);
                self.index.fields.push((record.id, name.span));
                self.record_field(record.id, name);
            }
            ExprKind::Typed(inner, ty) => {
                self.expr(inner);
                self.ty(ty);
            }
            ExprKind::Name(path) => self.path(expr.id, path),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Record(fields) => {
                for (name, field) in fields {
                    self.record_field(expr.id, name);
                    self.expr(field);
                }
            }
            ExprKind::Update(record, fields) => {
                self.expr(record);
                for (name, field) in fields {
                    self.record_field(record.id, name);
                    self.expr(field);
                }
            }
            ExprKind::Fn(parameters, body) => {
                let outer = std::mem::replace(&mut self.hinted, true);
                self.parameters(parameters, body);
                self.hinted = outer;
            }
            ExprKind::Let(bindings, body) => {
                for binding in bindings {
                    match binding {
                        Binding::Value(pattern, value) => {
                            self.expr(value);
                            self.pattern(pattern, value.span.behind().to(body.span), NameKind::Variable);
                        }
                        Binding::Function(function) => self.function(function, function.span.to(body.span)),
                    }
                }
                self.expr(body);
            }
            ExprKind::If(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.expr(part))
            }
            ExprKind::Case(value, arms) => self.case(value, arms),
            ExprKind::Comprehension(head, qualifiers) => {
                qualifiers.iter().for_each(|qualifier| self.qualifier(qualifier, expr.span));
                self.expr(head);
            }
            _ => {}
        }
    }

    fn path(&mut self, id: ExprId, path: &Path) {
        self.qualifier_of(path);
        match (self.checked.binding(id), self.checked.resolved(id)) {
            (Some(target), _) => {
                let binder = self.index.occurrences.iter().rev().find(|occurrence| occurrence.span == target);
                let kind = binder.map_or(NameKind::Variable, |binder| binder.kind);
                self.name(&path.name, target, kind, Some(id));
            }
            (None, meaning) => self.value(&path.name, meaning, Some(id)),
        }
    }

    /// Walks along the functions of an application in a loop: it may be long.
    fn application(&mut self, expr: &Expr) {
        let (mut head, mut arguments) = (expr, Vec::new());
        loop {
            match &head.kind {
                ExprKind::Apply(function, argument) => {
                    arguments.push(argument.span);
                    self.expr(argument);
                    head = function;
                }
                ExprKind::ApplyLevel(function, level) => {
                    self.level(level);
                    let behind = Span { start: function.span.end, ..head.span };
                    arguments.push(behind);
                    head = function;
                }
                _ => break,
            }
        }
        arguments.reverse();
        self.index.applications.push(Application {
            span: expr.span,
            head: head.id,
            head_span: head.span,
            arguments,
        });
        self.expr(head);
    }

    fn case(&mut self, value: &Expr, arms: &[(Pattern, Expr)]) {
        self.expr(value);
        let constructor = |pattern: &Pattern| match &pattern.kind {
            PatternKind::Constructor(path, _) => Some(path.name.name.clone()),
            _ => None,
        };
        let patterns = arms.iter().map(|(pattern, _)| (pattern.span, constructor(pattern))).collect();
        self.index.cases.push(CaseOf { value: value.id, patterns });
        for (pattern, arm) in arms {
            self.pattern(pattern, arm.span, NameKind::Variable);
            self.expr(arm);
        }
    }

    fn qualifier(&mut self, qualifier: &Qualifier, scope: Span) {
        match qualifier {
            Qualifier::Draw(draws) => {
                for (pattern, drawn) in draws {
                    match drawn {
                        Drawn::Array(array) => self.expr(array),
                        Drawn::Range(from, to) => {
                            self.expr(from);
                            self.expr(to);
                        }
                    }
                    self.pattern(pattern, scope, NameKind::Variable);
                }
            }
            Qualifier::Guard(expr) | Qualifier::GroupBy(expr) | Qualifier::Take(expr) => self.expr(expr),
            Qualifier::Let(pattern, value) => {
                self.expr(value);
                self.pattern(pattern, scope, NameKind::Variable);
            }
            Qualifier::OrderBy(keys) => keys.iter().for_each(|(key, _)| self.expr(key)),
            Qualifier::Distinct(_) => {}
        }
    }
}
