import MediaCore

/// The results of the passes so far: the groups of pictures, the result of each encoding of them, and the parts that
/// the current or next pass encodes.
struct MultiPassAnalysis {
    /// A closed group of pictures, or several short ones.
    struct Group {
        /// The first picture's place in the stream.
        var firstNumber: Int
        /// The presentation times of the pictures, in order.
        var times: [MediaTime]
        /// The indices of the keyframes among the pictures; the first picture is one.
        var keyframes: [Int]
        /// The start of the next group, or the end of the stream.
        var end: MediaTime
        /// All encodes; the last one counts.
        var measurements: [PassMeasurement]

        var range: MediaTimeRange { MediaTimeRange(start: times.first ?? end, end: end) }
    }

    /// The groups in the order of the stream.
    private(set) var groups: [Group] = []
    /// The pass that is being made, or comes next; the first is 1.
    private(set) var pass = 1
    /// The parts that the pass still has to encode; nil in the first pass, which encodes everything.
    private(set) var pending: [PassPlanner.Request]?

    /// The number of pictures in the groups.
    var frameCount: Int { groups.last.map { $0.firstNumber + $0.times.count } ?? 0 }

    /// The size of the valid frames.
    var size: DataSize { groups.reduce(.zero) { $0 + ($1.measurements.last?.size ?? .zero) } }

    /// The mean SSIM of the frames that stand; nil while there are none.
    var structuralSimilarity: Double? {
        guard frameCount > 0 else { return nil }
        return 1 - groups.reduce(0) { $0 + ($1.measurements.last?.distortion ?? 0) } / Double(frameCount)
    }

    /// The time from the first frame to the end of the last.
    var range: MediaTimeRange? {
        guard let first = groups.first, let last = groups.last else { return nil }
        return MediaTimeRange(start: first.range.start, end: last.end)
    }

    /// True if no further pass comes.
    var isFinished: Bool { pending?.isEmpty == true && isBetweenPasses }
    /// True if the pass has been planned and, as far as known, nothing of it has been encoded.
    private var isBetweenPasses = true

    /// The time that the pass has still to encode, in as few ranges as hold it.
    var pendingRanges: [MediaTimeRange] {
        guard let pending else {
            guard let end = groups.last?.end else { return [.all] }
            return [MediaTimeRange(start: end, duration: .positiveInfinity)]
        }
        var ranges: [MediaTimeRange] = []
        for request in pending {
            let range = groups[request.group].range
            if let last = ranges.last, last.end == range.start {
                ranges[ranges.count - 1] = MediaTimeRange(start: last.start, end: range.end)
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Takes a group of the first pass in.
    mutating func append(_ group: Group) {
        groups.append(group)
    }

    /// Takes the encode of a group that the pass asked for in; false when it asked for no such thing.
    mutating func append(_ measurement: PassMeasurement, group: Int) -> Bool {
        guard groups.indices.contains(group), let index = pending?.firstIndex(where: { $0.group == group })
        else { return false }
        pending?.remove(at: index)
        groups[group].measurements.append(measurement)
        isBetweenPasses = false
        return true
    }

    /// Ends the pass; false when a request is for a group that does not exist.
    mutating func endPass(requesting requests: [PassPlanner.Request]) -> Bool {
        guard requests.allSatisfy({ groups.indices.contains($0.group) }) else { return false }
        pending = requests
        pass += 1
        isBetweenPasses = true
        return true
    }
}
