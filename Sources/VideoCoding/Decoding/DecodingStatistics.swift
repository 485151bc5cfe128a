import Synchronization

/// Counters of a decoder's answers so far.
public struct DecodingStatistics: Hashable, Sendable {
    public var pictures = 0
    /// The number of pictures with known damage.
    public var concealed = 0
    /// The number of pictures that had to be converted, because the decoder's own did not satisfy the attributes.
    public var pixelTransfers = 0
    public var dropped = 0
    /// The number of dropped frames that were not wanted.
    public var skipped = 0
    public var failed = 0
}

/// Counts a decoder's answers. Any thread may read them.
final class DecodingCounters: Sendable {
    private let pictures = Atomic(0)
    private let concealed = Atomic(0)
    private let pixelTransfers = Atomic(0)
    private let dropped = Atomic(0)
    private let skipped = Atomic(0)
    private let failed = Atomic(0)

    func count(_ result: DecodeResult, isTransferred: Bool = false) {
        add(1, of: result)
        if isTransferred { pixelTransfers.add(1, ordering: .relaxed) }
    }

    /// Subtracts an answer that nobody gets from the counts.
    func discount(_ result: DecodeResult) { add(-1, of: result) }

    private func add(_ count: Int, of result: DecodeResult) {
        switch result {
        case .picture(let picture):
            pictures.add(count, ordering: .relaxed)
            if picture.isConcealed { concealed.add(count, ordering: .relaxed) }
        case .dropped(let reason):
            dropped.add(count, ordering: .relaxed)
            if reason == .skipped { skipped.add(count, ordering: .relaxed) }
        case .failed: failed.add(count, ordering: .relaxed)
        }
    }

    var statistics: DecodingStatistics {
        var statistics = DecodingStatistics()
        statistics.pictures = pictures.load(ordering: .relaxed)
        statistics.concealed = concealed.load(ordering: .relaxed)
        statistics.pixelTransfers = pixelTransfers.load(ordering: .relaxed)
        statistics.dropped = dropped.load(ordering: .relaxed)
        statistics.skipped = skipped.load(ordering: .relaxed)
        statistics.failed = failed.load(ordering: .relaxed)
        return statistics
    }
}
