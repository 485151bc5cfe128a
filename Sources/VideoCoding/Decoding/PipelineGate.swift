import Dispatch
import Synchronization

/// Limits the number of frames in a pipeline and of its unread outputs. Further threads block, and further tasks
/// suspend.
final class PipelineGate: Sendable {
    private enum Waiter {
        case thread
        case task(CheckedContinuation<Void, Never>)
    }

    private struct State {
        var frames = 0
        var unreadOutputs = 0
        var hasReader = true
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
        state.withLock { $0.frames += 1 }
    }

    /// Frees a place.
    func leave() {
        admit { $0.frames -= 1 }
    }

    /// Has an output take a place until it is read, if there is a reader.
    func addOutput() {
        state.withLock { if $0.hasReader { $0.unreadOutputs += 1 } }
    }

    func outputWasRead() {
        admit { $0.unreadOutputs = max(0, $0.unreadOutputs - 1) }
    }

    /// Frees the places of all outputs, since nobody reads them any more.
    func readerLeft() {
        admit { state in
            state.hasReader = false
            state.unreadOutputs = 0
        }
    }

    /// Admits all callers from now on.
    func open() {
        admit { $0.isOpen = true }
    }

    /// Makes a change, and admits those that have waited longest to the places that are free then.
    private func admit(after change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            var admitted: [Waiter] = []
            while !state.waiters.isEmpty, takePlace(&state) { admitted.append(state.waiters.removeFirst()) }
            return admitted
        }
        for waiter in admitted { wake(waiter) }
    }

    private func takePlace(_ state: inout State) -> Bool {
        guard state.isOpen || state.frames + state.unreadOutputs < depth else { return false }
        state.frames += 1
        return true
    }

    private func wake(_ waiter: Waiter) {
        switch waiter {
        case .thread: threads.signal()
        case .task(let continuation): continuation.resume()
        }
    }
}
