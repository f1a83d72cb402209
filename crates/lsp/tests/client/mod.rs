//! An editor without a window: talks to the server over an in-memory connection, as a user types. Used by tests and by the example that
//! measures how long answers take, neither of which needs all of it.
#![allow(dead_code)]

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Exit, Initialized, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{Initialize, Request as _, Shutdown};
use lsp_types::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::thread::JoinHandle;
use std::time::Duration;

/// The editor.
pub struct Client {
    connection: Connection,
    server: JoinHandle<Result<(), String>>,
    next: i32,
    versions: HashMap<Url, i32>,
    /// The last diagnostics of each file, with the version that they are about.
    told: HashMap<Url, (Option<i32>, Vec<Diagnostic>)>,
    pub capabilities: Value,
}

/// Returns the address of a file that is not on disk.
pub fn uri(name: &str) -> Url {
    Url::parse(&format!("file:///nowhere/{name}")).unwrap()
}

/// Returns the position of the first letter of a part of a text.
pub fn position(text: &str, part: &str) -> Position {
    let at = text.find(part).unwrap_or_else(|| panic!("`{part}` is not in the text"));
    let before = &text[..at];
    let line = before.matches('\n').count() as u32;
    let character = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() as u32;
    Position { line, character }
}

/// Returns the position behind the last letter of a part of a text.
pub fn behind(text: &str, part: &str) -> Position {
    let start = position(text, part);
    assert!(!part.contains('\n'));
    Position { character: start.character + part.encode_utf16().count() as u32, ..start }
}

/// Returns the context that requests need besides a place, for all of them at once.
pub fn context() -> Value {
    json!({ "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false, "diagnostics": [] })
}

/// Applies edits to a text.
pub fn edited(text: &str, edits: &[TextEdit]) -> String {
    let offset = |position: Position| {
        let start: usize = text.split_inclusive('\n').take(position.line as usize).map(str::len).sum();
        let units = |at: usize| text[start..start + at].encode_utf16().count() as u32;
        start
            + (0..).find(|at| text.is_char_boundary(start + at) && units(*at) >= position.character).unwrap()
    };
    let mut edits: Vec<_> =
        edits.iter().map(|edit| (offset(edit.range.start), offset(edit.range.end), &edit.new_text)).collect();
    edits.sort();
    let mut text = text.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

impl Client {
    /// Starts a server and says hello.
    pub fn start() -> Client {
        let (server, connection) = Connection::memory();
        let server =
            std::thread::spawn(move || pumice_lsp::serve(&server).map_err(|error| error.to_string()));
        let mut client = Client {
            connection,
            server,
            next: 0,
            versions: HashMap::new(),
            told: HashMap::new(),
            capabilities: Value::Null,
        };
        let response = client.send(Initialize::METHOD, json!({ "capabilities": {} }));
        client.capabilities = response.result.expect("the server starts");
        client.notify(Initialized::METHOD, json!({}));
        client
    }

    /// Sends a request and waits for its answer.
    pub fn send(&mut self, method: &str, params: Value) -> Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.connection
            .sender
            .send(Request { id: id.clone(), method: method.to_string(), params }.into())
            .unwrap();
        loop {
            if let Message::Response(response) = self.receive() {
                assert_eq!(response.id, id);
                return response;
            }
        }
    }

    /// Sends a request that must succeed.
    pub fn ask<R: request::Request>(&mut self, params: Value) -> R::Result {
        let response = self.send(R::METHOD, params);
        assert!(response.error.is_none(), "{}: {:?}", R::METHOD, response.error);
        serde_json::from_value(response.result.unwrap_or(Value::Null)).unwrap()
    }

    /// Sends a request about a position of a file, which must succeed.
    pub fn ask_at<R: request::Request>(&mut self, uri: &Url, position: Position) -> R::Result {
        self.ask::<R>(json!({ "textDocument": { "uri": uri }, "position": position, "context": context() }))
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification { method: method.to_string(), params }.into()).unwrap();
    }

    fn receive(&mut self) -> Message {
        let message =
            self.connection.receiver.recv_timeout(Duration::from_secs(60)).expect("the server answers");
        if let Message::Notification(notification) = &message
            && notification.method == PublishDiagnostics::METHOD
        {
            let params: PublishDiagnosticsParams =
                serde_json::from_value(notification.params.clone()).unwrap();
            self.told.insert(params.uri, (params.version, params.diagnostics));
        }
        message
    }

    /// Opens a file.
    pub fn open(&mut self, uri: &Url, text: &str) {
        self.versions.insert(uri.clone(), 0);
        self.told.remove(uri);
        let document = TextDocumentItem::new(uri.clone(), "pum".to_string(), 0, text.to_string());
        self.notify(
            DidOpenTextDocument::METHOD,
            json!(DidOpenTextDocumentParams { text_document: document }),
        );
    }

    /// Replaces a range of a file; without one all of it.
    pub fn change(&mut self, uri: &Url, range: Option<Range>, text: &str) {
        let version = self.versions.get_mut(uri).expect("the file is open");
        *version += 1;
        let params = DidChangeTextDocumentParams {
            text_document: VersionedTextDocumentIdentifier::new(uri.clone(), *version),
            content_changes: vec![TextDocumentContentChangeEvent {
                range,
                range_length: None,
                text: text.to_string(),
            }],
        };
        self.notify(DidChangeTextDocument::METHOD, json!(params));
    }

    pub fn close(&mut self, uri: &Url) {
        self.versions.remove(uri);
        let text_document = TextDocumentIdentifier::new(uri.clone());
        self.notify(DidCloseTextDocument::METHOD, json!(DidCloseTextDocumentParams { text_document }));
    }

    /// Waits until a file has so many errors.
    pub fn wait_for(&mut self, uri: &Url, count: usize) {
        while self.told.get(uri).is_none_or(|(_, told)| told.len() != count) {
            drop(self.receive());
        }
    }

    /// Returns the errors of an open file as it is now.
    pub fn diagnostics(&mut self, uri: &Url) -> Vec<Diagnostic> {
        let version = self.versions[uri];
        loop {
            match self.told.get(uri) {
                Some((told, diagnostics)) if *told == Some(version) => return diagnostics.clone(),
                _ => drop(self.receive()),
            }
        }
    }

    /// Waits for the next diagnostics of a file, whatever version they are about.
    pub fn next_diagnostics(&mut self, uri: &Url) -> Vec<Diagnostic> {
        self.told.remove(uri);
        loop {
            match self.told.get(uri) {
                Some((_, diagnostics)) => return diagnostics.clone(),
                None => drop(self.receive()),
            }
        }
    }

    /// Returns the first lines of the errors of an open file.
    pub fn messages(&mut self, uri: &Url) -> Vec<String> {
        let first = |diagnostic: &Diagnostic| diagnostic.message.lines().next().unwrap_or("").to_string();
        self.diagnostics(uri).iter().map(first).collect()
    }

    /// Ends the server, as the protocol says.
    pub fn stop(mut self) {
        assert_eq!(self.send(Shutdown::METHOD, Value::Null).error.map(|error| error.message), None);
        self.notify(Exit::METHOD, Value::Null);
        assert_eq!(self.server.join().unwrap(), Ok(()));
    }

    /// Sends `exit`, and returns the outcome of the server.
    pub fn exit(self) -> Result<(), String> {
        self.notify(Exit::METHOD, Value::Null);
        self.server.join().unwrap()
    }
}
