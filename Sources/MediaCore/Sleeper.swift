import Synchronization

/// One suspended task, woken once: by a timer or by its cancellation, whichever comes first.
final class Sleeper: Sendable {
    private enum State {
        case notStarted
        case suspended(CheckedContinuation<Void, Never>)
        case awake
    }

    private let state = Mutex(State.notStarted)

    /// Suspends the task until `wake` is called.
    ///
    /// - Parameter start: Called when a wake can no longer be missed; it may call `wake` itself.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(_ start: () -> Void) async throws(CancellationError) {
        guard !Task.isCancelled else { throw CancellationError() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAwake = state.withLock { state in
                    if case .awake = state { return true }
                    state = .suspended(continuation)
                    return false
                }
                if isAwake { continuation.resume() } else { start() }
            }
        } onCancel: {
            wake()
        }
        guard !Task.isCancelled else { throw CancellationError() }
    }

    /// Resumes the task. Only the first call has an effect. It never runs the task itself.
    func wake() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .awake }
            guard case .suspended(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume()
    }
}
