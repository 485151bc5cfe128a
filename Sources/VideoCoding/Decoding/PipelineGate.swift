import Dispatch
import Synchronization

/// Limits the number of frames in a pipeline. Further threads block, and further tasks suspend.
final class PipelineGate: Sendable {
    private enum Waiter {
        case thread
        case task(CheckedContinuation<Void, Never>)
    }

    private struct State {
        var occupied = 0
        var isOpen = false
        var waiters: [Waiter] = []
    }

    private let depth: Int
    private let state = Mutex(State())
    private let threads = DispatchSemaphore(value: 0)

    init(depth: Int) {
        self.depth = max(1, depth)
    }

    /// Takes a place, at once or when one is left. Blocks.
    func enter() {
        let hasToWait = state.withLock { state in
            if takePlace(&state) { return false }
            state.waiters.append(.thread)
            return true
        }
        if hasToWait { threads.wait() }
    }

    /// Takes a place, at once or when one is left. Suspends.
    func enterOrSuspend() async {
        if state.withLock({ takePlace(&$0) }) { return }
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                if takePlace(&state) { return true }
                state.waiters.append(.task(continuation))
                return false
            }
            if isIn { continuation.resume() }
        }
    }

    /// Takes a place though there may be none.
    func squeezeIn() {
        state.withLock { $0.occupied += 1 }
    }

    /// Frees a place, and admits the longest waiting caller.
    func leave() {
        let next = state.withLock { state -> Waiter? in
            state.occupied -= 1
            guard !state.waiters.isEmpty, takePlace(&state) else { return nil }
            return state.waiters.removeFirst()
        }
        if let next { wake(next) }
    }

    /// Admits all callers from now on.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            state.occupied += state.waiters.count
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { wake(waiter) }
    }

    private func takePlace(_ state: inout State) -> Bool {
        guard state.isOpen || state.occupied < depth else { return false }
        state.occupied += 1
        return true
    }

    private func wake(_ waiter: Waiter) {
        switch waiter {
        case .thread: threads.signal()
        case .task(let continuation): continuation.resume()
        }
    }
}
