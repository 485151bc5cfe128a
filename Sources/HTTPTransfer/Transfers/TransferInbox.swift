import CLibCURL
import Synchronization

/// Brings orders to the thread of transfers, and wakes it.
final class TransferInbox: Sendable {
    private struct State {
        var orders: [TransferOrder] = []
        /// Requests that wait here or are under way.
        var requests: [TransferLane: Int] = [:]
        var isStopped = false
    }

    /// A client's requests to one server that may be under way; those to a slow server leave the others their places.
    /// Each has two more orders at most for which there must be room.
    static let capacity = 512

    private let state = Mutex(State())
    private static let identifiers = Atomic<UInt64>(0)
    /// `CURLM *`. Other threads only wake it, as curl_multi_wakeup(3) lets them, and not once the inbox is stopped.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    init(waking multi: UnsafeMutableRawPointer) {
        self.multi = multi
    }

    /// A number that no other client or request has.
    static func makeID() -> UInt64 { identifiers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Lets a request begin, or tells its receiver at once why it does not.
    func begin(_ plan: TransferPlan) {
        let failure = state.withLock { state -> HTTPFailure? in
            guard !state.isStopped else { return .clientClosed }
            guard state.requests[plan.lane, default: 0] < Self.capacity else { return .tooManyRequests }
            state.requests[plan.lane, default: 0] += 1
            add(.begin(plan), to: &state)
            return nil
        }
        if let failure { plan.receiver.fail(failure) }
    }

    func put(_ order: TransferOrder) {
        state.withLock { add(order, to: &$0) }
    }

    /// Ends the thread.
    func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            curl_multi_wakeup(multi)
        }
    }

    /// What waits, and whether the thread is to end.
    func takeAll() -> (orders: [TransferOrder], isStopped: Bool) {
        state.withLock { state in
            defer { state.orders = [] }
            return (state.orders, state.isStopped)
        }
    }

    /// A request has ended.
    func requestEnded(in lane: TransferLane) {
        state.withLock { state in
            let others = state.requests[lane, default: 1] - 1
            state.requests[lane] = others > 0 ? others : nil
        }
    }

    private func add(_ order: TransferOrder, to state: inout State) {
        guard !state.isStopped else { return }
        state.orders.append(order)
        if state.orders.count == 1 { curl_multi_wakeup(multi) }
    }
}
