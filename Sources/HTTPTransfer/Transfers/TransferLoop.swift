import CLibCURL
import Foundation
import MediaCore

/// Drives all transfers, on one thread.
final class TransferLoop {
    private let multi: UnsafeMutableRawPointer
    private let inbox: TransferInbox
    private let now: () -> MonotonicInstant
    private var transfers: [UInt64: Transfer] = [:]
    /// Requests that do not wait for others.
    private var running: [TransferLane: Int] = [:]

    /// Requests of a client to one server at the same time; further ones wait. libcurl's own limit would let clients
    /// wait for each other.
    private static let mostRunning = 8
    /// Connections that are kept for further requests.
    private static let mostKeptConnections = 64
    private static let longestWait = Duration.seconds(60)
    /// The pause after a wait that the system has refused.
    private static let pauseAfterFailure: UInt32 = 10_000

    /// - Parameter multi: `CURLM *`, which is this object's from now on.
    init(multi: UnsafeMutableRawPointer, inbox: TransferInbox, now: @escaping () -> MonotonicInstant) {
        self.multi = multi
        self.inbox = inbox
        self.now = now
        shim_curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, Self.mostKeptConnections)
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    /// Works until the inbox is stopped.
    func run() {
        var isStopped = false
        while !isStopped {
            let orders: [TransferOrder]
            (orders, isStopped) = inbox.takeAll()
            for order in orders { obey(order) }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            endFinished()
            endLate(now: now())
            if !isStopped { wait() }
        }
        for transfer in transfers.values { end(transfer, .clientClosed) }
    }

    private func obey(_ order: TransferOrder) {
        switch order {
        case .begin(let plan): begin(plan)
        case .end(let id): transfers[id].map { end($0, .cancelled) }
        case .goOn(let id): transfers[id]?.goOn()
        case .endAll(let client):
            for transfer in transfers.values where transfer.plan.client == client { end(transfer, .clientClosed) }
        }
    }

    private func begin(_ plan: TransferPlan) {
        do throws(HTTPFailure) {
            transfers[plan.id] = try Transfer(plan)
            startNext(in: plan.lane)
        } catch {
            plan.receiver.fail(error)
            inbox.requestEnded(in: plan.lane)
        }
    }

    /// Starts the request that has waited longest, if there is one and it need not wait any more.
    private func startNext(in lane: TransferLane) {
        guard running[lane, default: 0] < Self.mostRunning else { return }
        let waiting = transfers.values.filter { !$0.isRunning && $0.plan.lane == lane }
        guard let next = waiting.min(by: { $0.plan.id < $1.plan.id }) else { return }
        guard curl_multi_add_handle(multi, next.easy) == CURLM_OK else {
            return end(next, .failed("libcurl does not begin the request"))
        }
        next.isRunning = true
        running[lane, default: 0] += 1
    }

    private func end(_ transfer: Transfer, _ failure: HTTPFailure?) {
        guard transfers.removeValue(forKey: transfer.plan.id) != nil else { return }
        let lane = transfer.plan.lane
        if transfer.isRunning {
            curl_multi_remove_handle(multi, transfer.easy)
            let others = running[lane, default: 1] - 1
            running[lane] = others > 0 ? others : nil
        }
        inbox.requestEnded(in: lane)
        transfer.finish(failure)
        startNext(in: lane)
    }

    private func endFinished() {
        var waiting: Int32 = 0
        while let message = curl_multi_info_read(multi, &waiting) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let context = shim_curl_easy_private(easy)
            else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            end(transfer, transfer.failure(of: message.pointee.data.result))
        }
    }

    /// Ends the requests whose deadline has passed, those that wait for others among them.
    private func endLate(now: MonotonicInstant) {
        for transfer in transfers.values where transfer.deadline <= now { end(transfer, .timedOut) }
    }

    private func wait() {
        let present = now()
        let next = transfers.values.reduce(present + Self.longestWait) { min($0, $1.deadline) }
        // Rounded up: a wait that ends before the deadline would be followed by others.
        let milliseconds = Int32(clamping: max(0, (next - present).nanoseconds) / 1_000_000 + 1)
        guard curl_multi_poll(multi, nil, 0, milliseconds, nil) != CURLM_OK else { return }
        usleep(Self.pauseAfterFailure)
    }
}
