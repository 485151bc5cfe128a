import Synchronization

/// An answer whose body is read in parts, as they come. If nobody reads, the server has to wait.
///
/// One task reads. The request ends with this object.
public final class HTTPParts: Sendable {
    let pipe = PartsPipe()
    private let id: UInt64
    private let inbox: TransferInbox

    init(id: UInt64, inbox: TransferInbox) {
        self.id = id
        self.inbox = inbox
    }

    deinit {
        inbox.put(.end(id))
    }

    /// The answer's status and fields.
    public var head: HTTPClient.Head { pipe.opening.head ?? HTTPClient.Head(status: 0) }

    /// Waits for the next part of the body.
    ///
    /// - Returns: Nil at its end.
    /// - Throws: Why there is no more; `HTTPFailure.cancelled` as soon as the task is cancelled.
    public func next() async throws(HTTPFailure) -> [UInt8]? {
        while true {
            let (part, wasPaused, end) = pipe.take()
            if wasPaused { inbox.put(.goOn(id)) }
            if !part.isEmpty { return part }
            if let end {
                try end.get()
                return nil
            }
            await waitForNews()
        }
    }

    func waitForHead() async throws(HTTPFailure) {
        while true {
            let (head, end) = pipe.opening
            if head != nil { return }
            if let end {
                try end.get()
                throw .connectionClosed
            }
            await waitForNews()
        }
    }

    private func waitForNews() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { pipe.wait($0) }
        } onCancel: {
            inbox.put(.end(id))
        }
    }
}

/// The received part of an answer that nobody has read yet.
final class PartsPipe: Sendable {
    private struct State {
        var head: HTTPClient.Head?
        var bytes: [UInt8] = []
        var end: Result<Void, HTTPFailure>?
        var isPaused = false
        /// There is something that the reader has not seen.
        var hasNews = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Bytes that may wait for the reader; the part that reaches this is the last.
    static let capacity = 256 << 10

    /// The head and the end, as far as they have come.
    var opening: (head: HTTPClient.Head?, end: Result<Void, HTTPFailure>?) { state.withLock { ($0.head, $0.end) } }

    /// Suspends the reader until there is news.
    func wait(_ reader: CheckedContinuation<Void, Never>) {
        let isNews = state.withLock { state in
            precondition(state.reader == nil, "two tasks read the parts of one answer")
            if !state.hasNews { state.reader = reader }
            defer { state.hasNews = false }
            return state.hasNews
        }
        if isNews { reader.resume() }
    }

    /// Takes the unread bytes. Returns, beside them, whether the server had to wait, and the end if the answer has one.
    func take() -> (part: [UInt8], wasPaused: Bool, end: Result<Void, HTTPFailure>?) {
        state.withLock { state in
            defer {
                state.bytes = []
                state.isPaused = false
            }
            return (state.bytes, state.isPaused, state.end)
        }
    }

    func begin(_ head: HTTPClient.Head) { tell { $0.head = head } }

    func finish(_ end: Result<Void, HTTPFailure>) { tell { $0.end = end } }

    /// - Returns: False: the part was not taken, and comes again when the reader has read.
    func append(_ part: UnsafeRawBufferPointer) -> Bool {
        let isFull = state.withLock { state in
            state.isPaused = state.bytes.count >= Self.capacity
            return state.isPaused
        }
        if !isFull { tell { $0.bytes.append(contentsOf: part) } }
        return !isFull
    }

    private func tell(_ change: (inout State) -> Void) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            defer { state.reader = nil }
            state.hasNews = state.reader == nil
            return state.reader
        }
        reader?.resume()
    }
}
