import H264
import MediaCore
import NIOCore
import RTP
import SecureTransport

/// One H.264 stream on its way in: jitter buffer, NACK, depacketizer, parameter sets, and the decision which frames a
/// decoder should see.
///
/// A class, although only one connection ever holds it: as a value it is so large that each look at it through the
/// connection would copy a dozen references.
final class VideoReceiveStream {
    /// After a loss that nothing repairs, frames are held back until a keyframe; but a sender that answers no request
    /// for so long is decoded as it is (it may refresh intra-coded rows, or not listen to feedback at all).
    static let keyFramePatience = Duration.seconds(2)

    private(set) var ssrc: UInt32?
    private(set) var reception = ReceptionStatistics(clockRate: 90_000)
    private var jitterBuffer: JitterBuffer
    private var depacketizer = H264Depacketizer()
    private var formats = FormatTracker()
    private var timestamps = TimestampUnwrapper()
    private(set) var keyFrames = KeyFrameRequester()
    private var arrivals = FrameArrivals()
    private var orientation: VideoOrientationTracker

    /// What was negotiated for the stream, last.
    var media: NegotiatedMedia {
        didSet { orientation.id = media.extensionIDs.videoOrientation }
    }
    /// The stream of retransmissions, where one was negotiated and has been heard.
    private var retransmissionSSRC: UInt32?
    private var retransmissionReception = ReceptionStatistics(clockRate: 90_000)
    private let configuration: JitterBuffer.Configuration
    /// Whether the sender was negotiated to answer PLI or FIR.
    private let canRequestKeyFrames: Bool
    private var lastSequence: Int64?
    private var sawKeyFrame = false
    private var brokenSince: MonotonicInstant?

    private(set) var framesReceived: UInt64 = 0
    private(set) var framesWithheld: UInt64 = 0
    private(set) var keyFramesReceived: UInt64 = 0
    private(set) var retransmissionsReceived: UInt64 = 0
    var nacksSent: UInt64 { UInt64(max(0, jitterBuffer.statistics.requested)) }
    var malformedPayloads: Int { depacketizer.malformedPayloadCount }
    var packetsReceived: UInt64 { UInt64(max(0, reception.packetsReceived)) }

    /// - Parameter media: What was negotiated for the stream. The parameter sets that it describes count too: some
    ///   senders send them nowhere else.
    init(_ media: NegotiatedMedia) {
        self.media = media
        configuration = media.feedback.nack ? JitterBuffer.Configuration() : .withoutRetransmission
        canRequestKeyFrames = media.feedback.pli || media.feedback.fir
        orientation = VideoOrientationTracker(id: media.extensionIDs.videoOrientation)
        jitterBuffer = JitterBuffer(configuration: configuration)
        for set in media.h264?.parameterSets ?? [] {
            if let unit = NALUnit(ByteBuffer(bytes: set)) { formats.add(unit) }
        }
    }

    func insert(_ packet: RTPPacket, size: DataSize, now: MonotonicInstant) {
        guard packet.payloadType != media.retransmissionPayloadType else {
            insert(retransmission: packet, size: size, now: now)
            return
        }
        if packet.ssrc != ssrc { restart(ssrc: packet.ssrc) }
        reception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        place(packet, now: now)
    }

    private func place(_ packet: RTPPacket, now: MonotonicInstant) {
        arrivals.note(timestamp: packet.timestamp, arrival: now)
        _ = jitterBuffer.insert(packet, now: now)
    }

    /// Puts what a retransmission repeats (RFC 4588) where it was missed. Which stream it repeats is known where that was
    /// announced; otherwise there is only one it may be.
    private func insert(retransmission packet: RTPPacket, size: DataSize, now: MonotonicInstant) {
        if packet.ssrc != retransmissionSSRC {
            retransmissionSSRC = packet.ssrc
            retransmissionReception = ReceptionStatistics(clockRate: 90_000)
        }
        retransmissionReception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        guard let ssrc, media.remoteRetransmissionSSRCs[packet.ssrc] ?? ssrc == ssrc,
            let original = packet.original(payloadType: media.payloadType, ssrc: ssrc)
        else { return }
        retransmissionsReceived &+= 1
        place(original, now: now)
    }

    func senderReportReceived(_ report: SenderReport, now: MonotonicInstant) {
        if report.ssrc == ssrc {
            reception.senderReportReceived(report, now: now)
        } else if report.ssrc == retransmissionSSRC {
            retransmissionReception.senderReportReceived(report, now: now)
        }
    }

    func setRoundTripTime(_ roundTripTime: Duration) {
        jitterBuffer.setRoundTripTime(roundTripTime)
    }

    /// What to report: on the stream and, where it is a stream of its own, on its retransmissions.
    func reportBlocks(now: MonotonicInstant) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        if let ssrc { blocks.append(reception.makeReportBlock(ssrc: ssrc, now: now)) }
        if let retransmissionSSRC {
            blocks.append(retransmissionReception.makeReportBlock(ssrc: retransmissionSSRC, now: now))
        }
        return blocks
    }

    func nacksDue(now: MonotonicInstant) -> [UInt16] { jitterBuffer.nacksDue(now: now) }

    /// Whether to ask for a keyframe now.
    func takeKeyFrameRequest(roundTripTime: Duration, now: MonotonicInstant) -> Bool {
        canRequestKeyFrames && ssrc != nil && keyFrames.takeRequest(roundTripTime: roundTripTime, now: now)
    }

    /// The decoder could not go on: everything until the next keyframe is useless.
    func decoderLostReferences(now: MonotonicInstant) {
        breakReferences(now: now)
    }

    var nextDeadline: MonotonicInstant {
        min(jitterBuffer.nextDeadline ?? .distantFuture, canRequestKeyFrames ? keyFrames.nextDeadline : .distantFuture)
    }

    /// The frames that are complete, or given up, by now.
    func popFrames(now: MonotonicInstant) -> [ReceivedVideoFrame] {
        var frames: [ReceivedVideoFrame] = []
        for received in jitterBuffer.popReady(now: now) {
            if let lastSequence, received.sequence != lastSequence + 1 {
                breakReferences(now: now)
            }
            lastSequence = received.sequence
            orientation.note(received.packet)
            let units = depacketizer.append(
                payload: received.packet.payload, timestamp: received.packet.timestamp, marker: received.packet.marker,
                sequence: received.sequence)
            for unit in units {
                if let frame = accept(unit, now: now) { frames.append(frame) }
            }
        }
        return frames
    }

    private func accept(_ unit: AccessUnit, now: MonotonicInstant) -> ReceivedVideoFrame? {
        framesReceived &+= 1
        let rotation = orientation.rotation(at: unit.rtpTimestamp)
        for set in unit.parameterSets { formats.add(set) }
        if unit.isDamaged { breakReferences(now: now) }
        guard unit.hasPicture else { return nil }
        let arrival = arrivals.arrival(timestamp: unit.rtpTimestamp) ?? (first: now, last: now)
        let isKeyFrame = unit.isIDR && !unit.isDamaged
        guard let slice = unit.nalUnits.first(where: \.isVCL), let format = formats.format(of: slice) else {
            framesWithheld &+= 1
            keyFrames.need(now: now)
            return nil
        }
        if isKeyFrame {
            keyFramesReceived &+= 1
            sawKeyFrame = true
            brokenSince = nil
            keyFrames.keyFrameArrived()
        } else if !sawKeyFrame || brokenSince != nil {
            keyFrames.need(now: now)
            let waited = brokenSince.map { now - $0 } ?? .zero
            if brokenSince == nil { brokenSince = now }
            if canRequestKeyFrames ? waited < Self.keyFramePatience : !sawKeyFrame && waited < Self.keyFramePatience {
                framesWithheld &+= 1
                return nil
            }
        }
        let time = MediaTime(value: timestamps.unwrap(unit.rtpTimestamp), timescale: 90_000)
        return ReceivedVideoFrame(
            sample: SampleBuffer(nalUnits: unit.nalUnits, format: format, presentationTime: time),
            firstArrival: arrival.first, lastArrival: arrival.last, content: media.content, rotation: rotation)
    }

    private func breakReferences(now: MonotonicInstant) {
        if brokenSince == nil { brokenSince = now }
        if canRequestKeyFrames { keyFrames.need(now: now) }
    }

    /// A new SSRC is a new stream from the same sender: nothing of the old one may mix into it.
    private func restart(ssrc newSSRC: UInt32) {
        ssrc = newSSRC
        reception = ReceptionStatistics(clockRate: 90_000)
        jitterBuffer = JitterBuffer(configuration: configuration)
        depacketizer = H264Depacketizer()
        timestamps = TimestampUnwrapper()
        arrivals = FrameArrivals()
        orientation = VideoOrientationTracker(id: media.extensionIDs.videoOrientation)
        lastSequence = nil
        sawKeyFrame = false
        brokenSince = nil
    }
}

/// When the packets of each of the latest frames came, by RTP timestamp. A ring of fixed size.
private struct FrameArrivals {
    private struct Entry {
        var timestamp: UInt32
        var first: MonotonicInstant
        var last: MonotonicInstant
    }

    private var entries = [Entry?](repeating: nil, count: 32)
    /// Where the last packet's frame stands.
    private var current = 0
    private var next = 0

    mutating func note(timestamp: UInt32, arrival: MonotonicInstant) {
        if entries[current]?.timestamp != timestamp {
            guard let known = entries.firstIndex(where: { $0?.timestamp == timestamp }) else {
                entries[next] = Entry(timestamp: timestamp, first: arrival, last: arrival)
                current = next
                next = (next + 1) % entries.count
                return
            }
            current = known
        }
        entries[current]?.last = arrival
    }

    func arrival(timestamp: UInt32) -> (first: MonotonicInstant, last: MonotonicInstant)? {
        entries.first { $0?.timestamp == timestamp }?.map { ($0.first, $0.last) }
    }
}
