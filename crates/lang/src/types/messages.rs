//! Messages about type errors: what was needed and why, what is there, and what to write.

use super::application::{Operand, Step};
use super::arena::{LevelRef, Node, Ty};
use super::checked::Use;
use super::elaborate::{are, count};
use super::infer::Checker;
use super::names::Entity;
use super::print::Namer;
use super::resolve::Target;
use super::ty::{Kind, Scheme};
use super::unify::Clash;
use crate::ast::{Expr, ExprKind, Name};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The reason why a type is expected.
#[derive(Clone, Copy)]
pub enum Why<'e> {
    Nothing,
    /// An argument of a function, by its number from 0.
    Argument {
        head: &'e Expr,
        number: usize,
    },
    /// An operand of an operator.
    Operator(&'static str),
    Condition,
    Guard,
    /// The other branch, at this span.
    Branch(Span),
    Element,
    /// The first element, at this span.
    Elements(Span),
    Field(&'e Name),
    Annotation(Span),
    /// The signature of this function.
    Signature(&'e Name, Span),
    /// A function that uses itself.
    Recursion(&'e Name),
    Draw,
    Range,
    Take,
    /// A key, of this clause.
    Key(&'static str),
}

impl Checker<'_> {
    /// Writes a type for a message.
    pub fn show(&self, ty: Ty) -> String {
        self.namer().show(&self.arena.export_for_message(ty))
    }

    /// Writes a level for a message.
    pub fn show_level(&self, level: LevelRef) -> String {
        self.namer().level(self.arena.export_level_for_message(level))
    }

    fn namer(&self) -> Namer {
        let mut namer = Namer::default();
        // Only the variables of the current function: others have the same names.
        for (name, ty) in &self.scope.types {
            if let Node::Rigid { variable, .. } = self.arena.look(*ty).1 {
                namer.suggest(variable, name);
            }
        }
        for (name, level) in &self.scope.levels {
            let level = self.arena.export_level(*level);
            if let (Some(variable), 0) = (level.variable, level.above) {
                namer.suggest(variable, name);
            }
        }
        namer
    }

    /// Writes two types with the same names for the same variables. A text of more than 200 characters is cut.
    pub fn show_both(&self, a: Ty, b: Ty) -> (String, String) {
        let mut namer = self.namer();
        let mut show = |ty| {
            let text = namer.show(&self.arena.export_for_message(ty));
            if text.chars().count() > 200 {
                text.chars().take(200).chain("…".chars()).collect()
            } else {
                text
            }
        };
        (show(a), show(b))
    }

    /// Describes two types in words: numbers whose type is undecided have no type to show.
    fn describe_both(&self, a: Ty, b: Ty) -> (String, String) {
        let (x, y) = self.show_both(a, b);
        let describe = |ty, text| match self.arena.look(ty).1 {
            Node::Flexible { kind: kind @ (Kind::Number | Kind::Integer | Kind::Float), .. } => {
                kind.words().to_string()
            }
            _ => format!("`{text}`"),
        };
        (describe(a, x), describe(b, y))
    }

    /// Returns the name of an application's head, and its scheme.
    pub fn callee(&self, head: &Expr) -> Option<(Name, Option<Scheme>)> {
        let ExprKind::Name(path) = &head.kind else { return None };
        let scheme = match self.meanings.names.get(head.id.0 as usize)? {
            Target::Global(Entity::Function(function)) => self.schemes[function.0 as usize].as_ref(),
            Target::Global(Entity::Builtin(number)) => self.builtins.get(*number as usize),
            Target::Global(Entity::Constructor(sum, number)) => {
                self.constructors[*sum as usize].get(*number as usize)
            }
            _ => None,
        };
        Some((path.name.name.clone(), scheme.map(|scheme| self.arena.export_scheme(scheme))))
    }

    /// Reports that an expression is not of the expected type.
    pub fn mismatch(&mut self, expr: &Expr, there: Ty, needed: Ty, why: Why<'_>, clash: Clash) {
        let (needed_text, there_text) = self.describe_both(needed, there);
        let fits = format!("this is {there_text}, and {needed_text} is needed");
        let headline = match why {
            Why::Argument { head, number } => match self.callee(head) {
                Some((name, _)) => format!("argument {} of `{name}` has the wrong type", number + 1),
                None => format!("argument {} of this function has the wrong type", number + 1),
            },
            Why::Operator(sign) => format!("an operand of `{sign}` has the wrong type"),
            Why::Condition => "the condition of `if` is not a `bool`".to_string(),
            Why::Guard => "a condition of a comprehension is not a `bool`".to_string(),
            Why::Branch(_) => "the branches have different types".to_string(),
            Why::Elements(_) => "the elements of an array have different types".to_string(),
            Why::Field(name) => format!("the field `{name}` has another type"),
            Why::Annotation(_) => "this is not of the type that is written".to_string(),
            Why::Signature(name, _) => {
                format!("the body of `{name}` is not of the type that its signature says")
            }
            Why::Recursion(name) => format!("`{name}` uses itself as something else than it is"),
            Why::Draw => "only arrays can be drawn from".to_string(),
            Why::Range => "the ends of a range are of type `int`".to_string(),
            Why::Take => "`take` needs a number of type `int`".to_string(),
            Why::Nothing | Why::Element | Why::Key(_) => "the types do not fit".to_string(),
        };
        let mut error = Diagnostic::new(expr.span, headline).label(fits);
        error = match why {
            Why::Argument { head, .. } => match self.callee(head) {
                Some((name, Some(scheme))) => error.other(head.span, format!("`{name} : {scheme}`")),
                _ => error,
            },
            Why::Branch(first) => error.other(first, format!("the other branch is {needed_text}")),
            Why::Elements(first) => error.other(first, format!("the first element is {needed_text}")),
            Why::Annotation(span) | Why::Signature(_, span) => error.other(span, "because of this"),
            _ => error,
        };
        self.explain(&mut error, expr, why, clash);
        self.errors.push(error);
    }

    /// Reports that an expression is not of a kind.
    pub fn wrong_kind(&mut self, expr: &Expr, ty: Ty, why: Why<'_>, clash: Clash) {
        let text = self.describe_both(ty, ty).0;
        let kind = match clash {
            Clash::Kind(_, kind) | Clash::Kinds(kind, _) => kind,
            _ => Kind::Type,
        };
        let message = match why {
            Why::Operator(sign) => format!("an operand of `{sign}` must be {}", kind.words()),
            Why::Element if kind == Kind::Ground => {
                "the elements of an array cannot be functions".to_string()
            }
            Why::Key(word) => format!("what `{word}` compares must be {}", kind.words()),
            _ => format!("this must be {}", kind.words()),
        };
        let mut error = Diagnostic::new(expr.span, message).label(format!("this is {text}"));
        self.explain(&mut error, expr, why, clash);
        self.errors.push(error);
    }

    /// Reports a difference that has no expression.
    pub fn clash(&mut self, span: Span, clash: Clash) {
        let message = match clash {
            Clash::Kind(ty, kind) => format!("`{}` is not {}", self.show(ty), kind.words()),
            Clash::Kinds(a, b) => format!("nothing is {} and {}", a.words(), b.words()),
            Clash::Different(needed, there) => {
                let (needed, there) = self.show_both(needed, there);
                format!("this is `{there}`, and `{needed}` is needed")
            }
            Clash::Escape => "a level is known only inside of the function that takes it".to_string(),
            Clash::TooLarge => return self.too_large(span),
            Clash::Occurs => "this would be of a type that contains itself".to_string(),
            _ => "the types do not fit".to_string(),
        };
        self.errors.push(Diagnostic::new(span, message));
    }

    pub fn too_large(&mut self, span: Span) {
        self.errors.push(Diagnostic::too_large(span));
    }

    /// Reports that a pattern is of another type than the value that it matches.
    pub fn pattern_differs(&mut self, span: Span, value: Ty, pattern: Ty, clash: Clash) {
        let (value, pattern) = self.show_both(value, pattern);
        let error = Diagnostic::new(span, "this pattern does not fit its value");
        let error = error.label(format!("matches `{pattern}`, and the value is `{value}`"));
        self.errors.push(match clash {
            Clash::Occurs => error.help("the value would be of a type that contains itself"),
            _ => error,
        });
    }

    /// Reports that the operands of an operator are of different types.
    pub fn operands_differ(
        &mut self,
        span: Span,
        sign: &str,
        left: (&Expr, Ty),
        right: (&Expr, Ty),
        clash: Clash,
    ) {
        let (a, b) = self.show_both(left.1, right.1);
        let error = Diagnostic::new(span, format!("the operands of `{sign}` have different types"));
        let mut error =
            error.other(left.0.span, format!("this is `{a}`")).other(right.0.span, format!("this is `{b}`"));
        let is_number = |ty| matches!(self.arena.look(ty).1, Node::Scalar(scalar) if scalar.is_integer() || scalar.is_float());
        match clash {
            Clash::Different(x, y) if is_number(x) && is_number(y) => {
                error.help = Some(format!("convert one of them: `{a} (…)` or `{b} (…)`"));
            }
            clash => self.explain(&mut error, right.0, Why::Nothing, clash),
        }
        self.errors.push(error);
    }

    /// Reports that a level is missing before an argument.
    pub fn missing_level(&mut self, head: &Expr, whole: &Expr, number: usize) {
        let name = self.callee(head).filter(|_| number == 0);
        let (what, written) = match &name {
            Some((name, _)) => (format!("`{name}`"), name.to_string()),
            None => ("this function".to_string(), "f".to_string()),
        };
        let error =
            Diagnostic::new(whole.span, format!("{what} needs a level here")).label("without a level");
        let error = match name {
            Some((name, Some(scheme))) => error.other(head.span, format!("`{name} : {scheme}`")),
            _ => error,
        };
        let error = error.help(format!("say who computes it, as in `{written} <block> …`"));
        self.errors.push(match number {
            0 => error.fix("write `<block>`", vec![(head.span.behind(), " <block>".to_string())]),
            _ => error,
        });
    }

    /// Reports an application of something that takes no such argument.
    pub fn cannot_apply(
        &mut self,
        head: &Expr,
        ty: Ty,
        operand: Operand<'_>,
        steps: &[Step<'_>],
        at: usize,
        number: usize,
    ) {
        let callee = self.callee(head);
        let whole = steps[at].1;
        if let Operand::Level(_) = operand {
            let uses_itself = matches!(self.uses.get(&head.id), Some(Use::Itself(_) | Use::ItselfLocal(_)));
            let error = match (&callee, self.arena.look(ty).1) {
                (Some((name, _)), Node::Flexible { .. }) if uses_itself => Diagnostic::new(
                    whole.span,
                    format!("`{name}` takes a level and uses itself, so its type cannot be inferred"),
                )
                .help(format!("write a signature: `sig {name} : <l> -> …`")),
                (_, Node::Flexible { .. }) => {
                    Diagnostic::new(whole.span, "it is not known whether this takes a level")
                        .help("write the type of what is applied, as in `(f : <l> -> …)`")
                }
                (Some((name, _)), _) => Diagnostic::new(whole.span, format!("`{name}` takes no level here")),
                (None, _) => Diagnostic::new(whole.span, "this takes no level"),
            };
            self.errors.push(self.with_scheme(error, head, callee));
            return;
        }
        let given = steps.iter().filter(|(operand, _)| !matches!(operand, Operand::Level(_))).count();
        let text = self.show(ty);
        let error = if number == 0 {
            let error = Diagnostic::new(head.span, "this is no function and cannot be applied")
                .label(format!("this is `{text}`"));
            match self.arena.look(ty).1 {
                Node::Array { level: None, .. } => error.help("an element of an array is `index xs i`"),
                _ => error.help("perhaps an operator or a comma is missing behind it"),
            }
        } else {
            let message = match &callee {
                Some((name, _)) => format!("`{name}` takes {}, and here {}", count(number), are(given)),
                None => format!("this function takes {}, and here {}", count(number), are(given)),
            };
            Diagnostic::new(whole.span, message)
                .label(format!("what it gives is `{text}`, which cannot be applied"))
        };
        self.errors.push(self.with_scheme(error, head, callee));
    }

    fn with_scheme(
        &self,
        error: Diagnostic,
        head: &Expr,
        callee: Option<(Name, Option<Scheme>)>,
    ) -> Diagnostic {
        match callee {
            Some((name, Some(scheme))) => error.other(head.span, format!("`{name} : {scheme}`")),
            _ => error,
        }
    }
}
