import Dispatch
import Glibc
import MediaCore
import Synchronization

/// A thread that does one request at a time for a caller who waits only so long.
///
/// A driver's system call may never return. The caller then leaves the thread to itself: it holds what it works with
/// alone, and lets go of that if the call returns after all.
final class AbandonableThread<Request: Sendable, Response: Sendable>: Sendable {
    /// Answers a request, on the thread.
    typealias Handler = (Request) -> Response

    private struct State {
        var request: Request?
        var response: Response?
        var isEnding = false
        var isAbandoned = false
    }

    /// The part that the thread holds on to; it knows nothing of the caller's object.
    private final class Exchange: Sendable {
        let state = Mutex(State())
        let wake = DispatchSemaphore(value: 0)
        let done = TimedSemaphore()
        let makeHandler: @Sendable () -> Handler

        init(_ makeHandler: @escaping @Sendable () -> Handler) {
            self.makeHandler = makeHandler
        }

        func run() {
            let handler = makeHandler()
            while true {
                wake.wait()
                let request = state.withLock { state in
                    defer { state.request = nil }
                    return state.isEnding ? nil : state.request
                }
                guard let request else { return }
                let response = handler(request)
                state.withLock { $0.response = response }
                done.signal()
            }
        }
    }

    private let exchange: Exchange

    private init(_ exchange: Exchange) {
        self.exchange = exchange
    }

    /// Starts a thread.
    ///
    /// - Parameter makeHandler: Makes what answers requests, on the thread; it is let go of there, too.
    static func start(
        _ makeHandler: @escaping @Sendable () -> Handler
    ) throws(VideoCodingError) -> AbandonableThread {
        let exchange = Exchange(makeHandler)
        let status = startDetachedThread { exchange.run() }
        guard status == 0 else {
            throw .hardwareUnavailable(reason: "no thread for the device's calls (\(status))")
        }
        return AbandonableThread(exchange)
    }

    deinit {
        exchange.state.withLock { $0.isEnding = true }
        exchange.wake.signal()
    }

    /// Has the thread answer a request. One caller at a time.
    ///
    /// - Returns: The answer; nil where it took longer than `limit`, and from then on.
    func perform(_ request: Request, within limit: Duration) -> Response? {
        guard begin(request) else { return nil }
        guard exchange.done.wait(for: limit) else {
            exchange.state.withLock { $0.isAbandoned = true }
            return nil
        }
        return takeResponse()
    }

    /// Has the thread answer a request that nobody waits for. `poll()` has the answer; no other request may come
    /// before.
    ///
    /// - Returns: False: a request has taken too long before.
    func begin(_ request: Request) -> Bool {
        let isTaken = exchange.state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.request = request
            return true
        }
        if isTaken { exchange.wake.signal() }
        return isTaken
    }

    /// The answer to the request that was begun; nil: it is not there yet.
    func poll() -> Response? { exchange.done.wait(for: .zero) ? takeResponse() : nil }

    private func takeResponse() -> Response? {
        exchange.state.withLock { state in
            defer { state.response = nil }
            return state.response
        }
    }
}

/// The work of a thread.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// Runs `body` on a thread that nobody waits for. Returns the system's error number, or zero.
private func startDetachedThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let argument = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, argument.toOpaque())
    if status == 0 { pthread_detach(thread) } else { argument.release() }
    return status
}
