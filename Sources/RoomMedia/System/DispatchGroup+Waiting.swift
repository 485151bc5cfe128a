package import Dispatch
import Synchronization

extension DispatchGroup {
    /// Returns when everything in the group is done, or at the timeout.
    ///
    /// It takes no thread: those of the global queues are few, and tasks run on them.
    package func waitUntilDone(timeout: DispatchTimeInterval) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let waiter = GroupWaiter(continuation)
            notify(queue: .global()) { waiter.wake() }
            DispatchQueue.global().asyncAfter(deadline: .now() + timeout) { waiter.wake() }
        }
    }
}

/// A suspended task, which the first call wakes.
private final class GroupWaiter: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) {
        self.continuation = Mutex(continuation)
    }

    func wake() {
        let first = continuation.withLock { continuation -> CheckedContinuation<Void, Never>? in
            defer { continuation = nil }
            return continuation
        }
        first?.resume()
    }
}
