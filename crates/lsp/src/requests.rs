//! Dispatch of requests to their handlers.

use crate::workspace::Workspace;
use crate::{actions, complete, hints, layout, navigate, signature, symbols, tokens};
use lsp_server::{ErrorCode, ExtractError, Request, RequestId, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest,
    Formatting, GotoDefinition, InlayHintRequest, PrepareRenameRequest, RangeFormatting, References, Rename,
    Request as Method, SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest,
    WorkspaceSymbolRequest,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, OneOf, RenameOptions, SemanticTokensFullOptions,
    SemanticTokensOptions, ServerCapabilities, SignatureHelpOptions, TextDocumentSyncCapability,
    TextDocumentSyncKind, WorkDoneProgressOptions,
};
use serde::Serialize;

/// Returns the capabilities of this server.
pub fn capabilities() -> ServerCapabilities {
    let signs = |all: &[&str]| Some(all.iter().map(|sign| sign.to_string()).collect());
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: signs(&[".", ":"]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: signs(&[" ", "("]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

/// Answers a request.
pub fn answer(workspace: &mut Workspace, request: Request) -> Response {
    let method = request.method.clone();
    match method.as_str() {
        GotoDefinition::METHOD => with::<GotoDefinition, _>(request, |params| {
            let at = params.text_document_position_params;
            navigate::definition(workspace, &at.text_document.uri, at.position)
        }),
        References::METHOD => with::<References, _>(request, |params| {
            let at = params.text_document_position;
            let with_definition = params.context.include_declaration;
            navigate::references(workspace, &at.text_document.uri, at.position, with_definition)
        }),
        DocumentHighlightRequest::METHOD => with::<DocumentHighlightRequest, _>(request, |params| {
            let at = params.text_document_position_params;
            navigate::highlights(workspace, &at.text_document.uri, at.position)
        }),
        PrepareRenameRequest::METHOD => with_refusal::<PrepareRenameRequest, _>(request, |at| {
            navigate::prepare_rename(workspace, &at.text_document.uri, at.position)
        }),
        Rename::METHOD => with_refusal::<Rename, _>(request, |params| {
            let at = params.text_document_position;
            navigate::rename(workspace, &at.text_document.uri, at.position, &params.new_name)
        }),
        Completion::METHOD => with::<Completion, _>(request, |params| {
            let at = params.text_document_position;
            complete::complete(workspace, &at.text_document.uri, at.position)
        }),
        SignatureHelpRequest::METHOD => with::<SignatureHelpRequest, _>(request, |params| {
            let at = params.text_document_position_params;
            signature::help(workspace, &at.text_document.uri, at.position)
        }),
        DocumentSymbolRequest::METHOD => with::<DocumentSymbolRequest, _>(request, |params| {
            symbols::outline(workspace, &params.text_document.uri)
        }),
        WorkspaceSymbolRequest::METHOD => {
            with::<WorkspaceSymbolRequest, _>(request, |params| symbols::search(workspace, &params.query))
        }
        Formatting::METHOD => {
            with::<Formatting, _>(request, |params| layout::whole(workspace, &params.text_document.uri))
        }
        RangeFormatting::METHOD => with::<RangeFormatting, _>(request, |params| {
            layout::range(workspace, &params.text_document.uri, params.range)
        }),
        FoldingRangeRequest::METHOD => with::<FoldingRangeRequest, _>(request, |params| {
            layout::folds(workspace, &params.text_document.uri)
        }),
        InlayHintRequest::METHOD => with::<InlayHintRequest, _>(request, |params| {
            hints::hints(workspace, &params.text_document.uri, params.range)
        }),
        SemanticTokensFullRequest::METHOD => with::<SemanticTokensFullRequest, _>(request, |params| {
            tokens::tokens(workspace, &params.text_document.uri, None)
        }),
        SemanticTokensRangeRequest::METHOD => with::<SemanticTokensRangeRequest, _>(request, |params| {
            tokens::tokens(workspace, &params.text_document.uri, Some(params.range))
        }),
        CodeActionRequest::METHOD => with::<CodeActionRequest, _>(request, |params| {
            actions::actions(workspace, &params.text_document.uri, params.range)
        }),
        _ => {
            let message = format!("there is no request `{method}`");
            Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
        }
    }
}

/// Reads a request, or returns the answer to one whose parameters are wrong.
pub fn read<M: Method>(request: Request) -> Result<(RequestId, M::Params), Response> {
    let id = request.id.clone();
    request.extract::<M::Params>(M::METHOD).map_err(|error| {
        let message = match error {
            ExtractError::JsonError { error, .. } => format!("the parameters are wrong: {error}"),
            ExtractError::MethodMismatch(_) => "the parameters are wrong".to_string(),
        };
        Response::new_err(id, ErrorCode::InvalidParams as i32, message)
    })
}

fn with<M: Method, R: Serialize>(request: Request, answer: impl FnOnce(M::Params) -> R) -> Response {
    match read::<M>(request) {
        Ok((id, params)) => Response::new_ok(id, answer(params)),
        Err(response) => response,
    }
}

/// Answers a request that may be refused, with a reason for people.
fn with_refusal<M: Method, R: Serialize>(
    request: Request,
    answer: impl FnOnce(M::Params) -> Result<R, String>,
) -> Response {
    match read::<M>(request) {
        Ok((id, params)) => match answer(params) {
            Ok(result) => Response::new_ok(id, result),
            Err(reason) => Response::new_err(id, ErrorCode::RequestFailed as i32, reason),
        },
        Err(response) => response,
    }
}
