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

/// The behaviour of a receiver of video after a gap that is not filled, and its reports on the frames that it has.
@Suite struct RecoveryPointReceptionTests {
    private static let size = VideoDimensions(width: 160, height: 90)
    /// 30 frames with two long-term references, which are both kept, or not.
    private static let kept = try? encode(keepsReferences: true)
    private static let plain = try? encode(keepsReferences: false)

    private static func encode(keepsReferences: Bool) throws -> [[NALUnit]] {
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: .kilobits(300), expectedFrameRate: 30)
        properties.longTermReferences = keepsReferences
        let encoder = try CompressionSession(
            dimensions: size, properties: properties, outputHandler: outputs.append)
        return try (0..<30).map { index in
            let picture = PixelBuffer.pattern(.grey, dimensions: size, phase: index)
            try encoder.encode(picture, presentationTime: MediaTime(value: Int64(index), timescale: 30))
            return try #require(outputs.next()?.frame).sample.nalUnits()
        }
    }

    /// A receive stream that is sent frames, 33 ms apart, of which the first packets of some are lost.
    private final class Rig {
        let stream: VideoReceiveStream
        private let units: [[NALUnit]]
        private let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1100)
        private var sequence: UInt16 = 100
        private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        private var next = 0
        private var lost: [RTPPacket] = []

        init(
            feedback: FeedbackSupport = FeedbackSupport(pli: true, fir: true, rpsi: true), keepsReferences: Bool = true
        )
            throws
        {
            units = try #require(keepsReferences ? kept : plain)
            stream = VideoReceiveStream(feedback: feedback)
        }

        static func timestamp(_ number: Int) -> UInt32 { UInt32(number) * 3000 }

        /// Sends frames, some with a message; returns the numbers of the frames that the stream hands on.
        func send(
            _ count: Int = 1, after point: RecoveryPoint? = nil, isKeyframe: Bool = false, isLost: Bool = false
        ) -> [(number: Int, isRecovering: Bool, followsLoss: Bool)] {
            var frames: [(Int, Bool, Bool)] = []
            for _ in 0..<count {
                let payloads = packetizer.packetize((point.map { [$0.nalUnit] } ?? []) + units[isKeyframe ? 0 : next])
                for (position, payload) in payloads.enumerated() {
                    let packet = RTPPacket(
                        payloadType: 96, marker: position == payloads.count - 1, sequenceNumber: sequence,
                        timestamp: Self.timestamp(next), ssrc: 7, payload: payload)
                    sequence += 1
                    if isLost { lost.append(packet) } else { insert(packet) }
                }
                next += 1
                now += .milliseconds(33)
                frames += pop()
            }
            return frames
        }

        /// Sends the lost packets again; returns the numbers of the frames that the stream hands on.
        func sendLost() -> [Int] {
            lost.forEach(insert)
            return pop().map(\.number)
        }

        private func insert(_ packet: RTPPacket) {
            let datagram = packet.encode()
            stream.insert(packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: now) { _ in }
        }

        private func pop() -> [(number: Int, isRecovering: Bool, followsLoss: Bool)] {
            stream.popFrames(now: now).map { frame in
                (Int(frame.sample.presentationTime.value / 3000), frame.isRecovering, frame.followsLoss)
            }
        }

        /// True if the stream requests a keyframe now.
        var requestsKeyframe: Bool { stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: now) }
    }

    private static let exact = RecoveryPoint(frameCount: 0, isExact: true)

    @Test(
        "decoding continues at a recovery point if that was negotiated, and otherwise waits for a keyframe",
        arguments: [true, false])
    func goesOn(isNegotiated: Bool) throws {
        let rig = try Rig(feedback: FeedbackSupport(pli: true, rpsi: isNegotiated))
        #expect(rig.send(5).map(\.number) == [0, 1, 2, 3, 4])
        _ = rig.send(isLost: true)
        #expect(rig.send(4).isEmpty)
        #expect(rig.stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: rig.now))
        let frames = rig.send(after: Self.exact) + rig.send(2)
        #expect(frames.map(\.number) == (isNegotiated ? [10, 11, 12] : []))
        #expect(!frames.contains { $0.isRecovering })
        #expect(frames.map(\.followsLoss) == (isNegotiated ? [true, false, false] : []))
        #expect(rig.stream.totals.recoveryPointsUsed == (isNegotiated ? 1 : 0))
        // It asks no more, or continues to ask.
        let later = rig.now + .seconds(1)
        #expect(rig.stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: later) == !isNegotiated)
    }

    @Test("without losses a recovery point changes nothing")
    func nothingMissing() throws {
        let rig = try Rig()
        let frames = rig.send(4) + rig.send(after: RecoveryPoint(frameCount: 5, isExact: true)) + rig.send(3)
        #expect(frames.map(\.number) == Array(0...7))
        #expect(!frames.contains { $0.isRecovering || $0.followsLoss })
        #expect(rig.stream.totals.recoveryPointsUsed == 0)
    }

    @Test("pictures that are refreshed in parts are decoded at once and shown when they are complete")
    func intraRefresh() throws {
        let rig = try Rig()
        _ = rig.send(4)
        _ = rig.send(isLost: true)
        #expect(rig.send(3).isEmpty)
        let frames = rig.send(after: RecoveryPoint(frameCount: 4, isExact: true)) + rig.send(6)
        #expect(frames.map(\.number) == Array(8...14))
        #expect(frames.map(\.isRecovering) == [true, true, true, true, false, false, false])
    }

    @Test("a decoder that lost its references requests a keyframe, and continues there or after a complete refresh")
    func decoderLost() throws {
        let rig = try Rig()
        _ = rig.send(6)
        rig.stream.decoderLostReferences(now: rig.now)
        #expect(rig.stream.needsWholePicture)
        #expect(rig.send(after: Self.exact).isEmpty)
        #expect(rig.send(2).isEmpty)
        #expect(rig.send(after: RecoveryPoint(frameCount: 1, isExact: true)).map(\.isRecovering) == [true])
        #expect(!rig.stream.needsWholePicture)
    }

    @Test("a picture is reported once, when the next was handed on, and ten times a second at most")
    func acknowledged() throws {
        let rig = try Rig()
        _ = rig.send(1)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == nil)
        _ = rig.send(2)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == Rig.timestamp(1))
        _ = rig.send(2)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == nil)
        _ = rig.send(2)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == Rig.timestamp(5))
        #expect(rig.stream.takeAcknowledgement(now: rig.now + .seconds(1)) == nil)
    }

    @Test("pictures after a gap are not acknowledged, and those before it are, unless the decoder failed")
    func gaps() throws {
        let rig = try Rig()
        _ = rig.send(4)
        _ = rig.stream.takeAcknowledgement(now: rig.now)
        _ = rig.send(2)
        _ = rig.send(isLost: true)
        _ = rig.send(8)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == Rig.timestamp(4))
        _ = rig.send(after: Self.exact)
        _ = rig.send(2)
        rig.stream.decoderLostReferences(now: rig.now)
        #expect(rig.stream.takeAcknowledgement(now: rig.now + .seconds(1)) == nil)
    }

    @Test(
        "a sender without kept frames, or without the negotiated feedback, is told nothing", arguments: [true, false])
    func unwanted(keepsReferences: Bool) throws {
        let rig = try Rig(
            feedback: FeedbackSupport(pli: true, rpsi: !keepsReferences), keepsReferences: keepsReferences)
        _ = rig.send(10)
        #expect(rig.stream.takeAcknowledgement(now: rig.now) == nil)
    }

    private static let retransmitting = FeedbackSupport(nack: true, pli: true, rpsi: true)

    @Test("a keyframe is handed on when it is whole, although packets before it may still come")
    func keyframeBehindGap() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(5)
        _ = rig.send(isLost: true)
        #expect(rig.send(2).isEmpty)
        let frames = rig.send(isKeyframe: true) + rig.send(2)
        #expect(frames.map(\.number) == [8, 9, 10])
        #expect(frames.map(\.followsLoss) == [true, false, false])
        #expect(rig.sendLost().isEmpty)
    }

    @Test("so is a picture that refers only to acknowledged ones, but not one from which a round of refreshes begins")
    func refreshBehindGap() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(5)
        _ = rig.send(isLost: true)
        #expect(rig.send(after: RecoveryPoint(frameCount: 4, isExact: true)).isEmpty)
        #expect(rig.send(after: Self.exact).map(\.number) == [7])
    }

    @Test("packets before a frame that decoding needs still fill their gap")
    func otherFrameBehindGap() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(5)
        _ = rig.send(isLost: true)
        #expect(rig.send(3).isEmpty)
        #expect(rig.sendLost() == [5, 6, 7, 8])
    }

    @Test("after an interruption of the path a keyframe is requested at once, and not after a single loss")
    func interruption() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(5)
        _ = rig.send(isLost: true)
        _ = rig.send(1)
        #expect(!rig.requestsKeyframe)
        let interrupted = try Rig(feedback: Self.retransmitting)
        _ = interrupted.send(5)
        _ = interrupted.send(15, isLost: true)
        #expect(interrupted.send(1).isEmpty)
        #expect(interrupted.requestsKeyframe)
    }

    @Test("if the interrupted packets come all the same, no further keyframe is requested")
    func interruptionRepaired() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(5)
        _ = rig.send(15, isLost: true)
        _ = rig.send(1)
        #expect(rig.requestsKeyframe)
        #expect(rig.sendLost() == Array(5...20))
        _ = rig.send(9)
        #expect(!rig.requestsKeyframe)
    }

    @Test("so it is after two interruptions of which neither is given up")
    func interruptionsRepaired() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        _ = rig.send(2)
        rig.stream.setRoundTripTime(.milliseconds(250))
        for _ in 0..<2 {
            _ = rig.send(12, isLost: true)
            #expect(rig.send(1).isEmpty)
        }
        #expect(rig.requestsKeyframe)
        #expect(rig.sendLost() == Array(2...27))
        _ = rig.send(10, isKeyframe: true, isLost: true)
        #expect(!rig.requestsKeyframe)
    }

    @Test("a keyframe that a new viewer needs is requested although the interrupted packets come")
    func interruptionBeforeViewer() throws {
        let rig = try Rig(feedback: Self.retransmitting)
        rig.stream.setUnseen(true, needsKeyframe: false, now: rig.now)
        _ = rig.send(5)
        _ = rig.send(15, isLost: true)
        _ = rig.send(1)
        rig.stream.setUnseen(false, needsKeyframe: true, now: rig.now)
        #expect(rig.sendLost() == Array(5...20))
        #expect(rig.requestsKeyframe)
    }
}
