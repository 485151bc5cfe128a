import H264
import MediaCore
import NIOCore
import RTP
import ResearchControllers
import SDP
import Testing
import VideoCoding

@testable import PeerConnection

/// A stream in which an encoder's frames follow forwarded packets.
@Suite struct ForwardingEndTests {
    @Test("an encoder's frame ends forwarding that nobody has ended, so that reports go by the encoder's clock again")
    func encoderTakesOver() throws {
        var random = SeededGenerator(seed: 3)
        let stream = VideoSendStream(
            NegotiatedMedia(
                kind: .video, index: 0, payloadType: 96, direction: .sendOnly, keys: nil,
                localSSRC: 1), maximumPayloadSize: 1000, using: &random)
        let packet = RTPPacket(
            payloadType: 96, marker: true, sequenceNumber: 9, timestamp: 0, ssrc: 7,
            payload: ByteBuffer(bytes: [0x65, 0x88, 0x84, 0x00]))
        let first = ForwardedPacket(
            ReceivedVideoPacket(packet: packet, content: .main, rotation: nil, arrival: .zero), sequence: 9,
            startsFrame: true)
        _ = stream.beginForwarding(at: first, parameterSets: [])
        _ = stream.forward(first, parameterSets: [], leavesOutDispensable: false)
        #expect(stream.isForwarding)

        let dimensions = VideoDimensions(width: 160, height: 96)
        let format = VideoFormatDescription(
            parameterSets: [],
            properties: .init(
                profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31), dimensions: dimensions,
                codedDimensions: dimensions))
        let sample = SampleBuffer(
            data: BlockBuffer(ByteBuffer(bytes: [0, 0, 0, 4, 0x41, 0x9A, 0x00, 0x10])), format: format,
            presentationTime: .zero, isSync: false)
        let packets = stream.packetize(
            EncodedFrame(sample: sample), payloads: nil, rotation: .none, captureTime: .zero + .seconds(1))
        #expect(packets.count == 1 && !stream.isForwarding)
    }

    @Test("of a frame that is cut off no further packet leaves, even if none has left yet", arguments: [0, 2])
    func cutFrame(sent: Int) throws {
        let path = try KeyedPath(controller: FixedRateController(rate: .megabits(1)))
        func packet(_ number: UInt16) -> ForwardedPacket {
            let packet = RTPPacket(
                payloadType: 96, sequenceNumber: number, timestamp: 0, ssrc: 7,
                payload: ByteBuffer(repeating: 0x65, count: 200))
            return ForwardedPacket(
                ReceivedVideoPacket(packet: packet, content: .main, rotation: nil, arrival: path.now),
                sequence: Int64(number), startsFrame: number == 9)
        }
        path.peer.beginForwarding(at: packet(9), parameterSets: [], now: path.now)
        for number in UInt16(9)..<19 {
            _ = path.peer.forward(packet(number), parameterSets: [], leavesOutDispensable: false, now: path.now)
        }
        for _ in 0..<sent { #expect(path.peer.pollTransmit(now: path.now) != nil) }
        path.peer.endForwarding(cutsFrame: true, now: path.now)
        #expect(path.peer.pollTransmit(now: path.now + .seconds(10)) == nil)
    }
}
