//! Completion at a position. A marker that no program contains is inserted there and the text is checked: the marker's place in the tree
//! says what is meant, and the types around it say what fits.

use crate::analysis::Analysis;
use crate::describe::documentation;
use crate::index::{CaseOf, contains};
use crate::workspace::{Workspace, name_of};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation, InsertTextFormat, Position, Url};
use pumice_lang::ast::{Name, TypeDeclarationKind};
use pumice_lang::types::{Resolved, Type};
use std::collections::HashMap;

/// The marker.
pub const MARKER: &str = "pumiceCursor";

/// Words that begin expressions or items, or stand in them.
const KEYWORDS: [&str; 21] = [
    "sig", "fun", "type", "import", "let", "in", "fn", "if", "then", "else", "case", "of", "true", "false",
    "div", "mod", "band", "bor", "xor", "shl", "shr",
];

/// Types that have names of their own.
const TYPES: [&str; 16] = [
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "bool", "int",
    "double", "mem",
];

/// Returns the completions at a position.
pub fn complete(workspace: &mut Workspace, uri: &Url, position: Position) -> Option<Vec<CompletionItem>> {
    let name = name_of(uri);
    let document = workspace.document(&name)?;
    let offset = document.text.offset(position);
    let start = document.text.word_start(offset);
    let before = document.text.get(0..start as usize);
    let line = before.rsplit('\n').next().unwrap_or("");
    if line.contains("--") {
        return None;
    }
    let mut text = document.text.as_str().to_string();
    text.insert_str(offset as usize, MARKER);
    let analysis = workspace.analyse(&name, &text);
    let index = analysis.index(analysis.root)?;
    if let Some((record, _)) = index.fields.iter().find(|(_, name)| contains(*name, offset)) {
        return Some(fields(&analysis, *record));
    }
    if let Some(module) = before.strip_suffix("::").map(last_word) {
        return Some(of_module(&analysis, module));
    }
    if line.trim_start().starts_with("import ") {
        return Some(files(&name));
    }
    let is_in_pattern = index.patterns.iter().any(|place| contains(*place, offset));
    if index.types.iter().any(|place| contains(*place, offset)) {
        return Some(types(&analysis));
    }
    if is_in_pattern {
        let mut items = values(&analysis, true);
        items.extend(index.cases.iter().filter_map(|case| arms(&analysis, case, offset)));
        return Some(items);
    }
    let mut items = locals(&analysis, offset);
    let known: Vec<String> = items.iter().map(|item| item.label.clone()).collect();
    items.extend(values(&analysis, false).into_iter().filter(|item| !known.contains(&item.label)));
    items.extend(analysis.checked.imports_of(analysis.root).into_iter().map(|(name, _)| {
        let insert = format!("{name}::");
        CompletionItem { insert_text: Some(insert), ..item(&name, CompletionItemKind::MODULE, None) }
    }));
    items.extend(KEYWORDS.iter().map(|word| item(word, CompletionItemKind::KEYWORD, None)));
    Some(items)
}

fn last_word(text: &str) -> &str {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '\'';
    text.get(text.trim_end_matches(is_part).len()..).unwrap_or("")
}

fn item(label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    CompletionItem { label: label.to_string(), kind: Some(kind), detail, ..CompletionItem::default() }
}

/// Completes the fields of a record, or the parts of a tuple.
fn fields(analysis: &Analysis, record: pumice_lang::ast::ExprId) -> Vec<CompletionItem> {
    let show = |ty: &Type| Some(ty.to_string());
    match analysis.checked.known_type_of(record) {
        Some(Type::Record(fields)) => {
            fields.iter().map(|(name, ty)| item(name, CompletionItemKind::FIELD, show(ty))).collect()
        }
        Some(Type::Tuple(parts)) => {
            let part =
                |(number, ty): (usize, &Type)| item(&number.to_string(), CompletionItemKind::FIELD, show(ty));
            parts.iter().enumerate().map(part).collect()
        }
        // The type is unknown: any field of a declared record may be meant.
        _ => {
            let declared = analysis.checked.types_in_scope(analysis.root);
            let fields = declared.iter().filter_map(|declaration| match &declaration.kind {
                TypeDeclarationKind::Alias(body) => match &body.kind {
                    pumice_lang::ast::TypeExprKind::Record(fields) => Some((declaration, fields)),
                    _ => None,
                },
                TypeDeclarationKind::Sum(_) => None,
            });
            let fields = fields
                .flat_map(|(declaration, fields)| fields.iter().map(move |(field, _)| (declaration, field)));
            fields
                .map(|(of, field)| {
                    item(&field.name, CompletionItemKind::FIELD, Some(of.name.name.to_string()))
                })
                .collect()
        }
    }
}

fn of_module(analysis: &Analysis, module: &str) -> Vec<CompletionItem> {
    let imports = analysis.checked.imports_of(analysis.root);
    let Some((_, file)) = imports.iter().find(|(name, _)| &**name == module) else { return Vec::new() };
    let values = analysis.checked.values_of(*file);
    let mut items: Vec<_> = values.iter().map(|(name, meaning)| value(analysis, name, meaning)).collect();
    let declared = analysis.module(*file).map_or(&[][..], |module| &module.types);
    items.extend(declared.iter().map(|ty| item(&ty.name.name, CompletionItemKind::STRUCT, None)));
    items
}

/// Completes the files that could be imported.
fn files(name: &str) -> Vec<CompletionItem> {
    let Some(folder) = std::path::Path::new(name).parent() else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(1_000).filter_map(|entry| Some(entry.ok()?.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "pum") && *path != *name);
    let names = paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()));
    names.map(|name| item(&name, CompletionItemKind::MODULE, None)).collect()
}

fn types(analysis: &Analysis) -> Vec<CompletionItem> {
    let declared = analysis.checked.types_in_scope(analysis.root);
    let declared = declared.iter().map(|ty| item(&ty.name.name, CompletionItemKind::STRUCT, None));
    let levels = ["thread", "warp", "block", "grid"];
    declared
        .chain(TYPES.iter().map(|name| item(name, CompletionItemKind::STRUCT, None)))
        .chain(
            levels.iter().map(|name| item(name, CompletionItemKind::ENUM_MEMBER, Some("level".to_string()))),
        )
        .collect()
}

/// Completes names that files define, or only constructors.
fn values(analysis: &Analysis, constructors: bool) -> Vec<CompletionItem> {
    let values = analysis.checked.values_in_scope(analysis.root).into_iter();
    let wanted = |meaning: &Resolved| !constructors || matches!(meaning, Resolved::Constructor(..));
    let values = values.filter(|(name, meaning)| wanted(meaning) && !name.ends_with(MARKER));
    values.map(|(name, meaning)| value(analysis, &name, &meaning)).collect()
}

fn value(analysis: &Analysis, name: &Name, meaning: &Resolved) -> CompletionItem {
    let kind = match meaning {
        Resolved::Constructor(..) => CompletionItemKind::ENUM_MEMBER,
        _ => CompletionItemKind::FUNCTION,
    };
    let place = analysis.checked.definition_of(meaning);
    let documentation =
        place.and_then(|place| documentation(analysis, place)).map(Documentation::MarkupContent);
    let ty = analysis.checked.scheme_of(meaning).map(|scheme| scheme.to_string());
    CompletionItem { documentation, ..item(name, kind, ty) }
}

/// Completes names that are bound around a place; of the same name the innermost.
fn locals(analysis: &Analysis, offset: u32) -> Vec<CompletionItem> {
    let Some(index) = analysis.index(analysis.root) else { return Vec::new() };
    let mut known: HashMap<&Name, (u32, usize)> = HashMap::new();
    for (number, binder) in index.binders.iter().enumerate() {
        let is_known = contains(binder.scope, offset) && !binder.name.ends_with(MARKER);
        let size = binder.scope.end - binder.scope.start;
        if is_known && known.get(&binder.name).is_none_or(|(other, _)| *other >= size) {
            known.insert(&binder.name, (size, number));
        }
    }
    let local = |(name, (_, number)): (&Name, (u32, usize))| {
        let binder = index.binders.get(number)?;
        let ty = analysis.checked.type_of_binding(binder.span);
        let ty = ty.map(|ty| analysis.checked.show_in(binder.function, &ty));
        let sort_text = Some(format!(" {name}"));
        Some(CompletionItem { sort_text, ..item(name, CompletionItemKind::VARIABLE, ty) })
    };
    known.into_iter().filter_map(local).collect()
}

/// Completes all arms that a `case` lacks, where one is begun.
fn arms(analysis: &Analysis, case: &CaseOf, offset: u32) -> Option<CompletionItem> {
    case.patterns.iter().find(|(place, _)| contains(*place, offset))?;
    let Some(Type::Sum(sum, _)) = analysis.checked.known_type_of(case.value) else { return None };
    let declared = analysis.checked.sums().get(sum.number as usize)?;
    let has = |name: &Name| case.patterns.iter().any(|(_, known)| known.as_ref() == Some(name));
    let missing = declared.constructors.iter().filter(|(name, _)| !has(name));
    let mut stop = 0;
    let mut next = |text: &str| {
        stop += 1;
        format!("${{{stop}:{text}}}")
    };
    let arms = missing.map(|(name, fields)| {
        let names = ["x", "y", "z", "u", "v", "w"];
        let fields = (0..fields.len()).map(|number| format!(" {}", next(names.get(number).unwrap_or(&"x"))));
        let fields: String = fields.collect();
        format!("{name}{fields} => {}", next("_"))
    });
    let arms: Vec<String> = arms.collect();
    (!arms.is_empty()).then(|| CompletionItem {
        insert_text: Some(arms.join("\n| ")),
        insert_text_format: Some(InsertTextFormat::SNIPPET),
        sort_text: Some(" ".to_string()),
        ..item(&format!("all arms of {}", sum.name), CompletionItemKind::SNIPPET, None)
    })
}
