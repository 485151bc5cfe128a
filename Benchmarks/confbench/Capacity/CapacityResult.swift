/// The result of one conference, measured once.
struct CapacityResult: Codable, Sendable {
    var way: CapacityWay
    var participants: Int
    /// Processor seconds per second, of the serving process and of the clients beside it.
    var cores: Double
    var clientCores: Double
    /// The frames per second from the sender with the fewest; nil if they are not counted.
    var leastSentFramesPerSecond: Double?
    /// The frames per second of the receiver with the fewest, and on average; nil if receivers get senders' packets in
    /// place of frames.
    var leastFramesPerSecond: Double?
    var framesPerSecond: Double?
    /// The share of video ticks that were left out; nil if they are not counted.
    var missedTickShare: Double?
    /// The delay that the relay says that it added; nil if it is not known.
    var medianDelayMilliseconds: Double?
    var p95DelayMilliseconds: Double?
    /// Resident memory for each participant.
    var megabytesEach: Double
    /// Processor seconds per second that bare libraries take for the video part of the same work, and the ratio of
    /// `cores` to that; nil if nothing is decoded or encoded.
    var floorCores: Double?
    var floorRatio: Double?
    /// Video that one viewer received, without the packets' headers, in 1000 bits a second.
    var kilobitsPerSecond: Double?
    /// The time from the last packet of a sender's frame to the last packet of the first frame to one viewer that shows
    /// it; nil if the frames bear no mark.
    var medianLatencyMilliseconds: Double?
    var p95LatencyMilliseconds: Double?
    /// The same of the first tile alone. Without sound it is that of the participant whose frames the relay's ticks
    /// follow.
    var firstMedianLatencyMilliseconds: Double?
    var firstP95LatencyMilliseconds: Double?
    /// One viewer's tiles against the pictures that were sent: of luma in dB, and from 0 to 1; nil likewise.
    var peakSignalToNoiseRatio: Double?
    var structuralSimilarity: Double?
    /// The share of one viewer's tiles whose marks could be read; nil if no picture was decoded.
    var readableTileShare: Double?

    /// True if all ticks were on time (less than 0.1 % missed), and nearly every picture came from everybody and went
    /// to everybody.
    var isHeld: Bool {
        let least = min(leastFramesPerSecond ?? .infinity, leastSentFramesPerSecond ?? .infinity)
        return (missedTickShare ?? 0) < 0.001 && least >= Double(Workload.frameRate) * 0.97
    }

    mutating func add(_ viewer: ViewerAnalysis) {
        kilobitsPerSecond = viewer.kilobitsPerSecond
        medianLatencyMilliseconds = viewer.medianLatencyMilliseconds
        p95LatencyMilliseconds = viewer.p95LatencyMilliseconds
        firstMedianLatencyMilliseconds = viewer.firstMedianLatencyMilliseconds
        firstP95LatencyMilliseconds = viewer.firstP95LatencyMilliseconds
        peakSignalToNoiseRatio = viewer.peakSignalToNoiseRatio
        structuralSimilarity = viewer.structuralSimilarity
        readableTileShare = viewer.readableTileShare
    }

    /// Adds the floor of the work that was done.
    mutating func add(_ floor: FloorCost, for work: WorkRate) {
        let cores = floor.videoCores(for: work)
        guard cores > 0, work.encodes > 0 else { return }
        floorCores = cores
        floorRatio = self.cores / cores
    }

    /// The main figures in a line, as progress before the table.
    var summary: String {
        let figures = [
            ResultTable.number(cores, 2) + " cores",
            framesPerSecond.map { ResultTable.number($0, 1) + " frames a second" },
            missedTickShare.map { ResultTable.percent($0) + " of the ticks missed" },
            p95LatencyMilliseconds.map { "95 % within " + ResultTable.number($0, 0) + " ms" },
            peakSignalToNoiseRatio.map { ResultTable.number($0, 1) + " dB" },
            readableTileShare.map { ResultTable.percent($0) + " of the marks read" },
            isHeld ? "held" : "not held",
        ]
        return "\(way.rawValue), \(participants): " + figures.compactMap(\.self).joined(separator: ", ")
    }

    // Key paths are not known to be sendable, so that they cannot be stored.
    private static var requiredFigures: [WritableKeyPath<Self, Double>] { [\.cores, \.clientCores, \.megabytesEach] }

    private static var otherFigures: [WritableKeyPath<Self, Double?>] {
        [
            \.leastSentFramesPerSecond, \.leastFramesPerSecond, \.framesPerSecond, \.missedTickShare,
            \.medianDelayMilliseconds, \.p95DelayMilliseconds, \.floorCores, \.floorRatio, \.kilobitsPerSecond,
            \.medianLatencyMilliseconds, \.p95LatencyMilliseconds, \.firstMedianLatencyMilliseconds,
            \.firstP95LatencyMilliseconds, \.peakSignalToNoiseRatio, \.structuralSimilarity, \.readableTileShare,
        ]
    }

    /// Joins results of one way and one number of participants, figure by figure.
    ///
    /// - Parameter choose: Makes one figure of the results' figures, of which there is at least one.
    static func joined(_ results: [Self], _ choose: ([Double]) -> Double) -> Self {
        var joined = results[0]
        for figure in requiredFigures { joined[keyPath: figure] = choose(results.map { $0[keyPath: figure] }) }
        for figure in otherFigures {
            let values = results.compactMap { $0[keyPath: figure] }
            joined[keyPath: figure] = values.isEmpty ? nil : choose(values)
        }
        return joined
    }
}
