//! The public items of `pumice`, found in the sources: declarations and re-exports of its modules, and the methods of those types.
//!
//! Reads files and builds nothing. Items that macros of ours generate are not seen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, TraitItem, Type, UseTree, Visibility};

/// A function, method, type, trait or macro that users can name.
#[derive(Debug)]
pub struct PublicItem {
    /// Its name, `Acc::fold` for a method.
    pub name: String,
    /// The file, from the root of the repository.
    pub file: String,
    /// Whether its documentation has code that runs.
    pub has_example: bool,
}

/// Names that a module exposes to users, each with the crate that defines it.
type Exposed = BTreeSet<(String, String)>;

/// The public items and names of `pumice`.
#[derive(Default)]
pub struct Surface {
    /// Every public item, by file.
    pub items: Vec<PublicItem>,
    /// The names of items, methods, variants and modules, and all words in invocations of our macros, which may generate items of these names.
    pub names: BTreeSet<String>,
}

/// Finds the public items of `pumice`. Its module `layers`, which re-exports other crates whole, is left out.
pub fn surface(root: &Path) -> Surface {
    let mut exposed = Exposed::new();
    expose_module(root, "pumice", &root.join("crates/pumice/src/lib.rs"), &mut exposed);
    let crates: BTreeSet<String> = exposed.iter().map(|(of, _)| of.clone()).collect();
    let mut surface = Surface::default();
    surface.names.extend(exposed.iter().map(|(_, name)| name.clone()));
    for name in &crates {
        for file in rust_files(&root.join("crates").join(name).join("src")) {
            let shown = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let mut walk = Walk { of: name, file: &shown, exposed: &exposed, surface: &mut surface };
            walk.items(&parse(&file).items);
        }
    }
    surface
}

/// Returns all Rust files below a folder, in order.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Adds the names that a module exposes: its declarations, its re-exports, and its public modules.
fn expose_module(root: &Path, of: &str, file: &Path, exposed: &mut Exposed) {
    for item in parse(file).items {
        match &item {
            Item::Use(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                expose_use(root, of, &item.tree, exposed);
            }
            Item::Mod(item) if is_public(&item.vis) && item.content.is_none() && !is_hidden(&item.attrs) => {
                exposed.insert((of.to_string(), item.ident.to_string()));
                if let Some(file) = module_file(file, &item.ident.to_string()) {
                    expose_module(root, of, &file, exposed);
                }
            }
            item => {
                if let Some((name, visibility, _)) = declared(item)
                    && is_public(visibility)
                {
                    exposed.insert((of.to_string(), name));
                }
            }
        }
    }
}

/// Adds the names at the ends of a `use`; if its path begins with a crate of ours, that crate defines them.
fn expose_use(root: &Path, of: &str, tree: &UseTree, exposed: &mut Exposed) {
    match tree {
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            let of = name.strip_prefix("pumice_").unwrap_or(of);
            expose_use(root, of, &path.tree, exposed);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| expose_use(root, of, tree, exposed));
        }
        UseTree::Name(name) => {
            let (name, library) = (name.ident.to_string(), root.join("crates").join(of).join("src/lib.rs"));
            if let Some(file) = module_file(&library, &name)
                && has_public_module(&library, &name)
            {
                expose_module(root, of, &file, exposed);
            }
            exposed.insert((of.to_string(), name));
        }
        UseTree::Rename(rename) => {
            exposed.insert((of.to_string(), rename.ident.to_string()));
        }
        UseTree::Glob(_) => {}
    }
}

fn has_public_module(file: &Path, name: &str) -> bool {
    parse(file)
        .items
        .iter()
        .any(|item| matches!(item, Item::Mod(item) if item.ident == name && is_public(&item.vis)))
}

/// Returns the file of a module that another one declares.
fn module_file(declaring: &Path, name: &str) -> Option<PathBuf> {
    let stem = declaring.file_stem()?.to_str()?;
    let folder = match stem {
        "lib" | "mod" => declaring.parent()?.to_path_buf(),
        stem => declaring.parent()?.join(stem),
    };
    let places = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    places.into_iter().find(|file| file.is_file())
}

/// Returns the name, visibility and attributes of an item that can have an example.
fn declared(item: &Item) -> Option<(String, &Visibility, &[Attribute])> {
    Some(match item {
        Item::Fn(item) => (item.sig.ident.to_string(), &item.vis, &item.attrs),
        Item::Struct(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Enum(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Trait(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Type(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        _ => return None,
    })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    })
}

/// Returns whether documentation has a code block that the tests run.
fn has_example(attributes: &[Attribute]) -> bool {
    let lines =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| {
            match &attribute.meta {
                Meta::NameValue(pair) => match &pair.value {
                    Expr::Lit(literal) => match &literal.lit {
                        Lit::Str(text) => Some(text.value()),
                        _ => None,
                    },
                    // The macro of `crates/scalar/src/example.rs` makes an example of a line.
                    Expr::Macro(made) if made.mac.path.is_ident("example") => Some("```".to_string()),
                    _ => None,
                },
                _ => None,
            }
        });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.lines().any(|line| matches!(line.trim(), "```" | "```rust" | "```no_run" | "```should_panic"))
}

/// A walk through the files of a crate.
struct Walk<'a> {
    of: &'a str,
    file: &'a str,
    exposed: &'a Exposed,
    surface: &'a mut Surface,
}

impl Walk<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(item) => {
                    if is_public(&item.vis)
                        && let Some((_, items)) = &item.content
                    {
                        self.items(items);
                    }
                }
                Item::Impl(item) if item.trait_.is_none() && !is_hidden(&item.attrs) => self.methods(item),
                Item::Macro(item) => {
                    let words = item.mac.tokens.to_string();
                    let words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
                    self.surface.names.extend(words.map(str::to_string));
                }
                item => self.declaration(item),
            }
        }
    }

    fn declaration(&mut self, item: &Item) {
        let Some((name, visibility, attributes)) = declared(item) else { return };
        if !self.is_exposed(&name) || !is_public(visibility) || is_hidden(attributes) {
            return;
        }
        match item {
            Item::Enum(item) => {
                self.surface.names.extend(item.variants.iter().map(|variant| variant.ident.to_string()));
            }
            Item::Trait(item) => self.surface.names.extend(item.items.iter().filter_map(|item| match item {
                TraitItem::Fn(method) => Some(method.sig.ident.to_string()),
                _ => None,
            })),
            _ => {}
        }
        self.add(name, attributes);
    }

    fn methods(&mut self, item: &syn::ItemImpl) {
        let Type::Path(path) = &*item.self_ty else { return };
        let Some(segment) = path.path.segments.last() else { return };
        let owner = segment.ident.to_string();
        if !self.is_exposed(&owner) {
            return;
        }
        for method in &item.items {
            if let ImplItem::Fn(method) = method
                && is_public(&method.vis)
                && !is_hidden(&method.attrs)
            {
                self.surface.names.insert(method.sig.ident.to_string());
                self.add(format!("{owner}::{}", method.sig.ident), &method.attrs);
            }
        }
    }

    /// Returns whether users see a name of this crate. Methods are in the crate of their type.
    fn is_exposed(&self, name: &str) -> bool {
        self.exposed.contains(&(self.of.to_string(), name.to_string()))
    }

    fn add(&mut self, name: String, attributes: &[Attribute]) {
        let has_example = has_example(attributes);
        self.surface.items.push(PublicItem { name, file: self.file.to_string(), has_example });
    }
}
