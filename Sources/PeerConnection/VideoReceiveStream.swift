import H264
package import MediaCore
package import NIOCore
package import RTP
import SDP
import VideoCoding

/// One H.264 stream on its way in: jitter buffer, NACK, depacketizer, parameter sets, and the decision which frames a
/// decoder should see.
///
/// A class, although only one connection ever holds it: as a value it is so large that each look at it through the
/// connection would copy a dozen references.
package final class VideoReceiveStream {
    /// After a loss without repair, frames are held back until a keyframe. If the sender answers no request for this
    /// long, it is decoded as it is: it may refresh intra-coded rows, or ignore feedback.
    package static let keyframePatience = Duration.seconds(2)
    /// The time after which no further slice of a picture is expected whose sender sets the marker at each.
    private static let slicePatience = Duration.milliseconds(250)
    /// The number of packets from which on a gap is not merely some losses.
    private static let longGap = 10

    private(set) var ssrc: UInt32?
    private var sources = SourceSuccession()
    private(set) var reception = ReceptionStatistics(clockRate: 90_000)
    private var jitterBuffer: JitterBuffer
    private var depacketizer = H264Depacketizer()
    private var formats = FormatTracker()
    private var timestamps = TimestampUnwrapper()
    private(set) var keyframes = KeyframeRequester()
    private var arrivals = FrameArrivals()
    private var orientation: VideoOrientationTracker

    /// The stream's last negotiation.
    var media: NegotiatedMedia {
        didSet {
            orientation.id = media.extensionIDs.videoOrientation
            flexFEC?.decoder.mutableExtensions = MutableExtensions(media.extensionIDs)
            jitterBuffer.configuration = media.jitterBuffer
            let described = media.h264?.parameterSets ?? []
            if described != oldValue.h264?.parameterSets ?? [] { describedSets = described }
        }
    }
    /// Parameter sets that a further description has brought. They count from the next IDR picture on, unless the
    /// stream itself brings some: the pictures before it need the former ones.
    private var describedSets: [[UInt8]] = []
    /// The stream of retransmissions, after its negotiation and its first packet.
    private var retransmissionSSRC: UInt32?
    private var retransmissionReception = ReceptionStatistics(clockRate: 90_000)
    /// Forward error correction: its source and its decoder, after its first packet.
    private var flexFEC: (ssrc: UInt32, reception: ReceptionStatistics, decoder: FlexFECDecoder)?
    /// True if the sender answers PLI or FIR, as negotiated.
    var canRequestKeyframes: Bool { media.feedback.pli || media.feedback.fir }
    private var lastSequence: Int64?
    /// The bound of the stream's work a second, in NAL units (`H264PayloadPeek.work`): hundreds of the smallest fit
    /// into a packet. A picture of 4096x2304 with a slice in each row has 144.
    private var work = TokenBucket(rate: 20_000, capacity: 10_000)
    /// When the unfinished picture is taken as whole; only the next one would tell that it is, which may not come soon.
    private var pictureDeadline = MonotonicInstant.distantFuture
    private var sawKeyframe = false
    private var brokenSince: MonotonicInstant?
    /// True if packets or frames are missing since the last frame that was handed on.
    private var isAfterLoss = false
    /// True if the decoder itself failed, so that any reference may be missing.
    private(set) var needsWholePicture = false
    /// The number of pictures until those after a loss are whole again.
    private var picturesToRecover = 0
    private var acknowledgement = PictureAcknowledgement()
    /// True while nobody sees the stream: no keyframe is requested, and losses do not affect which frames are handed
    /// on.
    private(set) var isUnseen = false

    /// The arrival of the last packet.
    private var lastArrival: MonotonicInstant?
    private var start = WaitingStart()
    /// True if a keyframe is requested although the gap may still be filled.
    private var asksBeforeLoss = false

    /// True if new packets are handed out as they come.
    var isForwarded = false

    /// The counters that are counted here, and the other counters of sources that have ended.
    private var counters = VideoTotals()

    /// - Parameter media: The negotiation of the stream. Its parameter sets are used too: some senders send them
    ///   nowhere else.
    init(_ media: NegotiatedMedia) {
        self.media = media
        orientation = VideoOrientationTracker(id: media.extensionIDs.videoOrientation)
        jitterBuffer = JitterBuffer(configuration: media.jitterBuffer)
        add(media.h264?.parameterSets ?? [])
    }

    /// Takes parameter sets of a description.
    private func add(_ sets: [[UInt8]]) {
        for unit in sets.compactMap({ NALUnit(ByteBuffer(bytes: $0)) }) { formats.add(unit) }
    }

    /// Takes a packet of the stream or of its repair; `datagram` is the whole packet, decrypted. If the stream is
    /// forwarded, it hands over the new packets of the stream.
    package func insert(
        _ packet: RTPPacket, datagram: ByteBuffer, size: DataSize, now: MonotonicInstant,
        forward: (ReceivedVideoPacket) -> Void
    ) {
        guard packet.payloadType != media.flexFECPayloadType else {
            insert(repair: packet, size: size, now: now, forward: forward)
            return
        }
        guard packet.payloadType != media.retransmissionPayloadType else {
            insert(retransmission: packet, size: size, now: now, forward: forward)
            return
        }
        guard sources.takes(packet.ssrc, after: ssrc, now: now) else { return }
        if packet.ssrc != ssrc { restart(ssrc: packet.ssrc) }
        reception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        place(packet, now: now, forward: forward)
        place(recovered: flexFEC?.decoder.insert(packet, bytes: datagram), now: now, forward: forward)
    }

    /// Takes a packet of forward error correction (FlexFEC). It repairs the announced stream; without an announcement
    /// there is only one possible stream.
    private func insert(
        repair packet: RTPPacket, size: DataSize, now: MonotonicInstant, forward: (ReceivedVideoPacket) -> Void
    ) {
        guard let ssrc, media.remoteFlexFECSSRCs[packet.ssrc] ?? ssrc == ssrc else { return }
        if packet.ssrc != flexFEC?.ssrc || flexFEC?.decoder.ssrc != ssrc {
            let ended = totals
            counters.fecPacketsReceived = ended.fecPacketsReceived
            counters.fecPacketsMalformed = ended.fecPacketsMalformed
            counters.packetsRecovered = ended.packetsRecovered
            let decoder = FlexFECDecoder(ssrc: ssrc, mutableExtensions: MutableExtensions(media.extensionIDs))
            flexFEC = (packet.ssrc, ReceptionStatistics(clockRate: 90_000), decoder)
        }
        flexFEC?.reception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        place(recovered: flexFEC?.decoder.insert(repair: packet.payload), now: now, forward: forward)
    }

    /// Inserts recovered packets. They still count as lost in reports, because the path lost them.
    private func place(recovered: [RTPPacket]?, now: MonotonicInstant, forward: (ReceivedVideoPacket) -> Void) {
        for packet in recovered ?? [] where packet.payloadType == media.payloadType {
            place(packet, isRepair: true, now: now, forward: forward)
        }
    }

    /// The stream's counters so far.
    var totals: VideoTotals {
        var totals = counters
        totals.packetsReceived &+= UInt64(max(0, reception.packetsReceived))
        totals.packetsLost &+= reception.cumulativeLost
        totals.keyframeRequestsSent = keyframes.requestCount
        totals.nacksSent &+= UInt64(max(0, jitterBuffer.statistics.requested))
        if let recovery = flexFEC?.decoder.statistics {
            totals.fecPacketsReceived &+= recovery.received
            totals.fecPacketsMalformed &+= recovery.malformed
            totals.packetsRecovered &+= recovery.recovered
        }
        return totals
    }

    private func place(
        _ packet: RTPPacket, isRepair: Bool = false, now: MonotonicInstant, forward: (ReceivedVideoPacket) -> Void
    ) {
        guard work.take(Double(H264PayloadPeek.work(in: packet.payload)), now: now) else {
            counters.packetsLost &+= 1
            return
        }
        arrivals.record(timestamp: packet.timestamp, arrival: now)
        let missing = jitterBuffer.missingCount
        let result = jitterBuffer.insert(packet, isRepair: isRepair, now: now)
        gapGrew(by: jitterBuffer.missingCount - missing, now: now)
        if result == .inserted {
            start.skip(to: packet, in: &jitterBuffer) { unit in
                unit.isIDR || recoveryPoint(of: unit, afterLoss: true)?.frameCount == 0
            }
        }
        guard isForwarded, result == .inserted || result == .overflow else { return }
        let rotation = orientation.id.flatMap { packet.extensions.videoRotation(id: $0) }
        forward(
            ReceivedVideoPacket(
                packet: packet, content: media.content, rotation: rotation, arrival: now,
                beginsAgain: result == .overflow))
    }

    /// Requests a keyframe at once if a gap shows that the path was interrupted: the viewers' picture has been still
    /// for as long as a gap is waited for, and many packets take longer to be sent again than a keyframe.
    private func gapGrew(by count: Int, now: MonotonicInstant) {
        defer { lastArrival = now }
        guard canRequestKeyframes, count >= Self.longGap,
            let lastArrival, now - lastArrival >= jitterBuffer.configuration.maximumDelay
        else { return }
        if !keyframes.isNeeded { asksBeforeLoss = true }
        keyframes.need(now: now)
    }

    /// Inserts the payload of a retransmission (RFC 4588). It repeats the announced stream; without an announcement
    /// there is only one possible stream.
    private func insert(
        retransmission packet: RTPPacket, size: DataSize, now: MonotonicInstant, forward: (ReceivedVideoPacket) -> Void
    ) {
        if packet.ssrc != retransmissionSSRC {
            retransmissionSSRC = packet.ssrc
            retransmissionReception = ReceptionStatistics(clockRate: 90_000)
        }
        retransmissionReception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        guard let ssrc, media.remoteRetransmissionSSRCs[packet.ssrc] ?? ssrc == ssrc,
            let original = packet.original(payloadType: media.payloadType, ssrc: ssrc)
        else { return }
        counters.retransmissionsReceived &+= 1
        place(original, isRepair: true, now: now, forward: forward)
    }

    func senderReportReceived(_ report: SenderReport, now: MonotonicInstant) {
        if report.ssrc == ssrc {
            reception.senderReportReceived(report, now: now)
        } else if report.ssrc == retransmissionSSRC {
            retransmissionReception.senderReportReceived(report, now: now)
        } else if report.ssrc == flexFEC?.ssrc {
            flexFEC?.reception.senderReportReceived(report, now: now)
        }
    }

    func setRoundTripTime(_ roundTripTime: Duration) { jitterBuffer.setRoundTripTime(roundTripTime) }

    /// Report blocks on the stream and on the streams that repair it.
    func reportBlocks(now: MonotonicInstant) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        if let ssrc { blocks.append(reception.makeReportBlock(ssrc: ssrc, now: now)) }
        if let ssrc = retransmissionSSRC {
            blocks.append(retransmissionReception.makeReportBlock(ssrc: ssrc, now: now))
        }
        if let ssrc = flexFEC?.ssrc, let block = flexFEC?.reception.makeReportBlock(ssrc: ssrc, now: now) {
            blocks.append(block)
        }
        return blocks
    }

    func nacksDue(now: MonotonicInstant) -> [UInt16] { jitterBuffer.nacksDue(now: now) }

    /// Returns true if a keyframe must be requested now.
    func takeKeyframeRequest(roundTripTime: Duration, now: MonotonicInstant) -> Bool {
        asksForKeyframes && keyframes.takeRequest(roundTripTime: roundTripTime, now: now)
    }

    /// Records that the decoder failed: everything until the next keyframe is useless.
    func decoderLostReferences(now: MonotonicInstant) {
        needsWholePicture = true
        acknowledgement.invalidate()
        breakReferences(now: now)
    }

    /// Returns the RTP timestamp of a picture to acknowledge.
    func takeAcknowledgement(now: MonotonicInstant) -> UInt32? { acknowledgement.take(now: now) }

    /// Requests a keyframe, although nothing is missing.
    func keyframeWanted(now: MonotonicInstant) {
        asksBeforeLoss = false
        if canRequestKeyframes { keyframes.need(now: now) }
    }

    /// Sets whether anybody sees the stream.
    ///
    /// - Parameter needsKeyframe: True if the decoder can continue only at a keyframe.
    func setUnseen(_ isUnseen: Bool, needsKeyframe: Bool, now: MonotonicInstant) {
        self.isUnseen = isUnseen
        guard !isUnseen, needsKeyframe else { return }
        // The decoder does not need anything before this frame, so a loss before it does not matter.
        brokenSince = nil
        asksBeforeLoss = false
        keyframes.need(now: now)
    }

    /// Before the first packet there is no source to ask. A request that cannot be sent must not be a deadline either:
    /// the event loop would wake for it without a pause.
    private var asksForKeyframes: Bool { canRequestKeyframes && !isUnseen && ssrc != nil }

    var nextDeadline: MonotonicInstant {
        // Behind packets that wait, the picture is not the last one.
        min(jitterBuffer.nextDeadline ?? pictureDeadline, asksForKeyframes ? keyframes.nextDeadline : .distantFuture)
    }

    /// The frames that are complete or abandoned by now.
    package func popFrames(now: MonotonicInstant) -> [ReceivedVideoFrame] {
        var frames: [ReceivedVideoFrame] = []
        while let received = jitterBuffer.popNext(now: now) {
            if let lastSequence, received.sequence != lastSequence + 1 {
                breakReferences(now: now)
            }
            lastSequence = received.sequence
            orientation.record(received.packet)
            let units = depacketizer.append(
                payload: received.packet.payload, timestamp: received.packet.timestamp, marker: received.packet.marker,
                sequence: received.sequence)
            frames += units.compactMap { accept($0, now: now) }
            pictureDeadline = depacketizer.mayBeWhole ? now + Self.slicePatience : .distantFuture
        }
        if jitterBuffer.nextDeadline == nil, now >= pictureDeadline {
            pictureDeadline = .distantFuture
            if let unit = depacketizer.takeUnit(), let frame = accept(unit, now: now) { frames.append(frame) }
        }
        return frames
    }

    private func accept(_ unit: AccessUnit, now: MonotonicInstant) -> ReceivedVideoFrame? {
        counters.framesReceived &+= 1
        let rotation = orientation.rotation(at: unit.rtpTimestamp)
        if !describedSets.isEmpty, unit.isIDR || !unit.parameterSets.isEmpty {
            if unit.parameterSets.isEmpty { add(describedSets) }
            describedSets = []
        }
        for set in unit.parameterSets { formats.add(set) }
        if unit.isDamaged { breakReferences(now: now) }
        guard unit.hasPicture else { return nil }
        let arrival = arrivals.arrival(timestamp: unit.rtpTimestamp) ?? (first: now, last: now)
        let isKeyframe = unit.isIDR && !unit.isDamaged
        guard let slice = unit.nalUnits.first(where: \.isVCL), let format = formats.format(of: slice) else {
            counters.framesWithheld &+= 1
            breakReferences(now: now)
            return nil
        }
        if isKeyframe {
            counters.keyframesReceived &+= 1
            begin(recovery: nil)
        } else if let recovery = recoveryPoint(of: unit, afterLoss: brokenSince != nil) {
            counters.recoveryPointsUsed &+= 1
            begin(recovery: recovery)
        } else if !isUnseen, !sawKeyframe || brokenSince != nil {
            keyframes.need(now: now)
            let waited = brokenSince.map { now - $0 } ?? .zero
            if brokenSince == nil { brokenSince = now }
            if canRequestKeyframes ? waited < Self.keyframePatience : !sawKeyframe && waited < Self.keyframePatience {
                counters.framesWithheld &+= 1
                isAfterLoss = true
                return nil
            }
        } else if asksBeforeLoss {
            // Retransmission was faster.
            keyframes.keyframeArrived()
        }
        asksBeforeLoss = false
        let time = MediaTime(value: timestamps.unwrap(unit.rtpTimestamp), timescale: 90_000)
        let sample = SampleBuffer(nalUnits: unit.nalUnits, format: format, presentationTime: time)
        if isKeyframe { acknowledgement.isWanted = media.feedback.rpsi && sample.isLongTermReference }
        let isRecovering = picturesToRecover > 0
        if isRecovering, slice.referenceIDC > 0 { picturesToRecover -= 1 }
        if brokenSince == nil, !isRecovering { acknowledgement.handedOn(unit.rtpTimestamp) }
        defer { isAfterLoss = false }
        return ReceivedVideoFrame(
            sample: sample, firstArrival: arrival.first, lastArrival: arrival.last, content: media.content,
            rotation: rotation, isRecovering: isRecovering, followsLoss: isAfterLoss,
            codedPictures: formats.codedPictures(of: unit),
            senderTime: reception.ntpTime(atTimestamp: unit.rtpTimestamp))
    }

    /// Returns the recovery point at which decoding can continue although earlier pictures are missing (RFC 4585 6.3.3,
    /// H.264 D.2.8): all of the picture is renewed after it, or it needs only acknowledged pictures.
    private func recoveryPoint(of unit: AccessUnit, afterLoss: Bool) -> RecoveryPoint? {
        guard media.feedback.rpsi, !unit.isDamaged, !sawKeyframe || afterLoss,
            let point = RecoveryPoint(of: unit.nalUnits),
            point.frameCount > 0 || (sawKeyframe && !needsWholePicture)
        else { return nil }
        return point
    }

    /// Begins decoding, or continues it after a loss.
    private func begin(recovery: RecoveryPoint?) {
        sawKeyframe = true
        brokenSince = nil
        needsWholePicture = false
        picturesToRecover = recovery?.frameCount ?? 0
        keyframes.keyframeArrived()
    }

    private func breakReferences(now: MonotonicInstant) {
        if brokenSince == nil { brokenSince = now }
        isAfterLoss = true
        if canRequestKeyframes { keyframes.need(now: now) }
    }

    /// A new SSRC is a new stream from the same sender: nothing of the old one may mix into it.
    private func restart(ssrc newSSRC: UInt32) {
        ssrc = newSSRC
        let ended = totals
        counters.packetsReceived = ended.packetsReceived
        counters.packetsLost = ended.packetsLost
        counters.nacksSent = ended.nacksSent
        reception = ReceptionStatistics(clockRate: 90_000)
        jitterBuffer = JitterBuffer(configuration: media.jitterBuffer)
        (depacketizer, pictureDeadline) = (H264Depacketizer(), .distantFuture)
        (timestamps, arrivals, lastArrival) = (TimestampUnwrapper(), FrameArrivals(), nil)
        start = WaitingStart()
        asksBeforeLoss = false
        orientation = VideoOrientationTracker(id: media.extensionIDs.videoOrientation)
        (lastSequence, brokenSince) = (nil, nil)
        (sawKeyframe, needsWholePicture) = (false, false)
        picturesToRecover = 0
        acknowledgement = PictureAcknowledgement()
    }
}
