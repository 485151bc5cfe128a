/// The RTCP feedback that both sides of a stream understand (RFC 4585, RFC 5104 and extensions of browsers).
public struct FeedbackSupport: Hashable, Sendable {
    /// `nack`: generic NACK, to ask for retransmissions.
    public var nack: Bool
    /// `nack pli`: picture loss indication.
    public var pli: Bool
    /// `ccm fir`: full intra request.
    public var fir: Bool
    /// `nack rpsi`: reference picture selection. The receiver acknowledges pictures, and continues after a loss with a
    /// picture that refers only to acknowledged ones.
    public var rpsi: Bool
    /// `ccm tmmbr`: requests of the receiver not to exceed a rate.
    public var tmmbr: Bool
    /// `transport-cc`: transport-wide congestion control feedback.
    public var transportCC: Bool
    /// `goog-remb`: receiver estimated maximum bitrate.
    public var remb: Bool
    /// `ack ccfb`: congestion control feedback (RFC 8888). Only simulated sessions have it. Our offers and answers do
    /// not, because none of our sockets reads the ECN marks that the feedback reports.
    package var congestionControl = false

    public init(
        nack: Bool = false, pli: Bool = false, fir: Bool = false, rpsi: Bool = false, tmmbr: Bool = false,
        transportCC: Bool = false, remb: Bool = false
    ) {
        self.nack = nack
        self.pli = pli
        self.fir = fir
        self.rpsi = rpsi
        self.tmmbr = tmmbr
        self.transportCC = transportCC
        self.remb = remb
    }

    /// True if the receiver reports the arrivals of its packets, or the rate of its path. Otherwise a sender never
    /// learns the path's rate.
    public var describesPath: Bool { transportCC || remb || congestionControl }

    /// The feedback that is useful for video.
    public static let video = FeedbackSupport(
        nack: true, pli: true, fir: true, rpsi: true, tmmbr: true, transportCC: true, remb: true)
    /// The feedback that is useful for audio.
    public static let audio = FeedbackSupport(transportCC: true)
    public static let none = FeedbackSupport()

    /// Returns the feedback that both sides support.
    public func intersection(_ other: FeedbackSupport) -> FeedbackSupport {
        FeedbackSupport(
            nack: nack && other.nack, pli: pli && other.pli, fir: fir && other.fir, rpsi: rpsi && other.rpsi,
            tmmbr: tmmbr && other.tmmbr, transportCC: transportCC && other.transportCC, remb: remb && other.remb)
    }
}
