import H264
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import Testing
import VideoCoding

@testable import PeerConnection

/// Frames whose parameter sets are not there, in the middle of a stream.
@Suite struct MissingParameterSetTests {
    private static let size = VideoDimensions(width: 160, height: 90)
    private let frames: [[NALUnit]]
    private let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1100)
    private let stream = VideoReceiveStream(feedback: FeedbackSupport(pli: true))
    private var sequence: UInt16 = 100
    private var timestamp: UInt32 = 0
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000)

    init() throws {
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: Self.size, properties: CompressionProperties(averageBitRate: .kilobits(300)),
            outputHandler: outputs.append)
        frames = try (0..<6).map { index in
            try encoder.encode(
                .pattern(.grey, dimensions: Self.size, phase: index),
                presentationTime: MediaTime(value: Int64(index), timescale: 30))
            return try #require(outputs.next()?.frame).sample.nalUnits()
        }
    }

    /// Sends a frame. Returns true if the stream hands it on.
    private mutating func send(_ units: [NALUnit]) -> Bool {
        let payloads = packetizer.packetize(units)
        for (position, payload) in payloads.enumerated() {
            let packet = RTPPacket(
                payloadType: 96, marker: position == payloads.count - 1, sequenceNumber: sequence,
                timestamp: timestamp, ssrc: 7, payload: payload)
            let datagram = packet.encode()
            stream.insert(packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: now) { _ in }
            sequence += 1
        }
        timestamp += 3000
        now += .milliseconds(33)
        return !stream.popFrames(now: now).isEmpty
    }

    /// True if the stream requests a keyframe now.
    private var requestsKeyframe: Bool { stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: now) }

    /// The slice of a P-frame that refers to a PPS.
    private func slice(pictureSet id: Int) -> NALUnit {
        var writer = BitWriter()
        for value in [0, 5, id] { writer.unsigned(value) }
        writer.bits(0, 64)
        writer.stop()
        return NALUnit(type: .codedSliceNonIDR, referenceIDC: 3, rawPayload: writer.bytes)
    }

    @Test("frames behind one whose parameter sets never came are held back until a keyframe")
    mutating func neverCame() {
        for frame in frames.prefix(3) { #expect(send(frame)) }
        #expect(!send([slice(pictureSet: 7)]))
        #expect(requestsKeyframe)
        for frame in frames[3...] { #expect(!send(frame)) }
        for frame in frames { #expect(send(frame)) }
        #expect(stream.totals.framesWithheld == 4)
    }

    @Test("no frame is decoded by the parameter sets before one that cannot be parsed")
    mutating func unusable() throws {
        for frame in frames { #expect(send(frame)) }
        let cut = try frames[0].map { unit in
            guard unit.type == .sequenceParameterSet else { return unit }
            return try #require(NALUnit(ByteBuffer(unit.bytes.readableBytesView.prefix(5))))
        }
        #expect(!send(cut))
        #expect(requestsKeyframe)
        #expect(!send(frames[1]))
        for frame in frames { #expect(send(frame)) }
    }
}
