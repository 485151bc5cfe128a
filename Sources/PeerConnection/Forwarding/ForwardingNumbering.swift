/// Maps a source's sequence numbers to a receiver's stream.
///
/// The distance stays the same, so that packets missing at the relay are missing for the receiver too, until they come
/// late. Only packets that the relay itself drops close up, and packets that it adds make room. Both numbers are
/// unwrapped.
struct ForwardingNumbering {
    /// A part of the stream that begins at one of the source's numbers.
    private struct Segment {
        var start: Int64
        /// The offset to add; nil if the packets are left out.
        var offset: Int64?
    }

    /// The number of remembered changes. A packet that is older than all of them is dropped.
    private static let memory = 64

    private var segments: [Segment]
    /// The offset of the next packet.
    private var offset: Int64
    /// The highest of the source's numbers so far.
    private var newest: Int64
    /// The number from which on no packet is numbered; nil while the stream continues.
    private(set) var end: Int64?

    /// - Parameters:
    ///   - first: The source's number of the first packet.
    ///   - number: Its number for the receiver.
    init(first: Int64, as number: Int64) {
        offset = number &- first
        newest = first - 1
        segments = [Segment(start: first, offset: offset)]
    }

    /// The number behind the last packet.
    var next: Int64 { end ?? (newest + 1 &+ offset) }

    /// The receiver's number of a packet; nil for one that is left out.
    mutating func number(_ sequence: Int64) -> Int64? {
        if end == nil { newest = max(newest, sequence) }
        guard let segment = segments.last(where: { $0.start <= sequence }), let offset = segment.offset else {
            return nil
        }
        let number = sequence &+ offset
        return number < end ?? .max ? number : nil
    }

    /// Leaves out all behind the newest packet, up to this one: the numbers close up.
    mutating func leaveOut(through sequence: Int64) {
        guard end == nil, sequence > newest else { return }
        if let last = segments.last, last.start == newest + 1 {
            segments[segments.count - 1].offset = nil
        } else {
            segments.append(Segment(start: newest + 1, offset: nil))
        }
        // Adjacent dropped ranges become one.
        if segments.count > 1, segments[segments.count - 2].offset == nil { segments.removeLast() }
        offset &-= sequence - newest
        newest = sequence
        append(Segment(start: sequence + 1, offset: offset))
    }

    /// Makes room for the relay's own packets after the newest one. Returns the number of the first.
    mutating func insert(_ count: Int) -> Int64? {
        guard end == nil else { return nil }
        let number = next
        offset &+= Int64(count)
        if let last = segments.last, last.start == newest + 1 {
            segments[segments.count - 1].offset = offset
        } else {
            append(Segment(start: newest + 1, offset: offset))
        }
        return number
    }

    /// Records that the source's stream restarted at this packet. One number is skipped, so that the receiver notices.
    mutating func restart(at sequence: Int64) {
        guard end == nil else { return }
        let number = next + 1
        offset = number &- sequence
        newest = sequence - 1
        segments = [Segment(start: sequence, offset: offset)]
    }

    /// Ends the numbering at this number: only earlier packets may still come.
    mutating func close(at number: Int64) { end = min(number, next) }

    private mutating func append(_ segment: Segment) {
        segments.append(segment)
        if segments.count > Self.memory { segments.removeFirst(segments.count - Self.memory) }
    }
}
