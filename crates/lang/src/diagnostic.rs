//! What is wrong with a program, with the places that show it and what to write instead. Every stage of the front end tells
//! its errors so, and nothing else prints source text.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Where, and what to say there; may be empty.
    pub span: Span,
    /// See [`Diagnostic::span`].
    pub label: String,
    /// Other places that belong to it.
    pub others: Vec<(Span, String)>,
    /// What to write instead, if there is an answer.
    pub help: Option<String>,
    /// The same as a change of the text, for editors.
    pub fix: Option<Box<Fix>>,
}

/// A change of the text after which something is no longer wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// What is written in place of what, at places that do not overlap.
    pub edits: Vec<(Span, String)>,
}

impl Diagnostic {
    /// Something wrong at a place.
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

    /// A type that is too large, at a place.
    pub(crate) fn too_large(span: Span) -> Diagnostic {
        Diagnostic::new(span, "the type of this is too large").help("use arrays in place of so many parts")
    }

    /// With words at its place.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With another place.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }

    /// With what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With a change of the text.
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Diagnostic {
        self.fix = Some(Box::new(Fix { title: title.into(), edits }));
        self
    }

    /// The message with the source that it is about.
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
