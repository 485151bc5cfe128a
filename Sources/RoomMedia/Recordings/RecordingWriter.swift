package import Dispatch
import Foundation
import Logging
package import MediaCore
package import RoomAPI

/// The thread of one recording: brings what waits in the queue to the disk. The relay's loop never waits for it.
package final class RecordingWriter: Sendable {
    package let queue: RecordingQueue
    /// Done when the files are closed.
    private let finished = DispatchGroup()

    /// The time for which the thread sleeps while nothing waits.
    private static let interval: TimeInterval = 0.05

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - make: Makes the folder's writer, on the thread.
    ///   - onFailure: Is told once, on the thread, if the recording cannot go on.
    ///   - onEnd: Is told on the thread when all is written.
    package init(
        queue: RecordingQueue, now: @escaping @Sendable () -> MonotonicInstant,
        make: @escaping @Sendable () -> RecordingFolder,
        onFailure: @escaping @Sendable (RecordingEndReason, any Error) -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
        finished.enter()
        Thread.detach(named: "recording") { [queue, finished] in
            Self.run(queue, make(), now: now, onFailure: onFailure)
            onEnd()
            finished.leave()
        }
    }

    /// True if the files are closed.
    package var isFinished: Bool { finished.wait(timeout: .now()) == .success }

    /// Returns when the files are closed, or the disk has not answered for so long.
    package func waitUntilFinished(timeout: DispatchTimeInterval) async {
        await finished.waitUntilDone(timeout: timeout)
    }

    private static func run(
        _ queue: RecordingQueue, _ folder: RecordingFolder, now: () -> MonotonicInstant,
        onFailure: (RecordingEndReason, any Error) -> Void
    ) {
        var failure: RecordingEndReason?
        func attempt(_ work: () throws -> Void) {
            guard failure == nil else { return }
            do {
                try work()
            } catch {
                let reason: RecordingEndReason =
                    (error as? RecordingFileError)?.isDiskFull == true ? .diskFull : .failed
                failure = reason
                onFailure(reason, error)
            }
        }
        attempt { try folder.open() }
        var item: RecordingQueue.Item?
        while true {
            item = queue.next(after: item)
            switch item {
            case .media(let media): attempt { try folder.write(media, now: now()) }
            case .event(let event, let time): attempt { try folder.write(event, at: time.seconds) }
            case .end(let reason, let time):
                folder.close(failure ?? reason, at: time, ended: Date.now.formatted(.iso8601))
                return
            case nil: Thread.sleep(forTimeInterval: interval)
            }
            attempt { try folder.tick(now: now()) }
        }
    }
}
