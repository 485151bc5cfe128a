import MediaCore
import SecureTransport

/// One m-line of a session: its keys, and where its packets go.
struct MediaLine {
    let negotiated: NegotiatedMedia
    let inbound: SRTPContext
    let outbound: SRTPContext
    /// What every packet needs of `negotiated`, which is too large to be copied for each.
    let header: HeaderExtensions
    let outboundTrailerSize: DataSize
    /// Where RTP goes; `nil` until the remote address is known.
    var rtpDestination: TransportAddress?
    /// Where RTCP goes.
    var rtcpDestination: TransportAddress?
    /// When the last RTP packet authenticated.
    var lastRTP: MonotonicInstant?
    /// SSRCs that have authenticated on this line.
    private(set) var knownSSRCs: [UInt32]
    /// The newest packet by which the address was latched, so that a replayed or delayed one cannot move it back.
    private var latchedSequence: [UInt32: UInt16] = [:]

    /// An endpoint uses a few SSRCs a line; more are not remembered.
    private static let maximumSSRCs = 8

    /// The identifiers of the header extensions that are in use; `nil` for those that are not.
    struct HeaderExtensions {
        let absoluteSendTime: UInt8?
        let outboundTransportSequence: UInt8?
        let inboundTransportSequence: UInt8?

        init(_ media: NegotiatedMedia) {
            let usesTransportFeedback = media.feedback.transportCC
            absoluteSendTime = media.outboundExtensionIDs.absoluteSendTime
            outboundTransportSequence = usesTransportFeedback ? media.outboundExtensionIDs.transportSequenceNumber : nil
            inboundTransportSequence = usesTransportFeedback ? media.extensionIDs.transportSequenceNumber : nil
        }
    }

    /// - Parameter bundled: The line of the same bundle whose context to share: one key has one replay window.
    init(
        _ negotiated: NegotiatedMedia, bundled: MediaLine?, trustsRemoteDescription: Bool
    ) throws(SRTPError) {
        self.negotiated = negotiated
        guard let keys = negotiated.keys else { throw .missingKeys }
        if let bundled, bundled.negotiated.keys?.inbound == keys.inbound {
            inbound = bundled.inbound
        } else {
            inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
        }
        outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        header = HeaderExtensions(negotiated)
        outboundTrailerSize = DataSize(bytes: keys.outbound.profile.rtpTrailerLength)
        knownSSRCs = negotiated.remoteSSRCs
        if trustsRemoteDescription {
            rtpDestination = negotiated.remoteRTPAddress
            rtcpDestination = negotiated.rtcpMux ? negotiated.remoteRTPAddress : negotiated.remoteRTCPAddress
        }
    }

    mutating func remember(ssrc: UInt32) {
        guard !knownSSRCs.contains(ssrc) else { return }
        if knownSSRCs.count >= Self.maximumSSRCs { knownSSRCs.removeFirst() }
        knownSSRCs.append(ssrc)
    }

    /// Whether a packet numbered `sequenceNumber` is newer than all that latched the address before.
    mutating func isNewest(ssrc: UInt32, sequenceNumber: UInt16) -> Bool {
        if let latched = latchedSequence[ssrc], Int16(truncatingIfNeeded: Int(sequenceNumber) - Int(latched)) <= 0 {
            return false
        }
        if latchedSequence.count > Self.maximumSSRCs { latchedSequence.removeAll() }
        latchedSequence[ssrc] = sequenceNumber
        return true
    }
}
