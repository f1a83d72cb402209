//! Errors in a program, with the places that show them and what to write instead. Every stage of the front end reports its errors
//! in this form, and nothing else prints source text.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error, in a sentence without a full stop.
    pub message: String,
    /// Place of the error. The label says something about it there, and may be empty.
    pub span: Span,
    /// See [`Diagnostic::span`].
    pub label: String,
    /// Further places that belong to the error.
    pub others: Vec<(Span, String)>,
    /// Suggestion what to write instead, if there is one.
    pub help: Option<String>,
    /// The help as a change of the text, for editors.
    pub fix: Option<Box<Fix>>,
}

/// A change of the text that mends an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The change in a few words.
    pub title: String,
    /// Replacements of source text, at spans that do not overlap.
    pub edits: Vec<(Span, String)>,
}

impl Diagnostic {
    /// Creates an error at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span,
            label: String::new(),
            others: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Creates the error for a type that is too large.
    pub(crate) fn too_large(span: Span) -> Diagnostic {
        Diagnostic::new(span, "the type of this is too large").help("use arrays in place of so many parts")
    }

    /// Adds words to the place of the error.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds another place.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// Adds what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a change of the text that mends the error.
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Diagnostic {
        self.fix = Some(Box::new(Fix { title: title.into(), edits }));
        self
    }

    /// Renders the message with the source text that it is about.
    pub fn render(&self, sources: &Sources, colours: bool) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.message.clone()));
        let mut files = vec![self.span.file];
        files.extend(self.others.iter().map(|(span, _)| span.file));
        files.sort_unstable();
        files.dedup();
        // The file of the error itself comes first.
        files.sort_by_key(|file| *file != self.span.file);
        for file in files {
            let Some(source) = sources.get(file) else { continue };
            let mut snippet = Snippet::source(source.text()).path(source.name()).fold(true);
            if file == self.span.file {
                let here = AnnotationKind::Primary.span(self.span.range());
                snippet = snippet.annotation(here.label(self.label.clone()));
            }
            for (span, label) in self.others.iter().filter(|(span, _)| span.file == file) {
                snippet = snippet.annotation(AnnotationKind::Context.span(span.range()).label(label.clone()));
            }
            group = group.element(snippet);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.clone()));
        }
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}
