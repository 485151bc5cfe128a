import CongestionControl
import H264
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing
import VideoCoding

@testable import PeerConnection

/// A connection that sends video to a receiver over a path of 20 ms each way, on virtual time. The receiver has the
/// keys and is the test's own: it reports honestly, and whatever else a test says under those keys.
final class KeyedPath {
    static let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(500), maximum: .megabits(2))
    static let delay = Duration.milliseconds(20)
    private static let step = Duration.milliseconds(2)
    private static let frameInterval = Duration.milliseconds(32)

    let peer: PeerConnection
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// The sequence number, for transport-wide feedback, of the newest packet that arrived.
    private(set) var newestSequence: UInt16 = 0
    /// True if the receiver reports what arrives.
    var reports = true
    /// The offset of the receiver's clock from ours.
    var clockOffset = Duration.seconds(10_000)

    /// The receiver's end of the session.
    let media: NegotiatedMedia
    private let address = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
    private let inbound: SRTPContext
    private let outbound: SRTPContext
    private let format: VideoFormatDescription
    private let transportSequenceID: UInt8
    private var recorder: TransportFeedbackRecorder
    private var downlink = CircularBuffer<(due: MonotonicInstant, datagram: ByteBuffer)>()
    private var uplink = CircularBuffer<(due: MonotonicInstant, datagram: ByteBuffer)>()
    private var nextFrame: MonotonicInstant
    private var nextReceiverReport: MonotonicInstant
    private var frameCount: Int64 = 0

    init(controller: any CongestionController) throws {
        var random = SeededGenerator(seed: 11)
        var parameters = OfferParameters(address: address)
        parameters.video = OfferParameters.Video()
        parameters.audio = nil
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let (answer, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000)),
            using: &random)
        media = try #require(try OfferAnswer.complete(pending: pending, answer: answer).video)
        let keys = try #require(media.keys)
        inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
        outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        transportSequenceID = try #require(media.extensionIDs.transportSequenceNumber)
        recorder = TransportFeedbackRecorder(senderSSRC: media.localSSRC)
        format = try Self.format()
        peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(rateLimits: Self.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), controller: controller, now: now)
        nextFrame = now
        nextReceiverReport = now + .seconds(1)
    }

    /// The stream that the connection sends.
    var sentSSRC: UInt32 { media.remoteSSRCs.first ?? peer.lines.first?.videoSender?.ssrc ?? 0 }

    /// Hands RTCP packets to the connection, in one datagram, at once.
    func say(_ packets: [RTCPPacket]) throws {
        var datagram = RTCPPacket.encode(packets)
        try outbound.protect(rtcp: &datagram)
        receive(datagram)
    }

    /// Sends video at the rate that the connection asks for.
    func run(for duration: Duration) throws {
        let end = now + duration
        while now < end {
            now += Self.step
            if now >= nextFrame {
                nextFrame += Self.frameInterval
                sendFrame()
            }
            peer.wake(now: now)
            while peer.pollEvent() != nil {}
            while let transmit = peer.pollTransmit(now: now) {
                downlink.append((now + Self.delay, transmit.datagram))
            }
            while let first = downlink.first, first.due <= now { arrive(downlink.removeFirst().datagram) }
            if reports { try report() }
            while let first = uplink.first, first.due <= now { receive(uplink.removeFirst().datagram) }
        }
    }

    private func receive(_ datagram: ByteBuffer) {
        let outcome = peer.receive(datagram, from: address, now: now)
        #expect(outcome == .accepted)
    }

    private func sendFrame() {
        let size = max(40, Int(clamping: Double(peer.videoBitRate.dataSize(over: Self.frameInterval).bytes)))
        var data = ByteBufferAllocator().buffer(capacity: size)
        data.writeInteger(UInt32(clamping: size - 4))
        // A slice of a picture that others refer to; nobody decodes it.
        data.writeInteger(UInt8(0x41))
        data.writeRepeatingByte(0x9A, count: size - 5)
        let sample = SampleBuffer(
            data: BlockBuffer(data), format: format,
            presentationTime: MediaTime(value: frameCount * 2880, timescale: 90_000), isSync: frameCount == 0)
        frameCount += 1
        peer.sendVideo(EncodedFrame(sample: sample), captureTime: now, targetTime: now, now: now)
    }

    private func arrive(_ datagram: ByteBuffer) {
        var plain = datagram
        guard DatagramKind.classify(datagram) == .rtp, (try? inbound.unprotect(rtp: &plain)) != nil,
            let packet = try? RTPPacket(parsing: plain),
            let sequence = packet.extensions.transportSequenceNumber(id: transportSequenceID)
        else { return }
        newestSequence = sequence
        recorder.received(transportSequence: sequence, now: now + clockOffset)
    }

    private func report() throws {
        if recorder.nextFeedbackTime <= now + clockOffset {
            for feedback in recorder.makeFeedback(mediaSSRC: sentSSRC, now: now + clockOffset) {
                try send([.transportFeedback(feedback)])
            }
        }
        guard now >= nextReceiverReport else { return }
        nextReceiverReport = now + .seconds(1)
        // The last estimate and request count: an honest receiver corrects a lie.
        try send([
            .receiverReport(ReceiverReport(ssrc: media.localSSRC, reports: [ReportBlock(ssrc: sentSSRC)])),
            .receiverEstimatedMaximumBitrate(
                REMB(senderSSRC: media.localSSRC, bitRate: .megabits(20), ssrcs: [sentSSRC])),
            .maximumBitRateRequest(
                BitRateLimits(
                    senderSSRC: media.localSSRC,
                    limits: [
                        BitRateLimit(ssrc: sentSSRC, maximum: .megabits(20), overhead: DataSize(bytes: 40))
                    ])),
        ])
    }

    private func send(_ packets: [RTCPPacket]) throws {
        var datagram = RTCPPacket.encode(packets)
        try outbound.protect(rtcp: &datagram)
        uplink.append((now + Self.delay, datagram))
    }

    /// Parameter sets of a real encoder.
    private static func format() throws -> VideoFormatDescription {
        let outputs = EncodeOutputQueue()
        let dimensions = VideoDimensions(width: 160, height: 90)
        let session = try CompressionSession(
            dimensions: dimensions, properties: CompressionProperties(averageBitRate: .kilobits(300)),
            outputHandler: outputs.append)
        try session.encode(
            .pattern(.grey, dimensions: dimensions, phase: 0), presentationTime: .zero,
            options: EncodeOptions(forceKeyframe: true))
        return try #require(outputs.next()?.frame).sample.format
    }
}
