import H264
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// Senders that describe their parameter sets and do not send them, and receivers that cannot ask for keyframes.
@Suite struct DescribedParameterSetTests {
    /// The frames that a receive stream hands on of three that come without parameter sets.
    private func received(describing: (VideoFormatDescription) -> [ByteBuffer]) throws -> [ReceivedVideoFrame] {
        let size = VideoDimensions(width: 160, height: 90)
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: size,
            properties: CompressionProperties(averageBitRate: .kilobits(300), expectedFrameRate: 15),
            outputHandler: outputs.append)
        let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1100)
        var stream: VideoReceiveStream?
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var sequence: UInt16 = 100
        var frames: [ReceivedVideoFrame] = []
        for index in 0..<3 {
            let picture = PixelBuffer.pattern(.red, dimensions: size, phase: index)
            try encoder.encode(picture, presentationTime: MediaTime(value: Int64(index), timescale: 15))
            let frame = try #require(outputs.next()?.frame)
            stream =
                stream
                ?? VideoReceiveStream(
                    NegotiatedMedia(
                        kind: .video, index: 0, payloadType: 96, direction: .receiveOnly, keys: nil,
                        h264: H264FormatParameters(
                            profileLevelID: nil,
                            parameterSets: describing(frame.sample.format).map { Array($0.readableBytesView) }),
                        localSSRC: 1))
            let payloads = packetizer.packetize(try frame.sample.nalUnits().filter { !$0.isParameterSet })
            for (position, payload) in payloads.enumerated() {
                let packet = RTPPacket(
                    payloadType: 96, marker: position == payloads.count - 1, sequenceNumber: sequence,
                    timestamp: UInt32(index * 6000), ssrc: 7, payload: payload)
                let datagram = packet.encode()
                let size = DataSize(bytes: datagram.readableBytes)
                stream?.insert(packet, datagram: datagram, size: size, now: now) { _ in }
                sequence += 1
            }
            now = now + .milliseconds(66)
            frames += stream?.popFrames(now: now) ?? []
        }
        return frames
    }

    @Test("a stream with parameter sets only in its description is received")
    func described() throws {
        let frames = try received { $0.parameterSets }
        #expect(frames.count >= 2)
        #expect(frames.first?.sample.isSync == true)
        #expect(frames.first?.sample.format.parameterSets.count == 2)
    }

    @Test("parameter sets of a further description count from the next keyframe on")
    func describedAnew() throws {
        let sizes = [VideoDimensions(width: 160, height: 90), VideoDimensions(width: 320, height: 180)]
        let encoded = try sizes.map { size -> [SampleBuffer] in
            let outputs = EncodeOutputQueue()
            let encoder = try CompressionSession(
                dimensions: size,
                properties: CompressionProperties(averageBitRate: .kilobits(300), expectedFrameRate: 15),
                outputHandler: outputs.append)
            return try (0..<3).map { index -> SampleBuffer in
                try encoder.encode(
                    PixelBuffer.pattern(.red, dimensions: size, phase: index),
                    presentationTime: MediaTime(value: Int64(index), timescale: 15))
                return try #require(outputs.next()?.frame).sample
            }
        }
        var media = NegotiatedMedia(
            kind: .video, index: 0, payloadType: 96, direction: .receiveOnly, keys: nil,
            h264: H264FormatParameters(profileLevelID: nil), localSSRC: 1)
        func describe(_ sample: SampleBuffer) {
            media.h264?.parameterSets = sample.format.parameterSets.map { Array($0.readableBytesView) }
        }
        describe(encoded[0][0])
        let stream = VideoReceiveStream(media)
        let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1100)
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var (sequence, timestamp): (UInt16, UInt32) = (100, 0)
        func received(_ sample: SampleBuffer) throws -> [VideoDimensions] {
            let payloads = packetizer.packetize(try sample.nalUnits().filter { !$0.isParameterSet })
            for (position, payload) in payloads.enumerated() {
                let packet = RTPPacket(
                    payloadType: 96, marker: position == payloads.count - 1, sequenceNumber: sequence,
                    timestamp: timestamp, ssrc: 7, payload: payload)
                let datagram = packet.encode()
                let size = DataSize(bytes: datagram.readableBytes)
                stream.insert(packet, datagram: datagram, size: size, now: now) { _ in }
                sequence += 1
            }
            timestamp += 6000
            now = now + .milliseconds(66)
            return stream.popFrames(now: now).map(\.sample.format.dimensions)
        }
        var seen = try encoded[0].prefix(2).flatMap(received)
        describe(encoded[1][0])
        stream.media = media
        seen += try (encoded[0].suffix(1) + encoded[1]).flatMap(received)
        #expect(seen.prefix(5) == [sizes[0], sizes[0], sizes[0], sizes[1], sizes[1]])
    }

    @Test("without parameter sets, or with ones that do not parse, nothing is handed on")
    func notDescribed() throws {
        #expect(try received { _ in [] }.isEmpty)
        #expect(try received { _ in [ByteBuffer(), ByteBuffer(bytes: [0x67]), ByteBuffer(bytes: [9, 9])] }.isEmpty)
    }

    @Test("a receiver that cannot ask for keyframes gets them unasked, one that can does not")
    func unaskedKeyframes() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green) {
            $0.video?.feedback = .none
        }
        call.run(for: .seconds(9))
        #expect(ada.keyframesReceived == 1)
        #expect((4...6).contains(ben.keyframesReceived))
    }
}
