package import Foundation
package import Logging
package import MediaCore
package import RoomAPI

/// The live streams of a relay's rooms, as its loop sees them.
package struct StreamHub: Sendable {
    /// What streams follow from.
    package struct Settings: Sendable {
        /// Pictures a second.
        var frameRate: Int
        /// The bitrate of streams for which none is chosen.
        var bitRate: BitRate
        /// Bounds of what is offered.
        var limits = LiveWindow.Limits()

        package init(frameRate: Int, bitRate: BitRate) {
            self.frameRate = frameRate
            self.bitRate = bitRate
        }
    }

    package let streams = LiveStreams()
    private let settings: Settings
    private let budget: RecordingQueue.Budget
    private let logger: Logger
    /// The wall clock at the monotonic clock's zero, by what the system's clock shows now.
    private let epoch: @Sendable () -> Date
    private var sessions: [String: Session] = [:]
    /// Threads that have been told to end.
    private var ending: [CompositeThread] = []

    private struct Session {
        var stream: LiveStream
        var feed: CompositeFeed
        var thread: CompositeThread
    }

    /// The most that waits for a stream's thread.
    private static let queueLimit = DataSize(bytes: 8 << 20)

    /// The length of a part in frames, at least: the time between two is not always quite the same.
    private static let shortestPartInFrames = 1.01

    package init(
        settings: Settings, logger: Logger,
        epoch: @escaping @Sendable () -> Date = { Date.now.addingTimeInterval(-StreamHub.uptime()) }
    ) {
        var settings = settings
        let frame = Duration.seconds(Self.shortestPartInFrames / Double(max(1, settings.frameRate)))
        settings.limits.part = max(settings.limits.part, frame)
        self.settings = settings
        budget = RecordingQueue.Budget()
        self.logger = logger
        self.epoch = epoch
    }

    /// The seconds of the monotonic clock.
    static func uptime() -> Double { (MonotonicInstant.now() - MonotonicInstant.zero).seconds }

    /// Streams that go on.
    package var count: Int { sessions.count }

    /// The id of a room's stream; nil if there is none.
    package func stream(of room: String) -> String? { sessions.first { $0.value.feed.room == room }?.key }

    /// Begins to serve what is made for a stream of this id.
    ///
    /// - Parameter onFailure: Is told once, on the stream's thread, if the stream cannot go on.
    package mutating func begin(
        _ id: String, room: String, bitRate: BitRate?, onFailure: @escaping @Sendable () -> Void
    ) {
        ending.removeAll { $0.isFinished }
        let stream = LiveStream(limits: settings.limits)
        let queue = RecordingQueue(limit: Self.queueLimit, budget: budget)
        let news = TimedSemaphore()
        let began = Self.uptime()
        let (settings, logger, epoch, rate) = (settings, logger, epoch, bitRate ?? settings.bitRate)
        let thread = CompositeThread(name: "stream", queue: queue, news: news) {
            var segmenter: LiveSegmenter?
            do {
                segmenter = try LiveSegmenter(
                    stream: stream, limits: settings.limits, frameRate: settings.frameRate, bitRate: rate,
                    clock: { epoch().addingTimeInterval(began) })
            } catch {
                logger.error("a stream cannot be made: \(error)", metadata: ["room": "\(room)"])
                stream.update { $0.end() }
                onFailure()
            }
            return { item in
                do {
                    if let item { try segmenter?.take(item) } else { segmenter?.finish() }
                } catch {
                    logger.error("a stream cannot go on: \(error)", metadata: ["room": "\(room)"])
                    segmenter?.finish()
                    segmenter = nil
                    onFailure()
                }
            }
        }
        sessions[id] = Session(
            stream: stream, feed: CompositeFeed(room: room, queue: queue, news: news), thread: thread)
        streams[room] = stream
        logger.notice("streaming begins", metadata: ["room": "\(room)"])
    }

    /// Takes a sample. Returns whether it belongs to a stream, and its room if that is to have a keyframe.
    package mutating func record(_ item: RecordingItem) -> (isTaken: Bool, keyframe: String?) {
        guard let needsKeyframe = sessions[item.recording]?.feed.record(item) else { return (false, nil) }
        return (true, needsKeyframe ? sessions[item.recording]?.feed.room : nil)
    }

    /// Ends a room's stream. Players still get its last seconds from what is returned, until it is removed.
    package mutating func end(room: String) -> LiveStream? {
        guard let id = stream(of: room), let session = sessions.removeValue(forKey: id) else { return nil }
        end(session)
        logger.notice("streaming ended", metadata: ["room": "\(room)"])
        return session.stream
    }

    package mutating func endAll() {
        for session in sessions.values { end(session) }
        sessions.removeAll()
    }

    private mutating func end(_ session: Session) {
        session.feed.end()
        ending.append(session.thread)
    }

    /// The threads that may not have ended yet.
    package mutating func takeEnding() -> [CompositeThread] {
        defer { ending = [] }
        return ending
    }
}
