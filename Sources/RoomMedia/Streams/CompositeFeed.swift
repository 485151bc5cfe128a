package import Dispatch
import Foundation
import MediaCore
import RoomAPI
import Synchronization

/// Brings the samples of a composite to the thread of one stream, through a queue of its own: however slow that thread
/// is, neither the call nor another stream waits for it.
///
/// While the queue is full, whole groups of pictures are lost, with their sound, and it goes on with a keyframe.
struct CompositeFeed {
    let room: String
    let queue: RecordingQueue
    private let news: TimedSemaphore
    private var isLosing = false
    private var hasAskedForKeyframe = false
    /// The number of times that it began to lose samples.
    private(set) var losses = 0

    /// - Parameter news: Is signalled whenever there is something for the thread.
    init(room: String, queue: RecordingQueue, news: TimedSemaphore) {
        self.room = room
        self.queue = queue
        self.news = news
    }

    /// Takes a sample. Returns true if the composite is to have a keyframe, so that the stream can go on.
    mutating func record(_ item: RecordingItem) -> Bool {
        var isKeyframe = false
        if case .video(let sample, _) = item.content { isKeyframe = sample.isSync }
        if isLosing {
            guard queue.isRoomy else { return false }
            guard isKeyframe else {
                defer { hasAskedForKeyframe = true }
                return !hasAskedForKeyframe
            }
        }
        guard queue.offer(item) else {
            if !isLosing { losses += 1 }
            (isLosing, hasAskedForKeyframe) = (true, false)
            return false
        }
        isLosing = false
        news.signal()
        return false
    }

    /// Nothing comes after this.
    func end() {
        queue.end(.stopped, at: .zero)
        news.signal()
    }
}

/// The thread that takes what a `CompositeFeed` brings.
package final class CompositeThread: Sendable {
    /// Done when the thread has ended.
    private let finished = DispatchGroup()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - news: Is signalled when there is something in the queue.
    ///   - make: Makes, on the thread, what takes each sample, and nil at the end.
    init(
        name: String, queue: RecordingQueue, news: TimedSemaphore,
        make: @escaping @Sendable () -> (RecordingItem?) -> Void
    ) {
        finished.enter()
        Thread.detach(named: name) { [finished] in
            let take = make()
            var item: RecordingQueue.Item?
            loop: while true {
                item = queue.next(after: item)
                switch item {
                case .media(let sample): take(sample)
                case .event: break
                case .end: break loop
                case nil: _ = news.wait(for: .seconds(1))
                }
            }
            take(nil)
            finished.leave()
        }
    }

    /// True if the thread has ended.
    var isFinished: Bool { finished.wait(timeout: .now()) == .success }

    /// Returns when the thread has ended, or after so long.
    package func waitUntilFinished(timeout: DispatchTimeInterval) async {
        await finished.waitUntilDone(timeout: timeout)
    }
}
