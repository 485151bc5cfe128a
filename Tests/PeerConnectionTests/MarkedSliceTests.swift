import H264
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import Testing
import VideoCoding

@testable import PeerConnection

/// A sender that sets the RTP marker at each slice, so that only the next picture shows the end of one.
@Suite struct MarkedSliceTests {
    private let stream = VideoReceiveStream(feedback: FeedbackSupport(nack: true, pli: true))
    private let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1100)
    private var sequence: UInt16 = 100
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// Inserts a picture's packets, except those that are lost; each has the marker. Returns the lost ones.
    private mutating func insert(_ units: [NALUnit], timestamp: UInt32, loses: (Int) -> Bool = { _ in false })
        -> [RTPPacket]
    {
        var lost: [RTPPacket] = []
        for (index, unit) in units.flatMap({ packetizer.packetize([$0]) }).enumerated() {
            let packet = RTPPacket(
                payloadType: 96, marker: true, sequenceNumber: sequence, timestamp: timestamp, ssrc: 7, payload: unit)
            sequence += 1
            if loses(index) { lost.append(packet) } else { insert(packet) }
        }
        return lost
    }

    private func insert(_ packet: RTPPacket) {
        let datagram = packet.encode()
        stream.insert(packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: now) { _ in }
    }

    /// The frames of half a second.
    private mutating func run() -> [ReceivedVideoFrame] {
        var frames: [ReceivedVideoFrame] = []
        for _ in 0..<100 {
            now += .milliseconds(5)
            if now >= stream.nextDeadline { frames += stream.popFrames(now: now) }
        }
        return frames
    }

    @Test("the last picture of a sender that marks each slice comes without another behind it")
    mutating func lastPicture() throws {
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: .megabits(1))
        properties.sliceMaxBytes = DataSize(bytes: 500)
        let encoder = try CompressionSession(
            dimensions: Scenery.dimensions, properties: properties, outputHandler: outputs.append)
        let pictures = try (0..<4).map { index in
            try encoder.encode(
                Scenery.pictures[index], presentationTime: MediaTime(value: Int64(index), timescale: 30))
            return try #require(outputs.next()?.frame).sample.nalUnits()
        }
        let slices = pictures.map { $0.count(where: \.isVCL) }
        try #require(slices.allSatisfy { $0 > 2 })
        // The first one shows that the sender marks each slice, and the stream goes on at the next keyframe.
        _ = insert(pictures[0], timestamp: 0)
        _ = run()
        _ = insert(pictures[0], timestamp: 3000)
        #expect(run().map(\.sample.isSync) == [true])
        for index in 1..<3 {
            _ = insert(pictures[index], timestamp: UInt32(1 + index) * 3000)
            let frames = run()
            #expect(frames.count == 1)
            #expect(try frames.first?.sample.nalUnits().count == slices[index])
        }
        // While a packet of it may still come again, a picture waits.
        let lost = insert(pictures[3], timestamp: 12_000) { $0 == 1 }
        now += .milliseconds(60)
        #expect(stream.popFrames(now: now).isEmpty)
        for packet in lost { insert(packet) }
        let frames = run()
        #expect(frames.count == 1)
        #expect(try frames.first?.sample.nalUnits().count == slices[3])
    }
}
