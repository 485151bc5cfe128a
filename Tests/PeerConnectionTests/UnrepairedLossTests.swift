import MediaCore
import MediaFixtures
import RTP
import SDP
import Testing
import VideoCoding

@testable import PeerConnection

/// Requests for packets that are not sent again: the picture of the receiver stands still until a keyframe comes.
@Suite struct UnrepairedLossTests {
    private let sender: VideoSendStream
    private let frame: EncodedFrame
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000)

    init() throws {
        var generator = SeededGenerator(seed: 3)
        let line = MediaLine(
            NegotiatedMedia(
                kind: .video, index: 0, payloadType: 96, retransmissionPayloadType: 97, direction: .sendOnly, keys: nil,
                feedback: .video, localSSRC: 1, localRetransmissionSSRC: 2))
        line.setUpStreams(using: &generator)
        sender = try #require(line.videoSender)
        let outputs = EncodeOutputQueue()
        let size = VideoDimensions(width: 160, height: 90)
        let encoder = try CompressionSession(
            dimensions: size, properties: CompressionProperties(averageBitRate: .kilobits(300)),
            outputHandler: outputs.append)
        try encoder.encode(.pattern(.grey, dimensions: size, phase: 0), presentationTime: .zero)
        frame = try #require(outputs.next()?.frame)
    }

    /// Sends a frame; returns the number of its first packet.
    private func send() throws -> UInt16 {
        let packets = sender.packetize(frame, payloads: nil, rotation: .none, captureTime: now)
        for packet in packets { sender.sent(packet, datagram: packet.encode(), now: now) }
        return try #require(packets.first).sequenceNumber
    }

    private func wasLost(_ number: UInt16, isDelayed: Bool = false) -> Bool {
        sender.pictureWasLost(with: [number], isDelayed: isDelayed, now: now)
    }

    @Test("a packet that is kept no more means a lost picture, once for all packets until then")
    mutating func gone() throws {
        let first = try send()
        now += .milliseconds(900)
        #expect(!wasLost(first))
        now += .seconds(3)
        let second = try send()
        #expect(wasLost(first))
        now += .seconds(4)
        #expect(!wasLost(first))
        #expect(!wasLost(second))
        let third = try send()
        now += .seconds(4)
        #expect(wasLost(third))
        #expect(sender.totals.keyframeRequestsReceived == 0)
    }

    @Test("an old packet that has to wait until it is sent again means a lost picture, and a new one does not")
    mutating func delayed() throws {
        let number = try send()
        now += .milliseconds(100)
        #expect(!wasLost(number, isDelayed: true))
        now += .milliseconds(500)
        #expect(!wasLost(number, isDelayed: false))
        #expect(wasLost(number, isDelayed: true))
    }

    @Test("a packet that was not sent means nothing")
    mutating func unsent() throws {
        let number = try send()
        #expect(!wasLost(number &+ 1000))
        #expect(!wasLost(number &- 1000))
        now += .seconds(4)
        #expect(!wasLost(number &- 1))
    }

    @Test("a forwarded packet that is still to come means nothing, as one before it is kept")
    func toCome() throws {
        let packets = sender.packetize(frame, payloads: nil, rotation: .none, captureTime: now)
        let (first, missing) = (try #require(packets.first), try #require(packets.dropFirst().first))
        for packet in packets where packet.sequenceNumber != missing.sequenceNumber {
            sender.sent(packet, datagram: packet.encode(), now: now)
        }
        #expect(!wasLost(missing.sequenceNumber))
        #expect(!wasLost(first.sequenceNumber))
    }
}
