import CongestionControl
public import MediaCore
import RTP
public import SDP
public import SecureTransport

extension PeerConnection {
    /// Takes over what a further offer and answer of the same session agreed on: streams that came, changed and went,
    /// and new ICE credentials (an ICE restart). Streams that go on notice nothing.
    ///
    /// A session keeps its kind of transport: one over ICE and DTLS stays one.
    public func update(session wanted: NegotiatedSession, now: MonotonicInstant) throws(SRTPError) {
        guard !isClosed, (wanted.transport != nil) == (transport != nil) else { return }
        session = wanted
        if let negotiated = wanted.transport { transport?.update(negotiated, now: now) }
        let receivedBefore = receivedContents
        for line in lines {
            if let wanted = wanted.media.first(where: { $0.index == line.negotiated.index }) {
                let keysBefore = line.negotiated.keys
                line.update(wanted, using: &random)
                if transport == nil, wanted.keys != keysBefore { try setUpKeys(of: line) }
            } else {
                line.disable(using: &random)
            }
        }
        for media in wanted.media where !lines.contains(where: { $0.negotiated.index == media.index }) {
            try add(media)
        }
        linesChanged(now: now)
        for content in receivedBefore where !receivedContents.contains(content) { events.append(.videoEnded(content)) }
        advanceController(now: now)
        followTransport(now: now)
    }

    /// Takes over new ICE credentials or candidates alone.
    public func update(transport wanted: NegotiatedTransport, now: MonotonicInstant) {
        guard !isClosed, transport != nil else { return }
        session.transport = wanted
        transport?.update(wanted, now: now)
        followTransport(now: now)
    }

    /// What the video encoders may produce now, all together.
    package var videoBitRate: BitRate { max(allocated.video, Self.minimumVideoBitRate) }

    private var receivedContents: [NegotiatedMedia.Content] {
        lines.filter { $0.negotiated.kind == .video && $0.negotiated.receives }.map(\.negotiated.content)
    }

    /// Adds a line for a stream that is new.
    func add(_ media: NegotiatedMedia) throws(SRTPError) {
        let line = MediaLine(media)
        line.isPaused = isPausedForSilence
        if transport != nil {
            line.keys = lines.first?.keys
            line.rtpDestination = transport?.selectedAddress
            line.rtcpDestination = transport?.selectedAddress
        } else {
            try setUpKeys(of: line)
        }
        line.setUpStreams(using: &random)
        lines.append(line)
    }

    /// Keys and addresses of a line whose description carries them.
    private func setUpKeys(of line: MediaLine) throws(SRTPError) {
        let media = line.negotiated
        guard configuration.isProtected else {
            line.keys = lines.first?.keys ?? MediaLine.Keys(unprotectedAs: .aeadAES128GCM)
            trustRemoteDescription(of: line)
            return
        }
        guard let keys = media.keys else { throw .missingKeys }
        if session.isBundled, let first = lines.first, let shared = first.keys,
            first.negotiated.keys?.inbound == keys.inbound
        {
            line.keys = try MediaLine.Keys(inbound: shared.inbound, keys)
        } else {
            line.keys = try MediaLine.Keys(keys)
        }
        trustRemoteDescription(of: line)
    }

    private func trustRemoteDescription(of line: MediaLine) {
        guard configuration.trustsRemoteDescription else { return }
        let media = line.negotiated
        line.rtpDestination = media.remoteRTPAddress
        line.rtcpDestination = media.rtcpMux ? media.remoteRTPAddress : media.remoteRTCPAddress
    }

    /// Finds the lines anew, and what they want of the controller.
    func linesChanged(now: MonotonicInstant) {
        videoLine = line(.main)
        audioLine = lines.firstIndex { $0.negotiated.kind == .audio && $0.negotiated.direction != .inactive }
        if feedbackRecorder == nil,
            let media = session.media.first(where: { $0.receives && $0.feedback.transportCC })
        {
            feedbackRecorder = TransportFeedbackRecorder(
                senderSSRC: media.localSSRC, interval: configuration.feedbackTiming.bounds.lowerBound)
        }
        if congestionFeedbackRecorder == nil,
            let media = session.media.first(where: { $0.receives && $0.feedback.congestionControl })
        {
            congestionFeedbackRecorder = CongestionFeedbackRecorder(
                senderSSRC: media.localSSRC, interval: configuration.feedbackTiming.bounds.lowerBound,
                reportsFrameEnds: configuration.reportsFrameEnds)
        }
        applyProtection()
        demandChanged(now: now)
    }

    /// Tells the controller and the allocator how much there is to send at most.
    func demandChanged(now: MonotonicInstant) {
        let most = configuration.rateLimits.maximum
        let video = min(requestedVideoLimit ?? most, most)
        allocator.configuration = Self.allocation(of: session, maximumVideo: video)
        // Without video there is little to send: probing for more would be noise on someone's link.
        let wanted = lines.contains(where: \.sendsVideo) ? min(video + Self.audioDemand, most) : Self.audioDemand
        guard wanted != demand else { return }
        demand = wanted
        controller.demandChanged(wanted, now: now)
    }

    /// The video line of this content that is in use.
    func line(_ content: NegotiatedMedia.Content) -> Int? {
        lines.firstIndex { $0.shows(content) }
    }

    /// The least that a video encoder is told, whatever a receiver's own limit says.
    static let minimumVideoBitRate = BitRate.kilobits(50)
    /// Frames are divided into packets of one size, of which few are as large as can be.
    private static let averageVideoPayloadSize = DataSize(bytes: 1000)
    /// A change of the rate over several frames that is told although the next frame's is the same.
    static let notableChange = 0.1
    /// The most that an audio stream takes, headers included.
    static let audioDemand = BitRate.kilobits(64)

    private static func allocation(
        of session: NegotiatedSession, maximumVideo: BitRate
    ) -> BitrateAllocator.Configuration {
        let audioMaximum = min(session.audio?.opus?.maximumAverageBitRate ?? .kilobits(40), .kilobits(40))
        return BitrateAllocator.Configuration(
            audio: session.audio?.sends == true ? min(.kilobits(16), audioMaximum)...audioMaximum : nil,
            video: session.media.contains { $0.kind == .video && $0.sends }
                ? minimumVideoBitRate...max(minimumVideoBitRate, maximumVideo) : nil,
            packetOverhead: PeerConfiguration.packetOverhead, videoPayloadSize: averageVideoPayloadSize)
    }
}
