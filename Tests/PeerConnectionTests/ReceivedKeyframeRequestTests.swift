import CongestionControl
import MediaCore
import RTP
import ResearchControllers
import SDP
import Testing

@testable import PeerConnection

/// Keyframe requests of a receiver that accepts other pictures than keyframes after a loss.
@Suite struct ReceivedKeyframeRequestTests {
    private let path: KeyedPath

    init() throws {
        path = try KeyedPath(controller: FixedRateController(rate: .kilobits(500)))
        try path.run(for: .seconds(1))
    }

    /// Says a packet. Returns true if a keyframe has to be made for it.
    private func asks(_ packet: RTCPPacket) throws -> Bool {
        try path.say([packet])
        var asks = false
        while let event = path.peer.pollEvent() {
            if case .keyframeRequested = event { asks = true }
        }
        return asks
    }

    private var pictureLoss: RTCPPacket {
        .pictureLossIndication(
            PictureLossIndication(senderSSRC: path.media.localSSRC, mediaSSRC: path.sentSSRC))
    }

    private func fullIntra(_ number: UInt8) -> RTCPPacket {
        .fullIntraRequest(
            FullIntraRequest(
                senderSSRC: path.media.localSSRC, entries: [.init(ssrc: path.sentSSRC, commandSequence: number)]))
    }

    @Test("a full intra request takes a keyframe also soon after an indication that another picture may answer")
    func afterPictureLoss() throws {
        #expect(try !asks(pictureLoss))
        try path.run(for: .milliseconds(100))
        #expect(try asks(fullIntra(1)))
    }

    @Test("full intra requests in a row are one, and one that came too soon takes a keyframe when it is repeated")
    func inARow() throws {
        #expect(try asks(fullIntra(1)))
        try path.run(for: .milliseconds(200))
        #expect(try !asks(fullIntra(2)))
        try path.run(for: .milliseconds(110))
        #expect(try !asks(fullIntra(1)) && asks(fullIntra(2)))
    }

    @Test("a storm of full intra requests takes a keyframe each 300 ms")
    func storm() throws {
        var count = 0
        for number in 0..<250 as Range<UInt8> {
            if try asks(fullIntra(number)) { count += 1 }
            try path.run(for: .milliseconds(4))
        }
        #expect(count == 4)
    }
}
