/// Estimates for how long missing feedback does not mean missing arrivals.
///
/// Feedback that came late although its packets did not wait was itself lost or delayed. For a while, silence of such
/// length has no meaning.
struct FeedbackUnreliability: Sendable {
    /// The lateness from which feedback is late, in seconds.
    private static let leastLateness = 0.01
    /// Late feedback is the feedback's own fault if no packet waited for this part of the lateness.
    private static let waitedPart = 0.5
    /// The longest silence that is accepted, in seconds.
    private static let maximum = 0.5

    private let remainder: Double

    /// The duration of silence without meaning, in seconds.
    private(set) var tolerance = 0.0
    private var lateness = 0.0
    private var longestWait = 0.0

    init(parameters: ConfrelayParameters) {
        remainder = min(parameters.toleranceRemainder, 1)
    }

    /// Takes the delay of feedback after the earliest possible time.
    mutating func feedbackReceived(lateness newest: Double) {
        judge()
        lateness = newest
        longestWait = 0
    }

    /// A packet of that feedback waited on the way, in seconds.
    mutating func packetWaited(_ wait: Double) {
        longestWait = max(longestWait, wait)
    }

    private mutating func judge() {
        tolerance *= remainder
        guard lateness > Self.leastLateness, longestWait < lateness * Self.waitedPart else { return }
        tolerance = max(tolerance, min(lateness, Self.maximum))
    }
}
