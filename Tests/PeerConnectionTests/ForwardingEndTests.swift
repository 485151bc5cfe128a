import H264
import MediaCore
import NIOCore
import RTP
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
}
