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

    @Test("a sender that begins again a little lower is forwarded, and no number is given out twice")
    func restartBelow() throws {
        let media = NegotiatedMedia(
            kind: .video, index: 0, payloadType: 96, direction: .receiveOnly, keys: nil, localSSRC: 1)
        let stream = VideoReceiveStream(media)
        stream.isForwarded = true
        var source = ForwardingSource()
        var numbering: ForwardingNumbering?
        var given: [Int64] = []
        var now = Self.now
        for number in [Array(UInt16(100)..<300), Array(UInt16(250)..<350)].joined() {
            now += .milliseconds(40)
            let sent = packet(number, Self.middleFragment, frame: UInt32(number)).packet
            stream.insert(sent, datagram: sent.encode(), size: .zero, now: now) { received in
                let packet: ForwardedPacket
                switch source.take(received, now: now) {
                case .next(let next): packet = next
                case .restart(let first):
                    packet = first
                    numbering?.restart(at: first.sequence)
                }
                numbering = numbering ?? ForwardingNumbering(first: packet.sequence, as: 0)
                if let number = numbering?.number(packet.sequence) { given.append(number) }
            }
            _ = stream.popFrames(now: now)
        }
        #expect(given.count > 280, "\(given.count)")
        #expect(Set(given).count == given.count)
    }
}
