//! The main loop: takes messages in order, and checks files when none is waiting, so that of several changes only the last is checked.
//! Hovers that wait for a cost are answered when it is there, or after a while without it.

use crate::cost::{Costs, Key, PATIENCE};
use crate::hover::Said;
use crate::workspace::{Workspace, name_of};
use crate::{diagnostics, library, requests};
use crossbeam_channel::{RecvTimeoutError, TryRecvError, never, select};
use lsp_server::{
    Connection, ErrorCode, ExtractError, IoThreads, Message, Notification, Request, RequestId, Response,
};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, Exit,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{HoverRequest, Request as _, Shutdown};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Url};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// An error of the connection between client and server.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Serves a client at standard input and output until it says `exit`.
pub fn serve_stdio() -> Result<(), Failure> {
    let (connection, threads): (Connection, IoThreads) = Connection::stdio();
    let outcome = serve(&connection);
    // The writer ends when nothing can be sent any more.
    drop(connection);
    outcome.and(threads.join().map_err(Failure::from))
}

/// Serves a client until it says `exit`, or is gone.
pub fn serve(connection: &Connection) -> Result<(), Failure> {
    let (id, params) = connection.initialize_start()?;
    if let Err(error) = serde_json::from_value::<InitializeParams>(params) {
        let message = format!("the parameters of `initialize` are wrong: {error}");
        connection
            .sender
            .send(Response::new_err(id, ErrorCode::InvalidParams as i32, message.clone()).into())?;
        return Err(message.into());
    }
    let info = serde_json::json!({ "name": "pumice", "version": env!("CARGO_PKG_VERSION") });
    let result = serde_json::json!({ "capabilities": requests::capabilities(), "serverInfo": info });
    connection.initialize_finish(id, result)?;
    let server = Server {
        connection,
        workspace: Workspace::default(),
        unchecked: VecDeque::new(),
        told: BTreeMap::new(),
        costs: Costs::start(),
        waiting: Vec::new(),
        is_shut_down: false,
    };
    server.run()
}

/// Whether the loop goes on after a message.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Exit,
}

/// A hover that waits for its cost.
struct Waiting {
    id: RequestId,
    said: Said,
    key: Key,
    until: Instant,
}

struct Server<'c> {
    connection: &'c Connection,
    workspace: Workspace,
    /// Open files whose diagnostics are out of date.
    unchecked: VecDeque<String>,
    /// Diagnostics that were sent, by the file that was checked.
    told: BTreeMap<String, BTreeMap<Url, Vec<lsp_types::Diagnostic>>>,
    costs: Costs,
    waiting: Vec<Waiting>,
    is_shut_down: bool,
}

impl Server<'_> {
    fn run(mut self) -> Result<(), Failure> {
        loop {
            let message = match self.connection.receiver.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Disconnected) => return Err("the client is gone, without `exit`".into()),
                Err(TryRecvError::Empty) => match self.unchecked.pop_front() {
                    Some(name) => {
                        self.publish(&name)?;
                        continue;
                    }
                    None => match self.wait()? {
                        Some(message) => message,
                        None => continue,
                    },
                },
            };
            if self.message(message)? == Next::Exit {
                return match self.is_shut_down {
                    true => Ok(()),
                    false => Err("the client said `exit` before `shutdown`".into()),
                };
            }
        }
    }

    /// Waits for a message, and answers hovers meanwhile.
    fn wait(&mut self) -> Result<Option<Message>, Failure> {
        let until = self.waiting.iter().map(|waiting| waiting.until).min();
        let timer = until.map_or_else(never, crossbeam_channel::at);
        let received = select! {
            recv(self.connection.receiver) -> message => match message {
                Ok(message) => return Ok(Some(message)),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            },
            recv(self.costs.found) -> found => found.map_err(|_| RecvTimeoutError::Timeout),
            recv(timer) -> _ => Err(RecvTimeoutError::Timeout),
        };
        match received {
            Err(RecvTimeoutError::Disconnected) => return Err("the client is gone, without `exit`".into()),
            Err(RecvTimeoutError::Timeout) => {
                let late = "The cost is not known within a second; it is said once it is.";
                self.answer_waiting(|waiting| (waiting.until <= Instant::now()).then(|| late.to_string()))?;
            }
            Ok((key, cost)) => {
                self.costs.keep(key, cost.clone());
                self.answer_waiting(|waiting| (waiting.key == key).then(|| cost.clone()))?;
            }
        }
        Ok(None)
    }

    fn answer_waiting(&mut self, cost: impl Fn(&Waiting) -> Option<String>) -> Result<(), Failure> {
        for waiting in std::mem::take(&mut self.waiting) {
            match cost(&waiting) {
                Some(cost) => self.reply(Response::new_ok(waiting.id, waiting.said.hover(&cost)))?,
                None => self.waiting.push(waiting),
            }
        }
        Ok(())
    }

    fn reply(&self, response: Response) -> Result<(), Failure> {
        Ok(self.connection.sender.send(response.into())?)
    }

    fn message(&mut self, message: Message) -> Result<Next, Failure> {
        match message {
            Message::Request(request) => self.request(request)?,
            Message::Notification(notification) if notification.method == Exit::METHOD => {
                return Ok(Next::Exit);
            }
            Message::Notification(notification) => self.notification(notification),
            // The server sends no requests, so no response is expected.
            Message::Response(_) => {}
        }
        Ok(Next::GoOn)
    }

    fn request(&mut self, request: Request) -> Result<(), Failure> {
        if self.is_shut_down {
            let message = "the server is shut down".to_string();
            return self.reply(Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message));
        }
        if request.method == Shutdown::METHOD {
            self.is_shut_down = true;
            return self.reply(Response::new_ok(request.id, ()));
        }
        let id = request.id.clone();
        // A panic does not end the server: the next request may succeed.
        let answered = catch_unwind(AssertUnwindSafe(|| match request.method == HoverRequest::METHOD {
            true => self.hover(request),
            false => Some(requests::answer(&mut self.workspace, request)),
        }));
        let fault = || {
            let message = "this request made Pumice fail: that is a fault of Pumice".to_string();
            Some(Response::new_err(id, ErrorCode::InternalError as i32, message))
        };
        match answered.unwrap_or_else(|_| fault()) {
            Some(response) => self.reply(response),
            None => Ok(()),
        }
    }

    /// Answers a hover, unless it waits for a cost.
    fn hover(&mut self, request: Request) -> Option<Response> {
        let (id, params) = match requests::read::<HoverRequest>(request) {
            Ok(read) => read,
            Err(response) => return Some(response),
        };
        let at = params.text_document_position_params;
        let said = match crate::hover::hover(&mut self.workspace, &at.text_document.uri, at.position) {
            Some(said) => said,
            None => return Some(Response::new_ok(id, serde_json::Value::Null)),
        };
        let Some(subject) = said.subject.clone() else { return Some(Response::new_ok(id, said.hover(""))) };
        match self.costs.ask(&subject) {
            Some(cost) => Some(Response::new_ok(id, said.hover(&cost))),
            None => {
                self.waiting.push(Waiting { id, said, key: subject.key(), until: Instant::now() + PATIENCE });
                None
            }
        }
    }

    /// Handles a notification; one that cannot be understood is ignored.
    fn notification(&mut self, notification: Notification) {
        let changed = match notification.method.as_str() {
            DidOpenTextDocument::METHOD => read::<DidOpenTextDocument>(notification).map(|params| {
                let document = params.text_document;
                self.workspace.open(document.uri, document.version, document.text)
            }),
            DidChangeTextDocument::METHOD => read::<DidChangeTextDocument>(notification).map(|params| {
                let document = params.text_document;
                self.workspace.change(&document.uri, document.version, params.content_changes)
            }),
            DidCloseTextDocument::METHOD => read::<DidCloseTextDocument>(notification).map(|params| {
                let uri = params.text_document.uri;
                let changed = self.workspace.close(&uri);
                self.withdraw(&name_of(&uri));
                changed
            }),
            DidChangeWatchedFiles::METHOD => read::<DidChangeWatchedFiles>(notification).map(|params| {
                let names = params.changes.iter().map(|change| name_of(&change.uri));
                names.flat_map(|name| self.workspace.forget(&name)).collect()
            }),
            _ => None,
        };
        for name in changed.unwrap_or_default() {
            if !self.unchecked.contains(&name) {
                self.unchecked.push_back(name);
            }
        }
    }

    /// Checks a file and sends diagnostics for it, and for files that it imports.
    fn publish(&mut self, name: &str) -> Result<(), Failure> {
        if library::is_library(name) {
            return Ok(());
        }
        let analysed = catch_unwind(AssertUnwindSafe(|| self.workspace.analysis(name)));
        let Ok(Some(analysis)) = analysed else { return Ok(()) };
        let found = diagnostics::by_file(&self.workspace, &analysis);
        let before = self.told.insert(name.to_string(), found.clone()).unwrap_or_default();
        let mut changed: Vec<&Url> = found.keys().chain(before.keys()).collect();
        changed.sort();
        changed.dedup();
        changed.into_iter().try_for_each(|uri| self.tell(uri))
    }

    /// Withdraws the diagnostics of the program of a file that was closed.
    fn withdraw(&mut self, name: &str) {
        self.unchecked.retain(|other| other != name);
        for uri in self.told.remove(name).unwrap_or_default().keys() {
            // The loop notices a client that is gone.
            let _ = self.tell(uri);
        }
    }

    /// Sends the diagnostics of a file: those of its own program if it is open, else those of all programs that contain it.
    fn tell(&self, uri: &Url) -> Result<(), Failure> {
        let name = name_of(uri);
        let own = self.told.get(&name).filter(|_| self.workspace.document(&name).is_some());
        let mut all: Vec<lsp_types::Diagnostic> = Vec::new();
        let programs: Vec<_> = own.map_or_else(|| self.told.values().collect(), |own| vec![own]);
        for diagnostic in programs.into_iter().filter_map(|told| told.get(uri)).flatten() {
            if !all.contains(diagnostic) {
                all.push(diagnostic.clone());
            }
        }
        let version = self.workspace.document(&name).map(|document| document.version);
        let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics: all, version };
        let notification = Notification::new(PublishDiagnostics::METHOD.to_string(), params);
        Ok(self.connection.sender.send(notification.into())?)
    }
}

/// Reads the parameters of a notification; `None` if they are wrong.
fn read<N: lsp_types::notification::Notification>(notification: Notification) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    let read: Result<N::Params, ExtractError<Notification>> = notification.extract(N::METHOD);
    read.ok()
}
