import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import Conference
@testable import PeerConnection

/// A source's packets, from which keyframes are collected for receivers that wait for one.
@Suite struct ForwardingSourceTests {
    private static let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let sequenceParameterSet: [UInt8] = [0x67, 0x42, 0xC0, 0x1F]
    /// The first, a middle and the last fragment of the slice of an IDR picture.
    private static let firstFragment: [UInt8] = [0x7C, 0x85, 0x88, 0x84]
    private static let middleFragment: [UInt8] = [0x7C, 0x05, 0x10, 0xFF]
    private static let lastFragment: [UInt8] = [0x7C, 0x45, 0x10, 0xFF]

    private func packet(
        _ number: UInt16, _ payload: [UInt8], frame: UInt32, marker: Bool = false
    ) -> ReceivedVideoPacket {
        ReceivedVideoPacket(
            packet: RTPPacket(
                payloadType: 96, marker: marker, sequenceNumber: number, timestamp: frame, ssrc: 7,
                payload: ByteBuffer(bytes: payload)), content: .main, rotation: nil, arrival: Self.now)
    }

    /// Takes packets, and returns the keyframe that is whole with the last of them.
    private func keyframe(of packets: [ReceivedVideoPacket]) -> CollectedKeyframe? {
        var source = ForwardingSource()
        source.collectsKeyframes = true
        for packet in packets { _ = source.take(packet, now: Self.now) }
        return source.takeKeyframe()
    }

    @Test("behind a keyframe of which a packet is lost, the next one has its own parameter sets")
    func parameterSetsBehindLoss() throws {
        let collected = try #require(
            keyframe(of: [
                packet(1, Self.sequenceParameterSet, frame: 0),
                packet(2, Self.firstFragment, frame: 0),
                // Number 3, the end of the keyframe, is lost.
                packet(4, Self.sequenceParameterSet, frame: 3000),
                packet(5, Self.firstFragment, frame: 3000),
                packet(6, Self.lastFragment, frame: 3000, marker: true),
            ]))
        #expect(collected.packets.map(\.sequence) == [4, 5, 6])
        #expect(collected.hasParameterSets)
    }

    @Test("packets of the next keyframe may overtake its first one")
    func overtaking() throws {
        let collected = try #require(
            keyframe(of: [
                packet(1, Self.sequenceParameterSet, frame: 0),
                packet(2, Self.firstFragment, frame: 0),
                packet(5, Self.lastFragment, frame: 3000, marker: true),
                packet(4, Self.firstFragment, frame: 3000),
            ]))
        #expect(collected.packets.map(\.sequence) == [4, 5])
    }

    @Test("a keyframe whose first packet comes again last is whole, and without it is not")
    func firstPacketLast() throws {
        let others = [
            packet(3, Self.middleFragment, frame: 0), packet(4, Self.lastFragment, frame: 0, marker: true),
        ]
        #expect(keyframe(of: others)?.size == nil)
        let collected = try #require(keyframe(of: others + [packet(2, Self.firstFragment, frame: 0)]))
        #expect(collected.packets.map(\.sequence) == [2, 3, 4])
    }

    @Test("packets that follow a keyframe count with it, because they are sent with it")
    func sizeOfAll() throws {
        let large = [UInt8](repeating: 0x41, count: 1000)
        let collected = try #require(
            keyframe(of: [
                packet(1, Self.firstFragment, frame: 0),
                packet(3, Self.lastFragment, frame: 0, marker: true),
                packet(4, large, frame: 3000),
                packet(5, large, frame: 3000),
                packet(2, Self.middleFragment, frame: 0),
            ]))
        #expect(collected.packets.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(collected.size.bytes > 2000)
    }

    @Test("padding behind a keyframe does not keep it from being whole")
    func padding() throws {
        let collected = try #require(
            keyframe(of: [
                packet(1, Self.sequenceParameterSet, frame: 0),
                packet(2, Self.firstFragment, frame: 0),
                packet(4, Self.lastFragment, frame: 0, marker: true),
                packet(5, [], frame: 0),
                packet(3, Self.middleFragment, frame: 0),
            ]))
        #expect(collected.packets.map(\.sequence) == [1, 2, 3, 4, 5])
    }
}
