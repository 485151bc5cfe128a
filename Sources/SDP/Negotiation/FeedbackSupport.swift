/// Which RTCP feedback both sides of a stream understand (RFC 4585, RFC 5104 and what browsers added).
public struct FeedbackSupport: Hashable, Sendable {
    /// `nack`: generic NACK, to ask for retransmissions.
    public var nack: Bool
    /// `nack pli`: picture loss indication.
    public var pli: Bool
    /// `ccm fir`: full intra request.
    public var fir: Bool
    /// `nack rpsi`: reference picture selection. The receiver says which pictures it has, and after a loss goes on with
    /// one that refers to nothing else.
    public var rpsi: Bool
    /// `ccm tmmbr`: requests to send no more than so much.
    public var tmmbr: Bool
    /// `transport-cc`: transport-wide congestion control feedback.
    public var transportCC: Bool
    /// `goog-remb`: receiver estimated maximum bitrate.
    public var remb: Bool
    /// `ack ccfb`: congestion control feedback (RFC 8888). Simulated sessions have it; no offer or answer of ours does,
    /// since no socket of ours reads the ECN marks that it tells.
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

    /// Whether the receiver tells how its packets arrive, or what rate its path carries. Without this a sender never
    /// learns the path's rate.
    public var describesPath: Bool { transportCC || remb || congestionControl }

    /// All that is of use for video.
    public static let video = FeedbackSupport(
        nack: true, pli: true, fir: true, rpsi: true, tmmbr: true, transportCC: true, remb: true)
    /// All that is of use for audio.
    public static let audio = FeedbackSupport(transportCC: true)
    public static let none = FeedbackSupport()

    /// What both have.
    public func intersection(_ other: FeedbackSupport) -> FeedbackSupport {
        FeedbackSupport(
            nack: nack && other.nack, pli: pli && other.pli, fir: fir && other.fir, rpsi: rpsi && other.rpsi,
            tmmbr: tmmbr && other.tmmbr, transportCC: transportCC && other.transportCC, remb: remb && other.remb)
    }
}
