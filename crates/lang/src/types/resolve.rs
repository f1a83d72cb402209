//! Name resolution, before types are known: the definition of every name in a function. Reports undefined names. Also finds which functions use
//! which, for the order of inference.

use super::checked::FunctionId;
use super::functions::MAX_ERRORS;
use super::hash::NumberMap;
use super::names::{Entity, Names};
use crate::ast::{
    Binding, Drawn, Expr, ExprKind, Function, Name, Parameter, Path, Pattern, PatternKind, Qualifier,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// The definition that a name in an expression refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A local binding: the span of the name there.
    Local(Span),
    Global(Entity),
    /// No definition; the error has been reported.
    Nothing,
}

/// The definitions that the names of a program refer to.
pub struct Meanings {
    /// Definitions of names, by the number of the expression.
    pub names: Vec<Target>,
    /// The sum and constructor of patterns, by the pattern's span.
    pub patterns: NumberMap<Span, (u32, u32)>,
    /// The functions that each function uses.
    pub uses: Vec<Vec<FunctionId>>,
    /// Functions with an undefined name.
    pub broken: HashSet<FunctionId>,
}

impl Meanings {
    pub fn new(expressions: u32, functions: usize) -> Meanings {
        Meanings {
            names: vec![Target::Nothing; expressions as usize],
            patterns: NumberMap::default(),
            uses: vec![Vec::new(); functions],
            broken: HashSet::new(),
        }
    }

    /// Resolves the names of a function.
    pub fn resolve(
        &mut self,
        names: &Names,
        id: FunctionId,
        function: &Function,
        errors: &mut Vec<Diagnostic>,
    ) {
        let module = names.functions[id.0 as usize].0;
        let before = errors.len();
        let mut resolver =
            Resolver { names, meanings: self, module, id, locals: HashMap::new(), bound: Vec::new(), errors };
        resolver.function(function);
        if errors.len() > before {
            self.broken.insert(id);
        }
        let uses = &mut self.uses[id.0 as usize];
        uses.sort_unstable();
        uses.dedup();
    }
}

struct Resolver<'a> {
    names: &'a Names,
    meanings: &'a mut Meanings,
    module: usize,
    id: FunctionId,
    /// The spans where each name is bound, innermost last.
    locals: HashMap<Name, Vec<Span>>,
    /// The names that are bound, in their order.
    bound: Vec<Name>,
    errors: &'a mut Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn function(&mut self, function: &Function) {
        self.parameters(&function.parameters, &function.body);
    }

    fn parameters(&mut self, parameters: &[Parameter], body: &Expr) {
        let outer = self.bound.len();
        let mut seen = HashMap::new();
        for parameter in parameters {
            if let Parameter::Value(pattern) = parameter {
                self.pattern(pattern, &mut seen);
            }
        }
        self.expr(body);
        self.leave(outer);
    }

    fn bind(&mut self, name: &Name, span: Span) {
        self.locals.entry(name.clone()).or_default().push(span);
        self.bound.push(name.clone());
    }

    fn leave(&mut self, outer: usize) {
        for name in self.bound.drain(outer..) {
            if let Some(spans) = self.locals.get_mut(&name) {
                spans.pop();
                if spans.is_empty() {
                    self.locals.remove(&name);
                }
            }
        }
    }

    /// Binds the names of a pattern; `seen` has those that are bound together with them, which must differ.
    fn pattern(&mut self, pattern: &Pattern, seen: &mut HashMap<Name, Span>) {
        match &pattern.kind {
            PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
            PatternKind::Name(name) => {
                if let Some(first) = seen.insert(name.clone(), pattern.span) {
                    let error =
                        Diagnostic::new(pattern.span, format!("`{name}` is bound twice here")).label("again");
                    self.errors.push(
                        error
                            .other(first, "for the first time")
                            .help("call one of them `_` or something else"),
                    );
                }
                self.bind(name, pattern.span);
            }
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern(part, seen)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, field)| self.pattern(field, seen)),
            PatternKind::Constructor(path, parts) => {
                match self.names.value(self.module, path, &mut std::iter::empty()) {
                    Ok(Entity::Constructor(sum, number)) => {
                        self.meanings.patterns.insert(pattern.span, (sum, number));
                    }
                    Ok(_) => self.errors.push(Diagnostic::new(
                        path.name.span,
                        format!("`{}` is no constructor", path.name.name),
                    )),
                    Err(error) => self.errors.push(error),
                }
                parts.iter().for_each(|part| self.pattern(part, seen));
            }
        }
    }

    fn name(&mut self, path: &Path) -> Target {
        if path.module.is_none()
            && let Some(span) = self.locals.get(&path.name.name).and_then(|spans| spans.last())
        {
            return Target::Local(*span);
        }
        // The search for the nearest name is slow, so it is not repeated after so many errors.
        if self.errors.len() > MAX_ERRORS {
            return Target::Nothing;
        }
        match self.names.value(self.module, path, &mut self.locals.keys()) {
            Ok(entity) => {
                if let Entity::Function(function) = entity {
                    self.meanings.uses[self.id.0 as usize].push(function);
                }
                Target::Global(entity)
            }
            Err(error) => {
                self.errors.push(error);
                Target::Nothing
            }
        }
    }

    /// Resolves the names of an expression. Left operands and functions of applications are visited in a loop: chains of them may be long.
    fn expr(&mut self, mut expr: &Expr) {
        loop {
            match &expr.kind {
                ExprKind::Apply(function, argument) => {
                    self.expr(argument);
                    expr = function;
                }
                ExprKind::Binary(_, _, left, right) => {
                    self.expr(right);
                    expr = left;
                }
                ExprKind::ApplyLevel(inner, _)
                | ExprKind::Field(inner, _)
                | ExprKind::Negate(inner)
                | ExprKind::Typed(inner, _) => {
                    expr = inner;
                }
                _ => break,
            }
        }
        match &expr.kind {
            ExprKind::Name(path) => {
                let target = self.name(path);
                if let Some(slot) = self.meanings.names.get_mut(expr.id.0 as usize) {
                    *slot = target;
                }
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Record(fields) => fields.iter().for_each(|(_, field)| self.expr(field)),
            ExprKind::Update(record, fields) => {
                self.expr(record);
                fields.iter().for_each(|(_, field)| self.expr(field));
            }
            ExprKind::Fn(parameters, body) => self.parameters(parameters, body),
            ExprKind::Let(bindings, body) => {
                let outer = self.bound.len();
                for binding in bindings {
                    match binding {
                        Binding::Value(pattern, value) => {
                            self.expr(value);
                            self.pattern(pattern, &mut HashMap::new());
                        }
                        Binding::Function(function) => {
                            self.bind(&function.name.name, function.name.span);
                            self.function(function);
                        }
                    }
                }
                self.expr(body);
                self.leave(outer);
            }
            ExprKind::If(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.expr(part))
            }
            ExprKind::Case(value, arms) => {
                self.expr(value);
                for (pattern, arm) in arms {
                    let outer = self.bound.len();
                    self.pattern(pattern, &mut HashMap::new());
                    self.expr(arm);
                    self.leave(outer);
                }
            }
            ExprKind::Comprehension(head, qualifiers) => {
                let outer = self.bound.len();
                qualifiers.iter().for_each(|qualifier| self.qualifier(qualifier));
                self.expr(head);
                self.leave(outer);
            }
            _ => {}
        }
    }

    fn qualifier(&mut self, qualifier: &Qualifier) {
        match qualifier {
            Qualifier::Draw(draws) => {
                for (_, drawn) in draws {
                    match drawn {
                        Drawn::Array(array) => self.expr(array),
                        Drawn::Range(from, to) => {
                            self.expr(from);
                            self.expr(to);
                        }
                    }
                }
                let mut seen = HashMap::new();
                draws.iter().for_each(|(pattern, _)| self.pattern(pattern, &mut seen));
            }
            Qualifier::Guard(expr) | Qualifier::GroupBy(expr) | Qualifier::Take(expr) => self.expr(expr),
            Qualifier::Let(pattern, value) => {
                self.expr(value);
                self.pattern(pattern, &mut HashMap::new());
            }
            Qualifier::OrderBy(keys) => keys.iter().for_each(|(key, _)| self.expr(key)),
            Qualifier::Distinct(_) => {}
        }
    }
}
