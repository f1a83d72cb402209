//! Arrays inside of others: the rows of an inner comprehension, one per environment, and operations on them.

use super::{Stages, pattern, tuple, vector_name};
use crate::expression::{Outer, parsed, value};
use crate::inner::{self, Chain, Drawing, chain, is_drawn_from, makes, taken};
use crate::parse::{Comprehension, Generator, Kind, Qualifier};
use crate::pattern::Pattern;
use crate::reduction::{Expansion, Reduction, is_reduction};
use crate::source::{Drawn, draw};
use crate::tokens::{Names, mention, names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{Error, Expr, Result};

/// The rows that a comprehension is inside of.
#[derive(Clone)]
pub struct Rows {
    /// The variable with the number of an environment's row.
    pub row: Ident,
    /// The names that have one value per row.
    pub outside: Names,
    count: Ident,
    /// The vector of environments with one row each, and their variables.
    environments: Ident,
    variables: Vec<Ident>,
}

impl Rows {
    /// Marks names as having a value in each environment, whatever they mean outside.
    pub fn hide(&mut self, names: &[Ident]) {
        self.outside.retain(|outside| !names.iter().any(|name| name == outside));
    }

    /// Whether a variable has one value per row: the row's number, or a variable that is bound outside.
    pub fn has(&self, name: &str) -> bool {
        self.row == name || self.outside.contains(name)
    }

    /// Emits bindings of those of these variables that are bound outside, for the row whose number is bound.
    pub fn bind(&self, variables: &[Ident], span: Span) -> TokenStream {
        let is_outside = |name: &&Ident| self.outside.contains(&name.to_string());
        let wanted: Names = variables.iter().filter(is_outside).map(Ident::to_string).collect();
        if wanted.is_empty() {
            return TokenStream::new();
        }
        let (pattern, environments, row) = (pattern(&self.variables, &wanted), &self.environments, &self.row);
        quote_spanned!(span=> let #pattern = ::pumice::comprehension::of_row(&#environments, #row);)
    }

    /// Emits the environments of each row in the order of keys.
    pub fn ordered(&self, environment: &[Ident], keys: TokenStream, span: Span) -> TokenStream {
        let (vector, row, count) = (vector_name(), &self.row, &self.count);
        let of_row = pattern(environment, &names(&quote!(#row)));
        quote_spanned!(span=> ::pumice::comprehension::ordered_in_rows(#vector, #count, |#of_row| #row, #keys))
    }

    /// Emits the groups of each row, beside its number, by functions for the key, for values, and for the combination of two values.
    pub fn grouped(&self, environment: &[Ident], functions: TokenStream, span: Span) -> TokenStream {
        let (vector, row, count) = (vector_name(), &self.row, &self.count);
        let of_row = pattern(environment, &names(&quote!(#row)));
        quote_spanned!(span=> ::pumice::comprehension::grouped_in_rows(
            #vector, #count, |#of_row| #row, #functions
        ))
    }

    /// Emits the results, each once per row.
    pub fn once(&self, results: TokenStream, span: Span) -> TokenStream {
        let count = &self.count;
        quote_spanned!(span=> ::pumice::comprehension::once_in_rows(#count, #results))
    }
}

impl Stages {
    /// Binds a name to the rows that a comprehension gives, one for each environment; its value is the number of its row.
    fn make_rows(&mut self, name: &Ident, inner: Comprehension, span: Span) -> Result<Ident> {
        let (vector, rows, count) = (vector_name(), self.outer.fresh("rows"), self.outer.fresh("count"));
        self.has_rows = true;
        self.add(quote_spanned!(span=> let #count = #vector.size();));
        let old = pattern(&self.environment, &self.bound());
        let outside = self.bound();
        self.environment.push(name.clone());
        let all = tuple(&self.environment);
        self.then(quote_spanned!(span=> #vector.imap(|#name, #old| #all)), span);
        let environments = self.outer.fresh("environments");
        self.add(quote_spanned!(span=> let #environments = #vector.clone();));
        let before = self.outer.all_inner().clone();
        let rows_outside = Rows {
            row: name.clone(),
            outside,
            count: count.clone(),
            environments: environments.clone(),
            variables: self.environment.clone(),
        };
        let mut inside = Stages {
            outer: std::mem::take(&mut self.outer),
            environment: self.environment.clone(),
            started: true,
            rows: Some(rows_outside),
            ..Stages::default()
        };
        inside.then(quote_spanned!(span=> #environments.clone()), span);
        let lengths = inside.lengths(&inner.qualifiers, span)?;
        let head = match (&lengths, inner.head) {
            (Some(_), head) => head,
            (None, head) => quote_spanned!(span=> (#name, #head)),
        };
        let head = inside.advance(inner.qualifiers, head)?;
        let head = inside.hoisted(head)?;
        let head = value(head, &inside.bound(), &mut inside.outer)?;
        let values = inside.mapped(head, span);
        let (block, outer) = inside.closed(match lengths {
            Some(lengths) => quote_spanned!(span=> ::pumice::comprehension::rows_of(#values, #lengths)),
            None => quote_spanned!(span=> ::pumice::comprehension::ragged(#count, #values)),
        });
        self.outer = outer;
        *self.outer.all_inner() = before;
        self.add(quote_spanned!(span=> let #rows = #block;));
        self.outer.all_inner().insert(name.to_string(), rows.clone());
        self.aligned.insert(name.to_string());
        Ok(rows)
    }

    /// Emits the reduction of the rows that a comprehension gives, one for each environment in a variable.
    pub(super) fn reduced_rows(
        &mut self,
        environments: &Ident,
        inner: Comprehension,
        Expansion { neutral, combine, span, .. }: &Expansion,
    ) -> Result<TokenStream> {
        let span = *span;
        let before = self.outer.all_inner().clone();
        let mut inside = Stages {
            outer: std::mem::take(&mut self.outer),
            environment: self.environment.clone(),
            started: true,
            rows: self.rows.clone(),
            ..Stages::default()
        };
        inside.then(quote!(#environments), span);
        let row = inside.outer.fresh("row");
        let rows = inside.make_rows(&row, inner, span)?;
        let (block, outer) = inside.closed(match neutral {
            Some(neutral) => {
                quote_spanned!(span=> ::pumice::comprehension::reduced_rows(#rows, #neutral, #combine))
            }
            None => quote_spanned!(span=> ::pumice::comprehension::reduced_rows_some(#rows, #combine)),
        });
        self.outer = outer;
        *self.outer.all_inner() = before;
        Ok(block)
    }

    /// Names the lengths of the rows that qualifiers give, if these are known before: those of one generator, with bindings
    /// behind it. Elsewhere the elements of a row are counted, by its number beside each.
    fn lengths(&mut self, qualifiers: &[Qualifier], span: Span) -> Result<Option<Ident>> {
        let Some((Qualifier { kind: Kind::Generators(generators), .. }, rest)) = qualifiers.split_first()
        else {
            return Ok(None);
        };
        let bound = self.bound();
        let is_plain = |generator: &Generator| match self.chain_of(&generator.source) {
            Some(chain) => matches!(chain.root, Expr::Path(_) | Expr::Index(_)) && chain.calls.is_empty(),
            None => !makes(&generator.source, Drawing::Never, &bound, &self.outer),
        };
        if !rest.iter().all(|one| matches!(one.kind, Kind::Let(..))) || !generators.iter().all(is_plain) {
            return Ok(None);
        }
        let Drawn::Counted { size, .. } = draw(generators, &bound, &Names::new(), &mut self.outer)? else {
            return Ok(None);
        };
        let (vector, sized) = (vector_name(), pattern(&self.environment, &names(&size)));
        let lengths = self.outer.fresh("lengths");
        self.add(quote_spanned!(span=> let #lengths = #vector.clone().map(|#sized| #size);));
        Ok(Some(lengths))
    }

    /// Emits rows of different lengths: those of an inner comprehension, one per environment.
    pub(super) fn ragged(mut self, inner: Comprehension, span: Span) -> Result<TokenStream> {
        self.refuse_distinct()?;
        let row = self.outer.fresh("row");
        let rows = self.make_rows(&row, inner, span)?;
        Ok(self.block(quote!(#rows)))
    }

    /// Emits rows of different lengths: an inner array of each environment.
    pub(super) fn rows_of(mut self, chain: Chain, span: Span) -> Result<TokenStream> {
        self.refuse_distinct()?;
        let (rows, row) = inner::rows(chain, &self.bound(), &mut self.outer)?;
        let (vector, pattern) = (vector_name(), pattern(&self.environment, &names(&quote!(#row))));
        Ok(match self.aligned.contains(&row.to_string()) {
            true => self.block(quote!(#rows)),
            false => self.block(quote_spanned!(span=> #rows.gather(#vector.map(|#pattern| #row)))),
        })
    }

    /// Returns the inner array that an expression is, if it is one.
    pub(super) fn chain_of(&self, tokens: &TokenStream) -> Option<Chain> {
        chain(&parsed(tokens.clone()).ok()?, &self.bound(), &self.outer)
    }

    fn refuse_distinct(&self) -> Result<()> {
        match self.distinct {
            Some(span) => Err(Error::new(
                span,
                "rows of different lengths have no order in which each could be there once",
            )),
            None => Ok(()),
        }
    }

    /// Binds a name to an inner array.
    pub(super) fn bind_chain(&mut self, to: &Pattern, chain: Chain, later: &Names, span: Span) -> Result<()> {
        let [name] = to.names.as_slice() else {
            return Err(Error::new(span, "an inner array is bound to one name: `let row = [x | x <- xs]`"));
        };
        if *name != to.tokens.to_string() {
            return Err(Error::new(name.span(), "an inner array is bound to a name, without a type"));
        }
        let (rows, row) = inner::rows(chain, &self.bound(), &mut self.outer)?;
        if *name != row {
            let environment = self.extended(std::slice::from_ref(name), later);
            let mentioned = self.mentioned(names(&quote!(#row)), &environment, std::slice::from_ref(name));
            let (vector, old, all) =
                (vector_name(), pattern(&self.environment, &mentioned), tuple(&environment));
            self.then(quote_spanned!(span=> #vector.map(|#old| { let #name = #row; #all })), span);
            self.environment = environment;
            match self.aligned.contains(&row.to_string()) {
                true => self.aligned.insert(name.to_string()),
                false => self.aligned.remove(&name.to_string()),
            };
        }
        self.outer.all_inner().insert(name.to_string(), rows);
        Ok(())
    }

    /// Materialises the inner arrays in expressions as rows, and returns the variables that replace them.
    pub(super) fn make_inner(&mut self, expressions: Vec<&mut TokenStream>) -> Result<Vec<Ident>> {
        let bound = self.bound();
        let mut made = Vec::new();
        for tokens in expressions {
            // Tokens that are not an expression are reported where they are used.
            let Ok(mut expr) = parsed(tokens.clone()) else { continue };
            let mut maker = Maker {
                bound: &bound,
                outer: &mut self.outer,
                found: Vec::new(),
                named: HashMap::new(),
                error: None,
            };
            maker.visit_expr_mut(&mut expr);
            let Maker { found, error, .. } = maker;
            if let Some(error) = error {
                return Err(error);
            }
            if !found.is_empty() {
                *tokens = expr.into_token_stream();
            }
            self.outer.each_has_its_own = false;
            for (name, root) in found {
                let inner = inner::comprehension(&root, &mut self.outer)?;
                let span = crate::tokens::first_span(&root.to_token_stream()).unwrap_or_else(Span::call_site);
                self.make_rows(&name, inner, span)?;
                made.push(name);
            }
        }
        Ok(made)
    }

    /// Does what [`Stages::make_inner`] does, for sources of generators. A source that is drawn from element by element is not materialised.
    pub(super) fn make_sources(&mut self, generators: &mut [Generator]) -> Result<Vec<Ident>> {
        let (bound, in_step) = (self.bound(), generators.len() > 1);
        let is_drawn = |source: &TokenStream| {
            parsed(source.clone()).is_ok_and(|expr| is_drawn_from(&expr, in_step, &bound, &self.outer))
        };
        let sources = generators.iter_mut().map(|generator| &mut generator.source);
        let others = sources.filter(|source| !is_drawn(source)).collect();
        self.make_inner(others)
    }

    /// Emits `take` for the environments of each row.
    pub(super) fn take_of_rows(&mut self, rows: &Rows, count: TokenStream, span: Span) -> Result<()> {
        let inside: Names = self.bound().difference(&rows.outside).cloned().collect();
        if let Some(ident) = mention(&count, &inside) {
            return Err(Error::new(ident.span(), TAKEN_BY.replace("{}", &ident.to_string())));
        }
        let count = crate::expression::expression(parsed(count)?, &self.bound(), &mut self.outer)?;
        let (vector, row, all) = (vector_name(), &rows.row, &rows.count);
        let of_row = pattern(&self.environment, &names(&quote!(#row)));
        let counted = pattern(&self.environment, &names(&count));
        self.then(
            quote_spanned!(span=> ::pumice::comprehension::first_of_rows(
                #vector, #all, |#of_row| #row, |#counted| ::pumice::comprehension::end(#count, 0)
            )),
            span,
        );
        Ok(())
    }
}

/// Message for a number to take that depends on elements.
pub(super) const TAKEN_BY: &str = "how many to take cannot depend on `{}`, which each element has its own of";

/// Finds expressions that make inner arrays, and replaces them by variables.
struct Maker<'a> {
    bound: &'a Names,
    outer: &'a mut Outer,
    found: Vec<(Ident, Expr)>,
    /// Variables by the text of their expressions: an array that is written twice is made once.
    named: HashMap<String, Ident>,
    error: Option<Error>,
}

impl VisitMut for Maker<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match self.named(expr) {
            Ok(true) => (),
            Ok(false) => visit_expr_mut(self, expr),
            Err(error) => self.error = Some(error),
        }
    }
}

impl Maker<'_> {
    /// Whether this is an inner array, or a value of one, whose root has a name now.
    fn named(&mut self, expr: &mut Expr) -> Result<bool> {
        if let Expr::Macro(call) = expr {
            let reduction = call.mac.path.get_ident().filter(|name| is_reduction(name));
            let Some(name) = reduction else { return self.named_array(expr) };
            match Reduction::of_rows(name, call.mac.tokens.clone(), self.bound, self.outer)? {
                Some(rows) => *expr = syn::parse2(rows)?,
                None => return Ok(true),
            }
        }
        self.named_array(expr)
    }

    fn named_array(&mut self, expr: &mut Expr) -> Result<bool> {
        if let Some(chain) = chain(expr, self.bound, self.outer) {
            if let Some(name) = self.name_of(&chain) {
                inner::name_root(expr, &name);
            }
            return Ok(true);
        }
        let Some((chain, _)) = taken(expr, self.bound, self.outer)? else { return Ok(false) };
        let name = self.name_of(&chain);
        let array = match expr {
            Expr::Index(index) => {
                self.visit_expr_mut(&mut index.index);
                &mut index.expr
            }
            Expr::MethodCall(call) => {
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
                &mut call.receiver
            }
            _ => return Ok(false),
        };
        if let Some(name) = name {
            inner::name_root(array, &name);
        }
        Ok(true)
    }

    /// Returns the name of a chain's root, unless that is a variable already.
    fn name_of(&mut self, chain: &Chain) -> Option<Ident> {
        if matches!(chain.root, Expr::Path(_)) {
            return None;
        }
        let text = chain.root.to_token_stream().to_string();
        if let Some(name) = self.named.get(&text) {
            return Some(name.clone());
        }
        let name = self.outer.fresh("inner");
        self.named.insert(text, name.clone());
        self.found.push((name.clone(), chain.root.clone()));
        Some(name)
    }
}
