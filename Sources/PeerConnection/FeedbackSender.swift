import CongestionControl
import MediaCore
import RTP
import SDP

/// Reports to the remote side on its streams: missing packets, lost pictures, whole pictures and arrival times.
struct FeedbackSender: ~Copyable {
    /// The timing towards a remote side that states no interval.
    private let ownTiming: FeedbackTiming
    private var timing: FeedbackTiming
    private let reportsFrameEnds: Bool
    private var transportRecorder: TransportFeedbackRecorder?
    /// The recorder for feedback by RFC 8888.
    private var congestionRecorder: CongestionFeedbackRecorder?
    private var fullIntraSequence: UInt8 = 0
    private var meter = RateMeter()

    init(timing: FeedbackTiming, reportsFrameEnds: Bool) {
        ownTiming = timing
        self.timing = timing
        self.reportsFrameEnds = reportsFrameEnds
    }

    /// Takes the negotiated session. From now on arrivals are recorded for the kind of feedback that the remote side
    /// understands.
    mutating func setSession(_ session: NegotiatedSession) {
        timing = session.feedbackInterval.map { .stated($0) } ?? ownTiming
        let media = session.media
        let interval = timing.bounds.lowerBound
        // A source that is gone has no context. In that of another line its SRTCP indices would begin again.
        func isGone(_ ssrc: UInt32?) -> Bool { !media.contains { $0.localSSRC == ssrc } }
        if isGone(transportRecorder?.senderSSRC),
            let media = media.first(where: { $0.receives && $0.feedback.transportCC })
        {
            transportRecorder = transportRecorder ?? TransportFeedbackRecorder(senderSSRC: 0, interval: interval)
            transportRecorder?.senderSSRC = media.localSSRC
        }
        if isGone(congestionRecorder?.senderSSRC),
            let media = media.first(where: { $0.receives && $0.feedback.congestionControl })
        {
            congestionRecorder =
                congestionRecorder
                ?? CongestionFeedbackRecorder(senderSSRC: 0, interval: interval, reportsFrameEnds: reportsFrameEnds)
            congestionRecorder?.senderSSRC = media.localSSRC
        }
    }

    // MARK: What comes

    /// A datagram of this size authenticated.
    mutating func received(_ size: DataSize, now: MonotonicInstant) { meter.add(size, now: now) }

    /// A packet arrived that bears a transport-wide number.
    mutating func received(transportSequence: UInt16, arrival: MonotonicInstant, now: MonotonicInstant) {
        transportRecorder?.received(transportSequence: transportSequence, arrival: arrival, now: now)
    }

    /// A packet arrived that the network may have marked.
    mutating func received(_ packet: RTPPacket, ecn: ECNCodepoint, now: MonotonicInstant) {
        congestionRecorder?.received(
            ssrc: packet.ssrc, sequence: packet.sequenceNumber, ecn: ecn, isLastOfFrame: packet.marker, now: now)
    }

    /// The rate at which datagrams have come within the last second.
    mutating func receiveRate(now: MonotonicInstant) -> BitRate { meter.rate(now: now) }

    // MARK: Reports

    /// The time of the next feedback.
    var nextDeadline: MonotonicInstant {
        min(
            transportRecorder?.nextFeedbackTime ?? .distantFuture,
            congestionRecorder?.nextFeedbackTime ?? .distantFuture)
    }

    mutating func sendDue(
        on lines: MediaLines, roundTripTime: Duration?, through control: inout ControlSender, now: MonotonicInstant
    ) {
        for line in lines {
            guard let receiver = line.videoReceiver, let ssrc = receiver.ssrc else { continue }
            let missing = receiver.nacksDue(now: now)
            if !missing.isEmpty {
                let local = line.negotiated.localSSRC
                let nack = GenericNACK(senderSSRC: local, mediaSSRC: ssrc, sequenceNumbers: missing)
                control.send([.genericNACK(nack)], on: line, now: now)
            }
            if receiver.takeKeyframeRequest(roundTripTime: roundTripTime ?? .milliseconds(100), now: now) {
                control.send([keyframeRequest(on: line, mediaSSRC: ssrc)], on: line, now: now)
            }
        }
        guard nextDeadline <= now else { return }
        sendTransportFeedback(on: lines, through: &control, now: now)
        sendCongestionControlFeedback(on: lines, through: &control, now: now)
    }

    private mutating func keyframeRequest(on line: MediaLine, mediaSSRC: UInt32) -> RTCPPacket {
        let media = line.negotiated
        // If a picture loss indication does not count as a request for a keyframe, a full intra request does (RFC 5104
        // 4.3.1).
        let asksForIntra =
            media.feedback.rpsi && media.feedback.fir && line.videoReceiver?.needsWholePicture == true
        guard !media.feedback.pli || asksForIntra else {
            return .pictureLossIndication(
                PictureLossIndication(senderSSRC: media.localSSRC, mediaSSRC: mediaSSRC))
        }
        fullIntraSequence &+= 1
        return .fullIntraRequest(
            FullIntraRequest(
                senderSSRC: media.localSSRC,
                entries: [FullIntraRequest.Entry(ssrc: mediaSSRC, commandSequence: fullIntraSequence)]))
    }

    private mutating func sendTransportFeedback(
        on lines: MediaLines, through control: inout ControlSender, now: MonotonicInstant
    ) {
        guard let due = transportRecorder?.nextFeedbackTime, due <= now else { return }
        let subject = Self.subject(of: lines)
        let news = transportRecorder?.makeFeedback(mediaSSRC: subject?.mediaSSRC ?? 0, now: now) ?? []
        // The remote side sends nothing any more, since a new session: what came before is news to nobody.
        guard let line = subject?.line else { return }
        for feedback in news {
            Self.sendArrivals(
                .transportFeedback(feedback), senderSSRC: feedback.senderSSRC, of: line, among: lines,
                through: &control, now: now)
        }
        transportRecorder?.interval = timing.interval(receiving: meter.rate(now: now))
    }

    private mutating func sendCongestionControlFeedback(
        on lines: MediaLines, through control: inout ControlSender, now: MonotonicInstant
    ) {
        guard let due = congestionRecorder?.nextFeedbackTime, due <= now else { return }
        let news = congestionRecorder?.makeFeedback(now: now) ?? []
        guard let line = Self.subject(of: lines)?.line else { return }
        for feedback in news {
            Self.sendArrivals(
                .congestionControlFeedback(feedback), senderSSRC: feedback.senderSSRC, of: line, among: lines,
                through: &control, now: now)
        }
        congestionRecorder?.interval = timing.interval(receiving: meter.rate(now: now))
    }

    private static func sendArrivals(
        _ feedback: RTCPPacket, senderSSRC: UInt32, of line: MediaLine, among lines: MediaLines,
        through control: inout ControlSender, now: MonotonicInstant
    ) {
        var packets = [feedback]
        if let acknowledgement = acknowledgement(of: line, now: now) { packets.append(acknowledgement) }
        // Lines may have contexts of their own under one key. The same SSRC in two of them would use each SRTCP index
        // twice: a replay to the remote side, and a nonce used twice with AES-GCM.
        let sender = lines.first { $0.negotiated.localSSRC == senderSSRC } ?? line
        control.send(packets, on: sender, now: now)
    }

    /// Acknowledges a complete picture to its sender, if the sender supports that.
    private static func acknowledgement(of line: MediaLine, now: MonotonicInstant) -> RTCPPacket? {
        let media = line.negotiated
        guard media.feedback.rpsi, let receiver = line.videoReceiver, let ssrc = receiver.ssrc,
            let timestamp = receiver.takeAcknowledgement(now: now)
        else { return nil }
        return .referencePictureSelection(
            ReferencePictureSelectionIndication(
                senderSSRC: media.localSSRC, mediaSSRC: ssrc, payloadType: media.payloadType, timestamp: timestamp))
    }

    /// Returns the line for transport-wide feedback and the source that it names: an active one, if possible. A sender
    /// may begin with probes in a stream of retransmissions, and gets feedback on those too.
    private static func subject(of lines: MediaLines) -> (line: MediaLine, mediaSSRC: UInt32)? {
        for line in lines {
            if let ssrc = line.videoReceiver?.ssrc { return (line, ssrc) }
        }
        if let audio = lines.audio, let ssrc = audio.audioReceiver?.ssrc { return (audio, ssrc) }
        guard let line = lines.first(where: { $0.negotiated.receives }) else { return nil }
        return (line, line.negotiated.remoteSSRCs.first ?? 0)
    }
}
