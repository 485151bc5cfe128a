import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// The frames that reached a receiver, and the repairs that they took.
private struct Reception {
    var frames = 0
    /// Frames that came later than three intervals after the one before (150 ms more than one, at least), and for how
    /// long.
    var freezes = 0
    var frozen = Duration.zero
    var withheld: UInt64 = 0
    var keyframes = 0
    var largestDatagram = 0
    var peer: PeerStatistics
    var downlink = DownlinkSnapshot()
    var repairs: Set<LossRepair> = []
}

/// A camera and one receiver behind a link that loses packets.
private func watch(
    loss: LossModel, roundTrip: Duration, rate: LinkRate = .unlimited, for duration: Duration = .seconds(20),
    adjust: (inout OfferParameters) -> Void = { _ in }
) throws -> Reception {
    let call = VirtualCall {
        $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(600), maximum: .kilobits(800))
    }
    let camera = try call.join(
        "Ben", colour: .green, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
        rateLimits: RateLimits(minimum: .kilobits(800), start: .kilobits(1000), maximum: .kilobits(1000)))
    camera.pictures = Texture.pictures
    let watcher = try call.join(
        "Cy", video: .receiveOnly, audio: nil,
        downlink: LinkProfile(
            rate: rate, delay: roundTrip - .milliseconds(10), loss: loss, queue: .duration(.milliseconds(500))),
        adjust: adjust)
    var largest = 0
    call.drops = { datagram, isDownlink, _ in
        if isDownlink { largest = max(largest, datagram.readableBytes) }
        return false
    }
    let start = call.now
    var repairs: Set<LossRepair> = []
    var downlink = DownlinkSnapshot()
    while call.now - start < duration {
        call.run(for: .seconds(1))
        guard let participant = call.relay.snapshot(room: "demo", now: call.now)?.participants.last else { continue }
        downlink = participant.downlink
        repairs.insert(downlink.repair)
    }
    let peer = watcher.peer.statistics(now: call.now)
    var reception = Reception(
        frames: watcher.arrivals.count, withheld: peer.video.framesWithheld, keyframes: watcher.keyframesReceived,
        largestDatagram: largest, peer: peer, downlink: downlink, repairs: repairs)
    // The sender learns the loss rate from the first seconds.
    let arrivals = watcher.arrivals.filter { $0 > start + .seconds(5) }
    for (before, after) in zip(arrivals, arrivals.dropFirst()) where after - before > .milliseconds(217) {
        reception.freezes += 1
        reception.frozen += after - before
    }
    return reception
}

/// Loss and its repair end to end: the relay with its encoders and controllers, and a receiver, on virtual time.
@Suite struct LossRepairTests {
    private static func withoutFlexFEC(_ parameters: inout OfferParameters) {
        parameters.video?.flexFECPayloadType = nil
    }

    @Test(
        "far away, forward error correction takes away most of the freezes that retransmission leaves",
        arguments: [
            LossModel.bernoulli(0.05), .bernoulli(0.1), .gilbertElliott(.init(loss: 0.05, burstLength: 3)),
        ])
    func farAway(loss: LossModel) throws {
        let with = try watch(loss: loss, roundTrip: .milliseconds(300))
        let without = try watch(loss: loss, roundTrip: .milliseconds(300), adjust: Self.withoutFlexFEC)
        #expect(without.downlink.fecPackets == 0)
        #expect(without.downlink.repair == .retransmission)
        #expect(with.downlink.fecPackets > 50)
        #expect(with.downlink.repair == .protection)
        #expect(with.peer.video.packetsRecovered > 20)
        #expect(with.peer.video.fecPacketsMalformed == 0)
        #expect(without.freezes > 5)
        #expect(
            Double(with.freezes) <= 0.5 * Double(without.freezes),
            "\(with.freezes) freezes (\(with.frozen)) with, \(without.freezes) (\(without.frozen)) without")
        #expect(with.largestDatagram <= 1200)
        #expect(with.downlink.explanation?.contains("forward error correction") == true)
    }

    @Test("on a short path, retransmission alone repairs losses")
    func nearBy() throws {
        let reception = try watch(loss: 0.1, roundTrip: .milliseconds(30), for: .seconds(12))
        #expect(reception.downlink.fecPackets == 0)
        #expect(reception.downlink.retransmissions > 10)
        #expect(reception.downlink.repair == .retransmission)
        #expect(reception.freezes <= 2, "\(reception.freezes) freezes")
    }

    @Test("without loss there is no repair, however far away")
    func noLoss() throws {
        let reception = try watch(loss: .none, roundTrip: .milliseconds(300), for: .seconds(10))
        #expect(reception.repairs == [.none])
        #expect(reception.downlink.fecPackets == 0)
    }

    @Test("a link whose queue overflows is given no forward error correction")
    func congested() throws {
        let reception = try watch(
            loss: .none, roundTrip: .milliseconds(300), rate: .fixed(.kilobits(250)), for: .seconds(15))
        #expect(!reception.repairs.contains(.protection), "\(reception.repairs)")
    }

    @Test("forward error correction is paid for by the picture's rate")
    func charged() throws {
        let with = try watch(loss: 0.1, roundTrip: .milliseconds(300), for: .seconds(15))
        let without = try watch(
            loss: 0.1, roundTrip: .milliseconds(300), for: .seconds(15), adjust: Self.withoutFlexFEC)
        #expect(with.downlink.videoBitRate < without.downlink.videoBitRate * 8 / 10)
        #expect(with.downlink.bitRate < without.downlink.bitRate * 13 / 10)
    }

    @Test("the relay restores a sender's lost packets")
    func uplink() throws {
        let call = VirtualCall()
        let camera = try call.join(
            "Ben", colour: .green, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
            rateLimits: RateLimits(minimum: .kilobits(400), start: .kilobits(600), maximum: .kilobits(800)))
        camera.pictures = Texture.pictures
        camera.uplink = LinkModel(
            profile: LinkProfile(rate: .unlimited, delay: .milliseconds(290), loss: 0.05), seed: 9, start: call.now)
        call.run(for: .seconds(15))
        let uplink = try #require(call.relay.snapshot(room: "demo", now: call.now)?.participants.first?.uplink)
        #expect(uplink.fecPackets > 30)
        #expect(uplink.packetsRecovered > 10)
        #expect(uplink.malformedPackets == 0)
    }

    @Test("audio is repeated if a tenth or more of it is lost, and restored from the repetition")
    func audio() throws {
        for (loss, isRepeated) in [(0.2, true), (0.03, false)] {
            let call = VirtualCall()
            let speaker = try call.join("Ada", colour: .red)
            let listener = try call.join(
                "Cy", downlink: LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: .bernoulli(loss)))
            speaker.isSilent = false
            call.run(for: .seconds(10))
            let before = listener.audioPackets.count
            call.run(for: .seconds(20))
            let received = Set(listener.audioPackets.dropFirst(before).map(\.sequence))
            let span = (received.max() ?? 0) - (received.min() ?? 0) + 1
            #expect(received.count == listener.audioPackets.count - before, "none comes twice")
            let downlink = try #require(call.relay.snapshot(room: "demo", now: call.now)?.participants.last?.downlink)
            let used = listener.peer.statistics(now: call.now).audio.repetitionsUsed
            if isRepeated {
                #expect(Double(received.count) > 0.95 * Double(span), "\(received.count) of \(span)")
                #expect(used > 50)
                #expect(downlink.repair.rawValue.contains("red"))
                #expect(downlink.explanation?.contains("Each audio packet repeats") == true)
            } else {
                #expect(downlink.redPackets == 0)
                #expect(used == 0)
            }
        }
    }
}
