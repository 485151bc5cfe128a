public import MediaCore
import RTP
public import SDP

/// Limits of rates, from us to the other side and from the other side to us.
///
/// With TMMBR (RFC 5104 4.2.1) on both sides each stream has its own. Otherwise REMB (draft-alvestrand-rmcat-remb-03)
/// limits all video and audio together; browsers obey it even if their own congestion control uses transport-wide
/// feedback.
extension PeerConnection {
    /// Asks the remote side to send no more video than this. The request is sent soon and repeated, because packets get
    /// lost.
    public func limitReceivedVideo(to limit: BitRate, content: NegotiatedMedia.Content = .main) {
        if lines.video(content)?.limitReceivedVideo(to: limit) == true { limitsAreDue = true }
    }

    /// The bound that the remote side was last told; nil: none, or it understands none.
    public func receivedVideoLimit(_ content: NegotiatedMedia.Content = .main) -> BitRate? {
        guard let line = lines.video(content) else { return nil }
        let feedback = line.negotiated.feedback
        return feedback.tmmbr || feedback.remb ? line.limits.wanted : nil
    }

    /// The most of all our video that its receiver has asked for; nil while the path alone is the limit.
    public var requestedVideoLimit: BitRate? { lines.requestedVideoLimit }

    /// Sends changed limits.
    func sendDueLimits(now: MonotonicInstant) {
        guard limitsAreDue else { return }
        limitsAreDue = false
        for line in lines {
            let packets = limitPackets(of: line)
            if !packets.isEmpty { control.send(packets, on: line, now: now) }
        }
    }

    /// The bounds to tell on a line.
    func limitPackets(of line: MediaLine) -> [RTCPPacket] {
        let local = line.negotiated.localSSRC
        if line.usesRequests {
            let limits = line.limits
            guard let ssrc = line.videoReceiver?.ssrc, let wanted = limits.wanted, limits.confirmedSource != ssrc else {
                return []
            }
            let limit = BitRateLimit(ssrc: ssrc, maximum: wanted, overhead: VideoLimits.packetOverhead)
            return [.maximumBitRateRequest(BitRateLimits(senderSSRC: local, limits: [limit]))]
        }
        guard lines.first(where: { $0.usesEstimates }) === line, let (bitRate, ssrcs) = estimate else { return [] }
        return [.receiverEstimatedMaximumBitrate(REMB(senderSSRC: local, bitRate: bitRate, ssrcs: ssrcs))]
    }

    /// The bound of all streams together; nil while one of them has none.
    private var estimate: (BitRate, ssrcs: [UInt32])? {
        var sum = BitRate.zero
        var ssrcs: [UInt32] = []
        for line in lines where line.usesEstimates {
            guard let ssrc = line.videoReceiver?.ssrc else { continue }
            guard let wanted = line.limits.wanted else { return nil }
            sum = sum + wanted
            ssrcs.append(ssrc)
        }
        guard !ssrcs.isEmpty else { return nil }
        if lines.contains(where: { $0.negotiated.kind == .audio && $0.negotiated.receives }) {
            sum = sum + MediaRates.audioDemand
        }
        return (sum, ssrcs)
    }

    /// Confirms the bounds that were asked for on these lines (TMMBN), and tells the controller the rate that they
    /// allow.
    func confirmRequests(on requested: [MediaLine], now: MonotonicInstant) {
        for line in requested {
            guard let ssrc = line.videoSender?.ssrc else { continue }
            let decisive = line.limits.decisive.map { [$0] } ?? []
            control.send(
                [.maximumBitRateNotification(BitRateLimits(senderSSRC: ssrc, limits: decisive))], on: line, now: now)
        }
        sending.demandChanged(session, lines: lines, forwarded: forwardedDemand, now: now)
    }
}

extension MediaLine {
    fileprivate var usesRequests: Bool { receivesVideo && negotiated.feedback.tmmbr }
    fileprivate var usesEstimates: Bool { receivesVideo && !negotiated.feedback.tmmbr && negotiated.feedback.remb }
}
