//! Token streams cut at the separators of comprehensions, and the names that they mention.
//!
//! Rust's parser takes `|` for an operator and `p <- xs` for `p < -xs`, so a comprehension is cut into its parts before any of
//! them is parsed as Rust. Separators count only outside of parentheses, brackets and braces.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};

/// The names that an expression mentions, or that are bound.
pub type Names = HashSet<String>;

/// A token, or several that are one, which separates parts of a comprehension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `|`, and not `||` or `|=`.
    Bar,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `<-`
    Arrow,
}

fn punct(tree: Option<&TokenTree>) -> Option<&Punct> {
    match tree {
        Some(TokenTree::Punct(punct)) => Some(punct),
        _ => None,
    }
}

fn is(tree: Option<&TokenTree>, character: char) -> bool {
    punct(tree).is_some_and(|punct| punct.as_char() == character)
}

fn is_joint(tree: Option<&TokenTree>, character: char) -> bool {
    punct(tree).is_some_and(|punct| punct.as_char() == character && punct.spacing() == Spacing::Joint)
}

/// Returns the separators among these tokens: the kind, the number of the first token, and the number of tokens.
fn separators(trees: &[TokenTree]) -> Vec<(Separator, usize, usize)> {
    let (mut found, mut at, mut angles) = (Vec::new(), 0, 0usize);
    while at < trees.len() {
        let next = trees.get(at + 1);
        let is_path = at >= 2 && is(trees.get(at - 1), ':') && is(trees.get(at - 2), ':');
        let (separator, length) = match punct(trees.get(at)).map(Punct::as_char) {
            // `f::<A, B>()`: between the angles is a list of types.
            Some('<') if is_path || angles > 0 => {
                angles += 1;
                (None, 1)
            }
            Some('-') if is(next, '>') => (None, 2),
            Some('>') if angles > 0 => {
                angles -= 1;
                (None, 1)
            }
            Some('<') if is_joint(trees.get(at), '<') && is(next, '-') => (Some(Separator::Arrow), 2),
            Some('|') if is_joint(trees.get(at), '|') && (is(next, '|') || is(next, '=')) => (None, 2),
            Some('|') => (Some(Separator::Bar), 1),
            Some(',') => (Some(Separator::Comma), 1),
            Some(';') => (Some(Separator::Semicolon), 1),
            _ => (None, 1),
        };
        if angles == 0 {
            found.extend(separator.map(|separator| (separator, at, length)));
        }
        at += length;
    }
    found
}

/// Returns the tokens before the first separator of a kind and those behind it, if there is one.
pub fn split_once(tokens: TokenStream, at: Separator) -> (TokenStream, Option<TokenStream>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    match separators(&trees).into_iter().find(|(separator, ..)| *separator == at) {
        Some((_, start, length)) => {
            let behind = trees[start + length..].iter().cloned().collect();
            (trees[..start].iter().cloned().collect(), Some(behind))
        }
        None => (trees.into_iter().collect(), None),
    }
}

/// Returns the tokens between separators of a kind.
pub fn split(tokens: TokenStream, at: Separator) -> Vec<TokenStream> {
    let (mut parts, mut rest) = (Vec::new(), Some(tokens));
    while let Some(tokens) = rest {
        let (part, behind) = split_once(tokens, at);
        parts.push(part);
        rest = behind;
    }
    parts
}

/// Whether there is a separator of a kind outside of all parentheses.
pub fn has(tokens: &TokenStream, at: Separator) -> bool {
    split_once(tokens.clone(), at).1.is_some()
}

/// Returns the place of the first token.
pub fn first_span(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().next().map(|tree| tree.span())
}

/// Calls a function with every identifier that may be a variable, also inside of parentheses. Fields, methods, macros and paths
/// are not variables.
fn each_variable(tokens: TokenStream, f: &mut dyn FnMut(&Ident)) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => each_variable(group.stream(), f),
            TokenTree::Ident(ident) if is_variable(&trees, at) => f(ident),
            _ => (),
        }
    }
}

fn is_variable(trees: &[TokenTree], at: usize) -> bool {
    let before = |distance: usize| at.checked_sub(distance).and_then(|at| trees.get(at));
    let is_member = is(before(1), '.') && !is(before(2), '.');
    let is_path = (is(before(1), ':') && is(before(2), ':'))
        || (is_joint(trees.get(at + 1), ':') && is(trees.get(at + 2), ':'));
    let is_macro = is(trees.get(at + 1), '!') && !is_joint(trees.get(at + 1), '!');
    !is_member && !is_path && !is_macro
}

/// Returns the names that tokens mention.
pub fn names(tokens: &TokenStream) -> Names {
    let mut names = Names::new();
    each_variable(tokens.clone(), &mut |ident| {
        names.insert(ident.to_string());
    });
    names
}

/// Returns the first variable with one of these names.
pub fn mention(tokens: &TokenStream, of: &Names) -> Option<Ident> {
    let mut found = None;
    each_variable(tokens.clone(), &mut |ident| {
        if found.is_none() && of.contains(&ident.to_string()) {
            found = Some(ident.clone());
        }
    });
    found
}

/// Replaces groups of tokens, the inner ones first.
fn replace_groups(tokens: TokenStream, f: &mut dyn FnMut(&[TokenTree], Group) -> TokenStream) -> TokenStream {
    let mut replaced: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace_groups(group.stream(), f));
                inner.set_span(group.span());
                let tokens = f(&replaced, inner);
                replaced.extend(tokens);
            }
            tree => replaced.push(tree),
        }
    }
    replaced.into_iter().collect()
}

/// Writes `comp![…]` for every `[… | …]` that has a generator, so that Rust's parser can read the result.
pub fn name_brackets(tokens: TokenStream) -> TokenStream {
    replace_groups(tokens, &mut |before, group| {
        let is_named = is(before.last(), '!');
        let is_list = group.delimiter() == proc_macro2::Delimiter::Bracket
            && has(&group.stream(), Separator::Bar)
            && has(&group.stream(), Separator::Arrow);
        match is_list && !is_named {
            true => {
                let name = Ident::new("comp", group.span());
                quote::quote_spanned!(group.span()=> #name ! #group)
            }
            false => TokenTree::Group(group).into(),
        }
    })
}

/// Renames variables.
pub fn rename(tokens: TokenStream, names: &HashMap<String, Ident>) -> TokenStream {
    if names.is_empty() {
        return tokens;
    }
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let renamed = trees.iter().enumerate().map(|(at, tree)| match tree {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), rename(group.stream(), names));
            inner.set_span(group.span());
            inner.into()
        }
        TokenTree::Ident(ident) if is_variable(&trees, at) => {
            let new = names.get(&ident.to_string()).map(|new| Ident::new(&new.to_string(), ident.span()));
            new.unwrap_or_else(|| ident.clone()).into()
        }
        tree => tree.clone(),
    });
    renamed.collect()
}

/// Whether tokens call a macro.
pub fn has_macro(tokens: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Group(group) => has_macro(&group.stream()),
        TokenTree::Ident(_) => {
            is(trees.get(at + 1), '!') && matches!(trees.get(at + 2), Some(TokenTree::Group(_)))
        }
        _ => false,
    })
}

/// Replaces calls of macros: `f` gets a name and the tokens between the delimiters, and may return other tokens.
pub fn replace_macros(
    tokens: TokenStream,
    f: &mut dyn FnMut(&Ident, TokenStream) -> syn::Result<Option<TokenStream>>,
) -> syn::Result<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut replaced, mut at) = (Vec::new(), 0);
    while at < trees.len() {
        if let (TokenTree::Ident(name), Some(TokenTree::Group(group))) = (&trees[at], trees.get(at + 2))
            && is(trees.get(at + 1), '!')
            && let Some(tokens) = f(name, group.stream())?
        {
            replaced.extend(tokens);
            at += 3;
            continue;
        }
        match &trees[at] {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace_macros(group.stream(), f)?);
                inner.set_span(group.span());
                replaced.push(inner.into());
            }
            tree => replaced.push(tree.clone()),
        }
        at += 1;
    }
    Ok(replaced.into_iter().collect())
}
