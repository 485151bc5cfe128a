import CongestionControl
public import MediaCore
import RTP
public import SDP
public import SecureTransport

/// Bounds on rates: what the other side is asked to send at most, and what it asks of us.
///
/// Where both understand TMMBR (RFC 5104 4.2.1) each stream has its own. Elsewhere REMB
/// (draft-alvestrand-rmcat-remb-03) bounds all video and audio together; browsers keep to it also where their own
/// congestion control has transport-wide feedback.
extension PeerConnection {
    /// Asks the remote side to send no more video than this. It is told soon, and again and again, as packets get lost.
    public func limitReceivedVideo(to limit: BitRate, content: NegotiatedMedia.Content = .main) {
        guard let line = line(content), lines[line].limits.wanted != limit else { return }
        lines[line].limits.wanted = limit
        limitsAreDue = true
    }

    /// What the remote side was last asked to send at most; nil: as much as it likes, or it does not understand.
    public func receivedVideoLimit(_ content: NegotiatedMedia.Content = .main) -> BitRate? {
        guard let line = line(content) else { return nil }
        let feedback = lines[line].negotiated.feedback
        return feedback.tmmbr || feedback.remb ? lines[line].limits.wanted : nil
    }

    /// Tells what has changed.
    func sendDueLimits(now: MonotonicInstant) {
        guard limitsAreDue else { return }
        limitsAreDue = false
        for line in lines.indices {
            let packets = limitPackets(line: line)
            if !packets.isEmpty { sendControl(packets, line: line, now: now) }
        }
    }

    /// What is to be told on a line.
    func limitPackets(line: Int) -> [RTCPPacket] {
        let local = lines[line].negotiated.localSSRC
        if lines[line].usesRequests {
            let limits = lines[line].limits
            guard let ssrc = lines[line].videoReceiver?.ssrc, let wanted = limits.wanted, !limits.isConfirmed else {
                return []
            }
            let limit = BitRateLimit(ssrc: ssrc, maximum: wanted, overhead: VideoLimits.packetOverhead)
            return [.maximumBitRateRequest(TMMBR(senderSSRC: local, limits: [limit]))]
        }
        guard lines.firstIndex(where: \.usesEstimates) == line, let (bitRate, ssrcs) = estimate else { return [] }
        return [.receiverEstimatedMaximumBitrate(REMB(senderSSRC: local, bitRate: bitRate, ssrcs: ssrcs))]
    }

    /// The bound of all streams together; nil while one of them has none.
    private var estimate: (BitRate, ssrcs: [UInt32])? {
        var sum = BitRate.zero
        var ssrcs: [UInt32] = []
        for line in lines.indices where lines[line].usesEstimates {
            guard let ssrc = lines[line].videoReceiver?.ssrc else { continue }
            guard let wanted = lines[line].limits.wanted else { return nil }
            sum = sum + wanted
            ssrcs.append(ssrc)
        }
        guard !ssrcs.isEmpty else { return nil }
        if lines.contains(where: { $0.negotiated.kind == .audio && $0.negotiated.receives }) {
            sum = sum + Self.audioDemand
        }
        return (sum, ssrcs)
    }

    // MARK: What is asked of us

    /// Takes a request (TMMBR); `confirmRequests` answers all that a datagram has.
    func requested(_ request: TMMBR, news: inout ControllerNews) {
        for line in lines.indices where lines[line].negotiated.feedback.tmmbr {
            guard let ssrc = lines[line].videoSender?.ssrc,
                let limit = request.limits.last(where: { $0.ssrc == ssrc })
            else { continue }
            lines[line].limits.request(limit, by: request.senderSSRC)
            news.addRequest(line: line)
        }
    }

    /// Confirms the bounds of these lines (TMMBN), and tells the controller the rate that they allow.
    func confirmRequests(lines requested: [Int], now: MonotonicInstant) {
        for line in requested {
            guard let ssrc = lines[line].videoSender?.ssrc else { continue }
            let decisive = lines[line].limits.decisive.map { [$0] } ?? []
            sendControl(
                [.maximumBitRateNotification(TMMBN(senderSSRC: ssrc, limits: decisive))], line: line, now: now)
        }
        demandChanged(now: now)
    }

    func notified(_ notification: TMMBN) {
        for line in lines.indices where lines[line].videoReceiver?.ssrc == notification.senderSSRC {
            lines[line].limits.notified(notification.limits, ssrc: lines[line].negotiated.localSSRC)
        }
    }

    /// What all our video may have, by what its receiver has asked for; nil while it may have what the path carries.
    public var requestedVideoLimit: BitRate? {
        var sum: BitRate?
        for line in lines.indices where lines[line].sendsVideo {
            guard let limit = lines[line].limits.sendable(payloadSize: PeerConfiguration.maximumPayloadSize) else {
                return nil
            }
            sum = (sum ?? .zero) + limit
        }
        return sum
    }
}

extension MediaLine {
    fileprivate var receivesVideo: Bool { negotiated.kind == .video && negotiated.receives }
    fileprivate var usesRequests: Bool { receivesVideo && negotiated.feedback.tmmbr }
    fileprivate var usesEstimates: Bool { receivesVideo && !negotiated.feedback.tmmbr && negotiated.feedback.remb }
}
