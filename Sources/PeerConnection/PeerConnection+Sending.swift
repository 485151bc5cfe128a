package import CongestionControl
public import MediaCore
public import NIOCore
import RTP
public import SDP
public import VideoCoding

extension PeerConnection {
    // MARK: Room

    /// Returns true if a video frame should be encoded for this peer now: there is an address, the link has room within
    /// its latency budget, and the controller does not pause video.
    public func hasRoomForVideo(now: MonotonicInstant) -> Bool {
        canSendVideo && sending.hasRoomForFrame(now: now)
    }

    /// True if the path to the remote side carries too little for video, so that only audio is sent.
    public var isVideoPaused: Bool { sending.decision.videoPause == .slowPath && canSendVideo }

    /// True if there is an address for video.
    package var canSendVideo: Bool { (lines.mainVideo ?? lines.video(.screenShare))?.canSend ?? false }

    /// Returns the backlog of the link to the remote side, with additional data.
    package func backlog(adding size: DataSize = .zero, now: MonotonicInstant) -> LinkBacklog {
        sending.backlog(adding: size, now: now)
    }

    /// Returns the wait of the oldest packet in the pacer.
    package func queueDelay(now: MonotonicInstant) -> Duration { sending.queueDelay(now: now) }

    /// The rate of all video encoders together.
    package var videoBitRate: BitRate { sending.rates.video }

    package var controllerSnapshot: ControllerSnapshot { sending.controllerSnapshot }

    // MARK: Media

    /// Queues a frame for the pacer.
    ///
    /// - Parameters:
    ///   - content: The video stream of the frame.
    ///   - rotation: The rotation that makes the picture upright; it is sent if that was negotiated.
    ///   - targetTime: The time at which the frame's target bitrate was read.
    public func sendVideo(
        _ frame: EncodedFrame, content: NegotiatedMedia.Content = .main, rotation: VideoRotation = .none,
        captureTime: MonotonicInstant, targetTime: MonotonicInstant, now: MonotonicInstant
    ) {
        sendVideo(
            frame, payloads: nil, content: content, rotation: rotation, captureTime: captureTime,
            targetTime: targetTime, ledger: nil, now: now)
    }

    /// Sends a frame whose payloads were made for several receivers. `ledger` has its waits so far; its wait here is
    /// added.
    package func sendVideo(
        _ frame: EncodedFrame, payloads: FramePayloads?, content: NegotiatedMedia.Content = .main,
        rotation: VideoRotation = .none, captureTime: MonotonicInstant, targetTime: MonotonicInstant,
        ledger: PictureLedger?, now: MonotonicInstant
    ) {
        guard let line = sendingLine(lines.video(content)),
            let packets = line.videoSender?.packetize(
                frame, payloads: payloads, rotation: rotation, captureTime: captureTime)
        else { return }
        sending.send(frame: packets, on: line, ledger: ledger, targetTime: targetTime, now: now)
    }

    /// The RTP timestamp of the newest frame that `sendVideo` took; nil before the first.
    package var latestVideoTimestamp: UInt32? { lines.mainVideo?.videoSender?.latestTimestamp }

    /// Queues an Opus packet; it leaves unpaced, before everything else.
    ///
    /// - Parameters:
    ///   - sampleTime: Samples at 48 kHz since the stream began, modulo 2³².
    ///   - level: The audio level for the header extension of RFC 6464, if that was negotiated.
    ///   - lag: The time by which it is behind video of the same capture time, as sender reports are to say it.
    public func sendAudio(
        _ payload: ByteBuffer, sampleTime: UInt32, level: AudioLevel?, captureTime: MonotonicInstant,
        lag: Duration = .zero, now: MonotonicInstant
    ) {
        guard let line = sendingLine(lines.audio),
            let packet = line.audioSender?.packetize(
                payload, sampleTime: sampleTime, captureTime: captureTime, lag: lag)
        else { return }
        sendAudio(packet, level: level, on: line, now: now)
    }

    private func sendAudio(_ audio: RTPPacket, level: AudioLevel?, on line: MediaLine, now: MonotonicInstant) {
        var packet = audio
        if let level, let id = line.negotiated.outboundExtensionIDs.audioLevel {
            packet.extensions.setAudioLevel(level, id: id)
        }
        sending.send(audio: packet, on: line, now: now)
    }

    /// A line, if media was negotiated to be sent on it and the connection is open.
    private func sendingLine(_ line: MediaLine?) -> MediaLine? {
        guard !isClosed, let line, line.sends else { return nil }
        return line
    }

    // MARK: Other senders' packets

    /// Sets the rate of all that is forwarded to the remote side: the path is not probed for much more.
    package func setForwardedDemand(_ rate: BitRate, now: MonotonicInstant) {
        guard rate != forwardedDemand else { return }
        forwardedDemand = rate
        sending.demandChanged(session, lines: lines, forwarded: rate, now: now)
    }

    /// Packets that are forwarded leave at this pace at least: their sender has paced them already.
    package func setForwardingRate(_ rate: BitRate) { sending.setForwardingRate(rate) }

    /// Queues another sender's Opus packet in place of ours. Returns false if it comes too late.
    ///
    /// - Parameter sampleCount: The number of samples that it holds, at 48 kHz.
    package func forward(
        _ received: ReceivedAudioPacket, sampleCount: Int, level: AudioLevel?,
        content: NegotiatedMedia.Content = .main, now: MonotonicInstant
    ) -> Bool {
        guard let line = sendingLine(lines.audio(content)),
            let packet = line.audioSender?.forward(received, sampleCount: sampleCount)
        else { return false }
        sendAudio(packet, level: level, on: line, now: now)
        return true
    }

    /// Begins forwarding with this packet, in place of an encoder's frames.
    ///
    /// - Parameter parameterSets: The parameter sets to send before it, because its frame has none.
    package func beginForwarding(
        at first: ForwardedPacket, parameterSets: [ByteBuffer], content: NegotiatedMedia.Content = .main,
        now: MonotonicInstant
    ) {
        guard let line = sendingLine(lines.video(content)) else { return }
        let ahead = line.videoSender?.beginForwarding(at: first, parameterSets: parameterSets) ?? []
        sending.send(forwarded: ahead, arrival: now, on: line, now: now)
        sending.forwardingBegan()
    }

    /// Sends a packet of the source. Returns the number of resulting packets, zero if it is dropped.
    package func forward(
        _ packet: ForwardedPacket, parameterSets: [ByteBuffer], leavesOutDispensable: Bool,
        content: NegotiatedMedia.Content = .main, now: MonotonicInstant
    ) -> UInt64 {
        guard let line = sendingLine(lines.video(content)) else { return 0 }
        let packets =
            line.videoSender?.forward(
                packet, parameterSets: parameterSets, leavesOutDispensable: leavesOutDispensable) ?? []
        sending.send(forwarded: packets, arrival: packet.arrival, on: line, now: now)
        return UInt64(packets.count)
    }

    /// Stops forwarding after the newest frame. Missing packets of earlier frames are still forwarded when they come.
    package func stopForwarding(content: NegotiatedMedia.Content = .main) {
        guard let sender = lines.video(content)?.videoSender, let next = sender.forwarding?.numbering.next else {
            return
        }
        sender.endForwarding(at: next)
    }

    /// Records that the source's stream restarted at a packet.
    package func forwardingRestarts(at packet: ForwardedPacket, content: NegotiatedMedia.Content = .main) {
        lines.video(content)?.videoSender?.restartForwarding(at: packet)
    }

    /// Ends forwarding: no further packets of the source are sent, except those of a frame that is partly sent.
    ///
    /// - Parameter cutsFrame: True if those are not sent either.
    package func endForwarding(
        content: NegotiatedMedia.Content = .main, cutsFrame: Bool = false, now: MonotonicInstant
    ) {
        guard let line = lines.video(content), let sender = line.videoSender, let stream = sender.forwarding,
            !stream.isOver
        else { return }
        sender.endForwarding(at: sending.endForwarding(stream, on: line, cutsFrame: cutsFrame, now: now))
    }

    // MARK: Receiving

    /// Returns the packetization mode of the received video of this content (RFC 6184, 6.1); nil without such a stream.
    package func packetizationMode(_ content: NegotiatedMedia.Content) -> Int? {
        lines.video(content).map { Int($0.negotiated.packetizationMode) }
    }

    /// Sets whether packets of a stream are handed out as they come (`PeerEvent.videoPacket`).
    package func setForwarded(_ isForwarded: Bool, content: NegotiatedMedia.Content) {
        lines.video(content)?.videoReceiver?.isForwarded = isForwarded
    }

    /// Asks the remote sender for a keyframe, soon and then until it comes: the decoder lost its references.
    public func requestKeyframe(_ content: NegotiatedMedia.Content = .main, now: MonotonicInstant) {
        lines.video(content)?.videoReceiver?.decoderLostReferences(now: now)
    }

    /// Requests a keyframe from the remote sender for another receiver: unlike with `requestKeyframe`, frames until
    /// then are still good for us.
    package func wantKeyframe(_ content: NegotiatedMedia.Content, now: MonotonicInstant) {
        lines.video(content)?.videoReceiver?.keyframeWanted(now: now)
    }

    /// Returns true if the remote side answers requests for keyframes, as negotiated.
    package func canRequestKeyframes(_ content: NegotiatedMedia.Content) -> Bool {
        lines.video(content)?.videoReceiver?.canRequestKeyframes ?? false
    }

    /// Returns true if nobody sees the received video of this content, as far as its stream has been told.
    package func isUnseen(_ content: NegotiatedMedia.Content) -> Bool {
        lines.video(content)?.videoReceiver?.isUnseen ?? false
    }

    /// Sets whether anybody sees the received video: see `VideoReceiveStream.setUnseen`.
    package func setUnseen(
        _ isUnseen: Bool, content: NegotiatedMedia.Content, needsKeyframe: Bool, now: MonotonicInstant
    ) {
        lines.video(content)?.videoReceiver?.setUnseen(isUnseen, needsKeyframe: needsKeyframe, now: now)
    }
}
