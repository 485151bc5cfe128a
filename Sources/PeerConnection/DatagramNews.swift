import MediaCore
import RTP

/// The news in the RTCP packets of one datagram that a connection takes once for all of these packets.
///
/// A datagram has room for thousands of reports. The controller gets the last report on each stream and the last
/// estimate, and decides once for all of them, so that no datagram costs more than one decision. Likewise the streams
/// of all sources that leave end at once. Of requests for packets, which may be thousands, a limited number is
/// answered.
struct DatagramNews {
    /// The last report on each of our streams, by the line that sends it.
    private(set) var reports: [(line: MediaLine, block: ReportBlock)] = []
    /// The lines whose receiver asked for a lower or higher rate (TMMBR).
    private(set) var requestedLines: [MediaLine] = []
    /// The last estimate of the receiver (REMB).
    var remoteEstimate: BitRate?
    /// True if transport-wide feedback had news.
    var hasFeedback = false

    /// Sources that leave.
    var goodbyes: [UInt32] = []
    /// The number of further packets that may be requested.
    private var requestsLeft: Int
    /// The number of requested packets that are answered.
    private(set) var requestCount = 0

    /// The most packets that a datagram may request: no receiver has room to wait for more.
    private static let mostRequests = 2048

    /// - Parameter requests: The number of packets that may be requested now.
    init(requests: Double) { requestsLeft = Int(min(max(requests, 0), Double(Self.mostRequests))) }

    /// Returns as many of these requested packets as are answered, the newest.
    mutating func takeRequests(_ sequenceNumbers: [UInt16]) -> [UInt16] {
        let taken = min(sequenceNumbers.count, requestsLeft)
        requestsLeft -= taken
        requestCount += taken
        return taken < sequenceNumbers.count ? sequenceNumbers.suffix(taken) : sequenceNumbers
    }

    /// True if the controller must decide again.
    var isDecisive: Bool {
        hasFeedback || remoteEstimate != nil || !requestedLines.isEmpty
            || reports.contains { $0.line.videoSender != nil }
    }

    /// Takes a report on the stream that a line sends.
    mutating func add(_ block: ReportBlock, line: MediaLine) {
        if let index = reports.firstIndex(where: { $0.line === line }) {
            reports[index].block = block
        } else {
            reports.append((line, block))
        }
    }

    /// Takes a request for a line's rate.
    mutating func addRequest(line: MediaLine) {
        if !requestedLines.contains(where: { $0 === line }) { requestedLines.append(line) }
    }
}
