import DequeModule
import Dispatch
import MediaCore
import MediaFiles
import Synchronization

/// The packets of a player that are read and not decoded yet: filled on the thread that reads, emptied on the one that
/// plays. It has bounds by bytes, by packets and by time.
final class PlayerPackets: Sendable {
    enum Next {
        case packet(MediaPacket)
        /// The film ends, or a stream broke.
        case end(PlayerFailure?)
        /// Nothing is here yet.
        case nothing
    }

    private static let mostBytes = 16 << 20
    private static let mostPackets = 2000
    private static let mostTime = Duration.seconds(4)

    private struct State {
        var packets = Deque<MediaPacket>()
        var bytes = 0
        var end: PlayerFailure??
        var newest: Duration?
        /// Where the reader is to go on.
        var seek: Duration?
        /// True until a keyframe of a live stream comes, after packets were lost.
        var awaitsKeyframe = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Wakes the reader.
    private let room = DispatchSemaphore(value: 0)
    /// Wakes a player that waits for the streams to be opened.
    let news = TimedSemaphore()

    // MARK: On the thread that reads

    /// The reader's next step after a packet.
    enum Order: Equatable {
        case goOn
        case seek(Duration)
        case stop
    }

    /// Adds a packet. A film waits until there is room; of a live stream all that waits is lost then.
    func append(_ packet: MediaPacket, isLive: Bool, hasVideo: Bool) -> Order {
        while true {
            let order: Order? = state.withLock { state in
                if state.isClosed { return .stop }
                if let seek = state.seek {
                    state.seek = nil
                    return .seek(seek)
                }
                if Self.isFull(state) {
                    guard isLive else { return nil }
                    (state.packets, state.bytes) = ([], 0)
                    state.awaitsKeyframe = hasVideo
                }
                if packet.isVideo, packet.isKeyframe { state.awaitsKeyframe = false }
                guard !state.awaitsKeyframe else { return .goOn }
                state.packets.append(packet)
                state.bytes += packet.size
                if let time = packet.time { state.newest = time }
                return .goOn
            }
            if let order { return order }
            room.wait()
        }
    }

    private static func isFull(_ state: State) -> Bool {
        guard state.bytes < mostBytes, state.packets.count < mostPackets else { return true }
        guard let first = state.packets.first?.time, let last = state.newest else { return false }
        return last - first > mostTime
    }

    /// Reports the end, and waits until the player seeks or stops.
    func tellEnd(_ failure: PlayerFailure?) -> Order {
        state.withLock { if $0.seek == nil { $0.end = .some(failure) } }
        news.signal()
        while true {
            let order: Order? = state.withLock { state in
                if state.isClosed { return .stop }
                defer { state.seek = nil }
                return state.seek.map { .seek($0) }
            }
            if let order { return order }
            room.wait()
        }
    }

    // MARK: On the thread that plays

    func next() -> Next {
        let next: Next = state.withLock { state in
            if let packet = state.packets.popFirst() {
                state.bytes -= packet.size
                return .packet(packet)
            }
            return state.end.map { .end($0) } ?? .nothing
        }
        if case .packet = next { room.signal() }
        return next
    }

    /// The end, if it was told: a reason, or nil at the end of a film.
    var end: PlayerFailure?? { state.withLock { $0.end } }

    /// The time of the newest packet.
    var newest: Duration? { state.withLock { $0.newest } }

    /// Has the reader go on elsewhere. What waits is lost.
    func seek(to time: Duration) {
        state.withLock { state in
            (state.packets, state.bytes, state.end, state.newest) = ([], 0, nil, nil)
            state.seek = time
        }
        room.signal()
    }

    /// Ends the reader.
    func close() {
        state.withLock { $0.isClosed = true }
        room.signal()
        news.signal()
    }
}
