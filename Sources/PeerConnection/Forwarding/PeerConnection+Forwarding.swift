import CongestionControl
package import MediaCore
package import NIOCore
import RTP
package import SDP
package import SecureTransport

extension PeerConnection {
    // MARK: The source's side

    /// What was negotiated for the video stream of this content that is in use.
    package func media(_ content: NegotiatedMedia.Content) -> NegotiatedMedia? {
        line(content).map { lines[$0].negotiated }
    }

    /// Whether packets of a stream are handed out as they come (`PeerEvent.videoPacket`).
    package func setTapped(_ isTapped: Bool, content: NegotiatedMedia.Content) {
        guard let line = line(content) else { return }
        lines[line].videoReceiver?.isTapped = isTapped
    }

    /// Asks the remote sender for a keyframe on somebody else's behalf: unlike `requestKeyframe`, what comes until then
    /// is still good for us.
    package func wantKeyframe(_ content: NegotiatedMedia.Content, now: MonotonicInstant) {
        guard let line = line(content) else { return }
        lines[line].videoReceiver?.keyframeWanted(now: now)
    }

    // MARK: The receiver's side

    /// From this packet on, a source's packets are sent in place of an encoder's.
    ///
    /// - Parameter parameterSets: What goes ahead of it, because its frame has none.
    package func beginForwarding(at first: ForwardedPacket, parameterSets: [ByteBuffer], now: MonotonicInstant) {
        guard !isClosed, let line = line(.main), lines[line].negotiated.sends else { return }
        let ahead = lines[line].videoSender?.beginForwarding(at: first, parameterSets: parameterSets) ?? []
        forward(ahead, arrival: now, line: line, now: now)
        pacer.canPad = true
    }

    /// Sends a packet of the source. Returns how many packets that makes: none where it is left out.
    package func forward(
        _ packet: ForwardedPacket, parameterSets: [ByteBuffer], leavesOutDispensable: Bool, now: MonotonicInstant
    ) -> UInt64 {
        guard !isClosed, let line = line(.main), lines[line].negotiated.sends else { return 0 }
        let packets =
            lines[line].videoSender?.forward(
                packet, parameterSets: parameterSets, leavesOutDispensable: leavesOutDispensable) ?? []
        forward(packets, arrival: packet.arrival, line: line, now: now)
        return UInt64(packets.count)
    }

    private func forward(_ packets: [NumberedPacket], arrival: MonotonicInstant, line: Int, now: MonotonicInstant) {
        for numbered in packets {
            let size = Self.size(of: numbered.packet)
            pacer.enqueue(
                .forwarded(numbered, line: line, arrival: arrival), size: size, priority: .video, now: now)
            budget.spend(size, now: now)
        }
    }

    private static func size(of packet: RTPPacket) -> DataSize {
        DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
    }

    /// No frame behind the newest is forwarded. What was missed of those before still is, when it comes.
    package func stopForwarding() {
        guard let line = line(.main), let next = lines[line].videoSender?.forwarding?.numbering.next else { return }
        lines[line].videoSender?.endForwarding(at: next)
    }

    /// The source's stream has begun anew at a packet.
    package func forwardingRestarts(at packet: ForwardedPacket) {
        guard let line = line(.main) else { return }
        lines[line].videoSender?.restartForwarding(at: packet)
    }

    /// An encoder's frames take over: no further packet of the source is sent, nor are those of frames of which nothing
    /// has left yet. Those of the frame that is leaving go out.
    package func endForwarding(now: MonotonicInstant) {
        guard let line = line(.main), let stream = lines[line].videoSender?.forwarding, !stream.isOver else { return }
        let end = max(endOfFrameThatLeaves(of: stream), stream.leastEnd)
        var size = DataSize.zero
        _ = pacer.removeAll { waiting in
            guard case .forwarded(let numbered, _, _) = waiting, numbered.number >= end else { return false }
            size += Self.size(of: numbered.packet)
            return true
        }
        // What was not sent is not owed.
        budget.spend(.zero - size, now: now)
        lines[line].videoSender?.endForwarding(at: end)
    }

    /// The number behind the last packet of the frame whose packets are leaving.
    private func endOfFrameThatLeaves(of stream: ForwardingStream) -> Int64 {
        let sent = stream.newestSent
        if let sent, sent.endsFrame { return sent.number + 1 }
        // The waiting packets can only be looked at on this way.
        var end = stream.numbering.next
        _ = pacer.removeAll { waiting in
            if case .forwarded(let numbered, _, _) = waiting, numbered.packet.marker,
                numbered.number > sent?.number ?? .min
            {
                end = min(end, numbered.number + 1)
            }
            return false
        }
        return end
    }
}
