import Dispatch
package import Foundation
package import MediaCore
package import RoomAPI
import Synchronization

/// A connection of an output, which belongs to its thread. All of it may wait for the network, until it is abandoned.
package protocol OutputSink: AnyObject {
    /// Sends a sample. The first picture is a keyframe.
    func write(_ item: RecordingItem) throws(OutputFailure)
    /// The bytes that were sent so far.
    var bytesWritten: Int64 { get }
    /// Tells the server that the stream is over.
    func finish()
}

/// The thread of one output: connects, sends what waits in the queue, and connects again after failures. Nobody waits
/// for it.
package final class OutputThread: Sendable {
    /// Makes a connection, on the thread. It looks at each turn, counted from zero, for another address.
    package typealias Connect =
        @Sendable (_ turn: Int, _ isAbandoned: @escaping @Sendable () -> Bool) throws(OutputFailure) -> any OutputSink

    /// How long the thread waits for the network.
    package struct Patience: Sendable {
        var connecting = Duration.seconds(10)
        var writing = Duration.seconds(8)
        /// For everything that is left to do at the end.
        var ending = Duration.seconds(2)
    }

    package let queue: OutputQueue
    private let lifecycle: Mutex<OutputLifecycle>
    private let deadline = Deadline()
    private let patience: Patience
    private let now: @Sendable () -> MonotonicInstant
    private let onNews: @Sendable (OutputLifecycle.News) -> Void
    /// Done when the thread has ended.
    private let finished = DispatchGroup()

    /// When a wait for the network is abandoned.
    private final class Deadline: Sendable {
        private let step = Atomic(MonotonicInstant.distantFuture.nanoseconds)
        private let end = Atomic(MonotonicInstant.distantFuture.nanoseconds)

        func setStep(_ instant: MonotonicInstant) { step.store(instant.nanoseconds, ordering: .relaxed) }

        func setEnd(_ instant: MonotonicInstant) { end.store(instant.nanoseconds, ordering: .relaxed) }

        func hasPassed(_ now: MonotonicInstant) -> Bool {
            now.nanoseconds > min(step.load(ordering: .relaxed), end.load(ordering: .relaxed))
        }
    }

    /// Starts the thread.
    ///
    /// - Parameter onNews: Is told, on the thread, what everybody in the room is to be told.
    package init(
        queue: OutputQueue, delays: ReconnectDelays = ReconnectDelays(), patience: Patience = Patience(),
        now: @escaping @Sendable () -> MonotonicInstant = { .now() },
        onNews: @escaping @Sendable (OutputLifecycle.News) -> Void, connect: @escaping Connect
    ) {
        self.queue = queue
        self.patience = patience
        self.now = now
        self.onNews = onNews
        lifecycle = Mutex(OutputLifecycle(delays: delays))
        finished.enter()
        Thread.detach(named: "output") { [self] in
            run(connect)
            finished.leave()
        }
    }

    private func run(_ connect: Connect) {
        var turn = 0
        while !queue.isEnded {
            deadline.setStep(now() + patience.connecting)
            do throws(OutputFailure) {
                try send(through: connect(turn) { [deadline, now] in deadline.hasPassed(now()) })
            } catch {
                guard !queue.isEnded else { return }
                turn += 1
                guard error.reason != .notPermitted else {
                    tell(lifecycle.withLock { $0.ended(error) })
                    return
                }
                let (wait, news) = lifecycle.withLock {
                    $0.failed(error, random: .random(in: 0...1), now: now())
                }
                tell(news)
                queue.pause(wait)
                lifecycle.withLock { $0.retries() }
            }
        }
    }

    /// Sends until the end.
    private func send(through sink: any OutputSink) throws(OutputFailure) {
        queue.open()
        defer { queue.close() }
        while true {
            switch queue.next(upTo: .seconds(1)) {
            case .sample(let item):
                deadline.setStep(now() + patience.writing)
                try sink.write(item)
                let bytes = sink.bytesWritten
                tell(
                    lifecycle.withLock { lifecycle in
                        lifecycle.sent(bytes)
                        return lifecycle.wentLive(now: now())
                    })
            case .nothing: break
            case .end:
                deadline.setStep(now() + patience.ending)
                sink.finish()
                lifecycle.withLock { $0.sent(sink.bytesWritten) }
                return
            }
        }
    }

    private func tell(_ news: OutputLifecycle.News?) {
        if let news { onNews(news) }
    }

    // MARK: On the loop

    /// Ends the output. What waits is sent if the network takes it.
    package func end(_ reason: OutputStatus.Reason) {
        _ = lifecycle.withLock { $0.ended(OutputFailure(reason: reason)) }
        deadline.setEnd(now() + patience.ending)
        queue.end()
    }

    /// True if the thread has ended.
    package var isFinished: Bool { finished.wait(timeout: .now()) == .success }

    /// Returns when the thread has ended, or after so long.
    package func waitUntilFinished(timeout: DispatchTimeInterval) async {
        await finished.waitUntilDone(timeout: timeout)
    }

    var bytes: Int64 { lifecycle.withLock { $0.bytes } }
    var reconnects: Int { lifecycle.withLock { $0.reconnects } }
    package var state: OutputStatus.State { lifecycle.withLock { $0.state } }

    package func description(id: String, name: String?, url: String, date: Date) -> OutputDescription {
        lifecycle.withLock {
            $0.description(
                id: id, name: name, url: url, framesDropped: queue.framesDropped, now: now(), date: date)
        }
    }
}
