/// The result of one conference.
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
    /// The delay that the relay added; nil if it is not known.
    var medianDelayMilliseconds: Double?
    var p95DelayMilliseconds: Double?
    /// Resident memory for each participant.
    var megabytesEach: Double

    /// True if all ticks were on time (less than 0.1 % missed), and nearly every picture came from everybody and went
    /// to everybody.
    var isHeld: Bool {
        let least = min(leastFramesPerSecond ?? .infinity, leastSentFramesPerSecond ?? .infinity)
        return (missedTickShare ?? 0) < 0.001 && least >= Double(Workload.frameRate) * 0.97
    }

    /// The main figures in a line, as progress before the table.
    var summary: String {
        let figures = [
            ResultTable.number(cores, 2) + " cores",
            framesPerSecond.map { ResultTable.number($0, 1) + " frames a second" },
            missedTickShare.map { ResultTable.percent($0) + " of the ticks missed" },
            p95DelayMilliseconds.map { "95 % within " + ResultTable.number($0, 0) + " ms" },
            isHeld ? "held" : "not held",
        ]
        return "\(way.rawValue), \(participants): " + figures.compactMap(\.self).joined(separator: ", ")
    }

    static func table(_ results: [Self]) -> String {
        let columns = [
            "way", "N", "cores", "clients", "fps sent", "fps least", "fps", "missed ticks", "p50 ms", "p95 ms",
            "MB each", "held",
        ]
        func number(_ value: Double?, _ decimals: Int) -> String {
            value.map { ResultTable.number($0, decimals) } ?? "-"
        }
        let rows = results.map { result -> [String] in
            [
                result.way.rawValue, "\(result.participants)", ResultTable.number(result.cores, 2),
                ResultTable.number(result.clientCores, 2),
                number(result.leastSentFramesPerSecond, 1),
                number(result.leastFramesPerSecond, 1),
                number(result.framesPerSecond, 1),
                result.missedTickShare.map { number($0 * 100, 2) + " %" } ?? "-",
                number(result.medianDelayMilliseconds, 0),
                number(result.p95DelayMilliseconds, 0),
                ResultTable.number(result.megabytesEach, 1), result.isHeld ? "yes" : "no",
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }
}
