import Conference
import Synchronization

/// Collects finished jobs from the workers' threads and wakes the loop once for all that wait. Results that are not
/// needed before the next tick wait for the loop's next wake-up.
final class CompletionInbox: Sendable {
    private struct State {
        var waiting: [JobCompletion] = []
        var hasCalled = false
        var wakeUp: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func setWakeUp(_ wakeUp: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakeUp = wakeUp }
    }

    func deliver(_ completion: JobCompletion) {
        let wakeUp = state.withLock { state -> (@Sendable () -> Void)? in
            state.waiting.append(completion)
            guard completion.isAwaited, !state.hasCalled else { return nil }
            state.hasCalled = true
            return state.wakeUp
        }
        wakeUp?()
    }

    func takeAll() -> [JobCompletion] {
        state.withLock { state in
            defer {
                state.waiting = []
                state.hasCalled = false
            }
            return state.waiting
        }
    }
}
