import H264
import MediaCore
import RTP

/// A source's packets in a receiver's stream: it maps their numbers and timestamps, and decides which frames are
/// dropped.
struct ForwardingStream {
    var numbering: ForwardingNumbering
    private(set) var clock: ForwardingClock
    private(set) var timestampOffset: UInt32
    /// The newest timestamp in the receiver's numbering.
    private(set) var latestTimestamp: UInt32
    /// The frames that were left out last, by the source's timestamps: packets of theirs may come late.
    private var leftOut: [UInt32] = []
    private static let rememberedFrames = 16
    /// No number below this may be given out any more.
    private(set) var leastEnd = Int64.min
    /// True if an encoder's or other packets have continued the numbers.
    var isOver = false
    /// The highest number that has left, and whether its frame ended with it.
    private(set) var newestSent: (number: Int64, endsFrame: Bool)?
    /// The first number.
    private let start: Int64
    /// The number behind the last one that has left.
    var endOfSent: Int64 { newestSent.map { $0.number + 1 } ?? start }

    /// - Parameters:
    ///   - first: The first packet.
    ///   - number: Its number in this stream.
    ///   - timestamp: Its timestamp in this stream.
    init(first: ForwardedPacket, as number: Int64, timestamp: UInt32) {
        start = number
        numbering = ForwardingNumbering(first: first.sequence, as: number)
        timestampOffset = timestamp &- first.packet.timestamp
        latestTimestamp = timestamp
        clock = ForwardingClock(clockRate: VideoSendStream.clockRate, timestamp: timestamp, arrival: first.arrival)
    }

    /// Returns the number and timestamp of a packet; nil if it is dropped.
    ///
    /// A late packet of a frame that was left out may have a number already, because a packet behind it was numbered
    /// before. Then it only fills its place: without it the receiver would ask for it, and in vain.
    ///
    /// - Parameter leavesOutDispensable: True to drop a frame that begins with it if no other refers to it.
    mutating func place(
        _ packet: ForwardedPacket, leavesOutDispensable: Bool
    ) -> (number: Int64, timestamp: UInt32, isFiller: Bool)? {
        let frame = packet.packet.timestamp
        if packet.startsFrame {
            leftOut.removeAll { $0 == frame }
            if leavesOutDispensable, packet.peek.isDispensable { leaveOut(frame) }
        }
        let isLeftOut = leftOut.contains(frame)
        if isLeftOut { numbering.leaveOut(through: packet.sequence) }
        guard let number = numbering.number(packet.sequence) else { return nil }
        let timestamp = frame &+ timestampOffset
        guard !isLeftOut else { return (number, timestamp, true) }
        if packet.startsFrame { clock.observe(timestamp: timestamp, arrival: packet.arrival) }
        if Int32(bitPattern: timestamp &- latestTimestamp) > 0 { latestTimestamp = timestamp }
        return (number, timestamp, false)
    }

    private mutating func leaveOut(_ frame: UInt32) {
        if leftOut.count >= Self.rememberedFrames { leftOut.removeFirst() }
        leftOut.append(frame)
    }

    /// Records that the source's stream restarted at a packet.
    mutating func restart(at packet: ForwardedPacket) {
        guard numbering.end == nil else { return }
        numbering.restart(at: packet.sequence)
        let now = clock.timestamp(at: packet.arrival)
        let isAhead = Int32(bitPattern: now &- latestTimestamp) > 0
        latestTimestamp = isAhead ? now : latestTimestamp &+ VideoSendStream.leastTimestampStep
        timestampOffset = latestTimestamp &- packet.packet.timestamp
        clock = ForwardingClock(
            clockRate: VideoSendStream.clockRate, timestamp: latestTimestamp, arrival: packet.arrival)
        leftOut = []
    }

    /// Takes the next number for something that is not forwarded.
    mutating func takeNumber() {
        if let number = numbering.insert(1) { leastEnd = number + 1 } else { isOver = true }
    }

    /// A packet has left.
    mutating func sent(number: Int64, endsFrame: Bool) {
        if number > newestSent?.number ?? .min { newestSent = (number, endsFrame) }
    }
}
