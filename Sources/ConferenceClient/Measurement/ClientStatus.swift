public import MediaCore

/// The state of a client, over about the last second.
public struct ClientStatus: Sendable {
    /// The time since the join.
    public var elapsed: Duration
    public var framesPerSecond: Double
    public var dimensions: VideoDimensions?
    public var receiveBitRate: BitRate
    /// The fraction of received video packets that were lost, since the beginning.
    public var lossFraction: Double
    public var roundTripTime: Duration?
    public var freezeCount: Int
    public var freezeDuration: Duration
    /// The time from making a picture to decoding it here; nil if no counter was read.
    public var endToEndDelay: Duration?
    /// The target of the sent video; nil for a client that sends none.
    public var uplinkTarget: BitRate?
    public var sendBitRate: BitRate
    public var hasVideo: Bool
    /// True if the relay is silent, and the client tries to reach it.
    public var isReconnecting: Bool

    /// A line for people to read.
    public var line: String {
        func milliseconds(_ duration: Duration?) -> String {
            duration.map { "\(Int(clamping: $0.milliseconds.rounded())) ms" } ?? "–"
        }
        func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
        var parts = ["\(tenths(elapsed.seconds)) s"]
        if isReconnecting { parts.append("reconnecting") }
        if hasVideo, let dimensions {
            parts.append("\(tenths(framesPerSecond)) fps \(dimensions)")
        } else {
            parts.append("no picture yet")
        }
        parts.append("in \(receiveBitRate)")
        parts.append("loss \(tenths(lossFraction * 100)) %")
        parts.append("rtt \(milliseconds(roundTripTime))")
        parts.append("frozen \(tenths(freezeDuration.seconds)) s (\(freezeCount)x)")
        parts.append("delay \(milliseconds(endToEndDelay))")
        parts.append("out \(sendBitRate)" + (uplinkTarget.map { " of \($0)" } ?? ""))
        return parts.joined(separator: " | ")
    }
}
