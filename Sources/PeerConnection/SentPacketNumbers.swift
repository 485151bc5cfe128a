/// The transport-wide numbers of the newest packets of our sources: feedback of RFC 8888 names a packet by its source
/// and its RTP sequence number.
struct SentPacketNumbers {
    /// The number of remembered packets of a source.
    private static let count = 4096

    private struct Entry {
        var sequence: UInt16
        var transportSequence: UInt16
    }

    /// The entries of each source that sent a packet, until the session has it no longer.
    private var sources: [(ssrc: UInt32, entries: [Entry?])] = []

    mutating func add(ssrc: UInt32, sequence: UInt16, transportSequence: UInt16) {
        if !sources.contains(where: { $0.ssrc == ssrc }) {
            sources.append((ssrc, [Entry?](repeating: nil, count: Self.count)))
        }
        for index in sources.indices where sources[index].ssrc == ssrc {
            sources[index].entries[Int(sequence) % Self.count] = Entry(
                sequence: sequence, transportSequence: transportSequence)
        }
    }

    /// Forgets the packets of sources that are gone.
    mutating func endSources(except isInUse: (UInt32) -> Bool) { sources.removeAll { !isInUse($0.ssrc) } }

    /// The transport-wide number of a packet; nil if there was none such, or it is too old.
    func transportSequence(ssrc: UInt32, sequence: UInt16) -> UInt16? {
        guard let source = sources.first(where: { $0.ssrc == ssrc }),
            let entry = source.entries[Int(sequence) % Self.count], entry.sequence == sequence
        else { return nil }
        return entry.transportSequence
    }
}
