import Dispatch
import MediaCore
import Synchronization

/// Sends requests by HTTP/1.1, with libcurl.
///
/// It goes where it is told and nowhere else: no redirection is followed, and no proxy, password or cookie is taken
/// from the environment. All clients of a program share one thread and its connections, which requests use again where
/// the certificates are the same. A client has eight requests under way to a server; further ones to it wait. So a
/// server that hangs delays nothing but this client's requests to it.
public final class HTTPClient: Sendable {
    /// Nil: the client is closed, or has no libcurl.
    private let driver: Mutex<TransferDriver?>
    /// Nil: libcurl cannot be used, so that each request fails.
    private let inbox: TransferInbox?
    private let id = TransferInbox.makeID()
    private let connectTime: Duration
    private let tls: TLS

    /// - Parameters:
    ///   - connectTime: The longest that making a connection may take, with the look at its host's name.
    ///   - tls: The certificates of HTTPS.
    public convenience init(connectingWithin connectTime: Duration, tls: TLS = TLS()) {
        self.init(connectingWithin: connectTime, tls: tls, driver: TransferDriver.enter())
    }

    init(connectingWithin connectTime: Duration, tls: TLS, driver: TransferDriver?) {
        self.driver = Mutex(driver)
        inbox = driver?.inbox
        self.connectTime = connectTime
        self.tls = tls
    }

    deinit {
        _ = leave()
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - time: The longest that all may take.
    ///   - longest: The most bytes that the answer's body may have.
    /// - Throws: Why there is no answer; `HTTPFailure.cancelled` as soon as the task is cancelled.
    public func perform(
        _ request: Request, within time: Duration, upTo longest: Int
    ) async throws(HTTPFailure) -> Answer {
        try await exchange(request, within: time, body: .needed(upTo: longest)).get()
    }

    /// Sends a request of whose answer only the status is of use. If its body does not come or is long, that costs the
    /// connection alone.
    ///
    /// - Parameter time: The longest that all may take.
    public func status(of request: Request, within time: Duration) async throws(HTTPFailure) -> Int {
        try await exchange(request, within: time, body: .unneeded).get().status
    }

    /// Sends a request, and blocks the calling thread until it is answered.
    ///
    /// - Parameters:
    ///   - time: The longest that all may take.
    ///   - longest: The most bytes that the answer's body may have.
    public func performAndWait(
        _ request: Request, within time: Duration, upTo longest: Int
    ) throws(HTTPFailure) -> Answer {
        let outcome = Outcome()
        begin(
            request, as: TransferInbox.makeID(), within: time,
            for: .whole(.needed(upTo: longest)) { outcome.set($0) })
        return try outcome.wait().get()
    }

    /// Sends a request whose answer is read in parts, as they come. The request ends with the client.
    ///
    /// - Parameter time: The longest until the answer's head is here; nil: for as long as the connection holds.
    public func open(_ request: Request, within time: Duration?) async throws(HTTPFailure) -> HTTPParts {
        guard let inbox else { throw Self.noLibrary }
        let transfer = TransferInbox.makeID()
        let parts = HTTPParts(id: transfer, inbox: inbox)
        begin(request, as: transfer, within: time, for: .parts(parts.pipe))
        try await parts.waitForHead()
        return parts
    }

    /// Fails all requests that are under way, with `HTTPFailure.clientClosed`. After the last client of the program,
    /// waits for the end of their thread.
    public func close() async {
        await leave()?.waitUntilEnded()
    }

    /// - Returns: The driver, if it ends.
    private func leave() -> TransferDriver? {
        driver.withLock { driver in
            guard let left = driver else { return nil }
            driver = nil
            inbox?.put(.endAll(client: id))
            return left.leave() ? left : nil
        }
    }

    private func exchange(
        _ request: Request, within time: Duration, body: AnswerReceiver.Body
    ) async -> Result<Answer, HTTPFailure> {
        let transfer = TransferInbox.makeID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(
                    request, as: transfer, within: time, for: .whole(body) { continuation.resume(returning: $0) })
                // The handler below may have run before there was anything to end.
                if Task.isCancelled { inbox?.put(.end(transfer)) }
            }
        } onCancel: {
            inbox?.put(.end(transfer))
        }
    }

    private func begin(
        _ request: Request, as transfer: UInt64, within time: Duration?, for receiver: AnswerReceiver
    ) {
        let isBegun = driver.withLock { driver in
            guard let driver else { return false }
            driver.inbox.begin(
                TransferPlan(
                    id: transfer, client: id, request: request, connectTime: connectTime, tls: tls,
                    deadline: time.map { driver.now() + $0 } ?? .distantFuture, receiver: receiver))
            return true
        }
        if !isBegun { receiver.fail(inbox == nil ? Self.noLibrary : .clientClosed) }
    }

    private static let noLibrary = HTTPFailure.failed(
        "libcurl cannot be used: it has no memory, or cannot start its TLS library")
}

/// The answer for which a thread waits.
private final class Outcome: Sendable {
    private let result = Mutex<Result<HTTPClient.Answer, HTTPFailure>>(.failure(.clientClosed))
    private let isKnown = DispatchSemaphore(value: 0)

    func set(_ result: Result<HTTPClient.Answer, HTTPFailure>) {
        self.result.withLock { $0 = result }
        isKnown.signal()
    }

    func wait() -> Result<HTTPClient.Answer, HTTPFailure> {
        isKnown.wait()
        return result.withLock { $0 }
    }
}
