import MediaCore

/// Another participant's audio packets in a receiver's stream: it maps their numbers and timestamps.
///
/// Distances stay the same. A number that was used is never used again, because of SRTP.
package struct AudioForwardingStream {
    /// A jump of this size in a stream's numbers, or of its timestamps against its arrivals, is a restart.
    private static let longestJump: (numbers: Int64, time: Duration) = (500, .seconds(5))

    private var numbering: ForwardingNumbering
    private(set) var clock: ForwardingClock
    private var timestampOffset: UInt32
    /// The sender's numbers that were placed.
    private var placed = RecentNumbers()
    /// The timestamp of the packet with the newest number, in the receiver's stream.
    private var newestTimestamp: UInt32
    /// The timestamp after the newest packet, in the receiver's stream.
    package private(set) var end: UInt32

    /// - Parameters:
    ///   - first: The first packet.
    ///   - number: Its number in this stream.
    ///   - timestamp: Its timestamp in this stream.
    init(first: ReceivedAudioPacket, as number: Int64, timestamp: UInt32) {
        numbering = ForwardingNumbering(first: first.sequence, as: number)
        clock = ForwardingClock(clockRate: AudioSendStream.clockRate, timestamp: timestamp, arrival: first.arrival)
        timestampOffset = timestamp &- first.rtpTimestamp
        newestTimestamp = timestamp
        end = timestamp
    }

    /// The number of the next packet.
    package var next: Int64 { numbering.next }

    /// The number and timestamp of a packet; nil if it comes too late.
    package mutating func place(_ packet: ReceivedAudioPacket, sampleCount: Int) -> (number: Int64, timestamp: UInt32)?
    {
        if isAnew(packet) { restart(at: packet) }
        guard placed.insert(packet.sequence) == .new, let number = numbering.number(packet.sequence) else { return nil }
        let timestamp = packet.rtpTimestamp &+ timestampOffset
        if placed.newest == packet.sequence { newestTimestamp = timestamp }
        clock.observe(timestamp: timestamp, arrival: packet.arrival)
        let end = timestamp &+ UInt32(truncatingIfNeeded: sampleCount)
        if Int32(bitPattern: end &- self.end) > 0 { self.end = end }
        return (number, timestamp)
    }

    private func isAnew(_ packet: ReceivedAudioPacket) -> Bool {
        let timestamp = packet.rtpTimestamp &+ timestampOffset
        let lateness = clock.lateness(timestamp: timestamp, arrival: packet.arrival)
        guard max(lateness, .zero - lateness) <= Self.longestJump.time else { return true }
        guard let newest = placed.newest else { return false }
        let (numbers, time) = (packet.sequence - newest, Int32(bitPattern: timestamp &- newestTimestamp))
        // Of two packets of one stream, the one with the higher number has the later timestamp.
        return abs(numbers) > Self.longestJump.numbers || Int(numbers.signum()) * Int(time.signum()) < 0
    }

    private mutating func restart(at packet: ReceivedAudioPacket) {
        numbering.restart(at: packet.sequence)
        placed = RecentNumbers()
        let now = clock.timestamp(at: packet.arrival)
        let timestamp = Int32(bitPattern: now &- end) > 0 ? now : end
        timestampOffset = timestamp &- packet.rtpTimestamp
        newestTimestamp = timestamp
        clock = ForwardingClock(clockRate: AudioSendStream.clockRate, timestamp: timestamp, arrival: packet.arrival)
    }
}
