import CongestionControl
import MediaCore
import Testing
import VideoCoding

@testable import EncoderSharing

/// The frames of a group that one receiver is sent.
@Suite struct DownlinkPipelineTests {
    private static let rung = EncodeRung(
        dimensions: VideoDimensions(width: 320, height: 180), frameRate: 30)
    private static let free = LinkBacklog(sent: .zero)
    private static let full = LinkBacklog(sent: .milliseconds(150))
    private static let long = LinkBacklog(sent: .milliseconds(400))

    private func makeDownlink(_ rate: BitRate = .kilobits(500)) -> DownlinkPipeline {
        DownlinkPipeline(
            format: EncodeFormat(dimensions: Self.rung.dimensions, properties: CompressionProperties()), bitRate: rate)
    }

    private func frame(
        layer: Int = 0, isShared: Bool = true, isKeyframe: Bool = false
    ) -> DownlinkPipeline.GroupFrame {
        DownlinkPipeline.GroupFrame(
            frame: EncodeStatistics(
                type: isKeyframe ? .idr : .p, size: DataSize(bytes: 1000), temporalLayer: layer,
                isReference: layer < 2),
            group: EncodeGroupID(rawValue: 1), rate: .kilobits(500), rung: Self.rung, isShared: isShared)
    }

    @Test(
        "a receiver whose rate dips stays with its group while its queue is short, and one that has fallen does not",
        arguments: [(rate: 300, queue: 300, verdict: .send), (180, 300, .send), (180, 400, .stop), (100, 300, .stop)]
            as [(rate: Double, queue: Int64, verdict: DownlinkPipeline.Verdict)])
    func dip(rate: Double, queue: Int64, verdict: DownlinkPipeline.Verdict) {
        var downlink = makeDownlink(.kilobits(rate))
        let backlog = LinkBacklog(sent: .milliseconds(queue))
        let taken = downlink.take(
            frame(), as: .active, before: Self.full, with: backlog, now: .zero)
        #expect(taken == verdict)
    }

    @Test("a receiver that is alone from now on is sent nothing that refers to a frame which it was not sent")
    func missingLayer() {
        var downlink = makeDownlink()
        func take(layer: Int, isShared: Bool, after backlog: LinkBacklog) -> DownlinkPipeline.Verdict {
            downlink.take(
                frame(layer: layer, isShared: isShared), as: .active, before: Self.free, with: backlog, now: .zero)
        }
        #expect(take(layer: 1, isShared: true, after: Self.full) == .dropLayer)
        #expect(take(layer: 2, isShared: false, after: Self.free) == .dropLayer)
        #expect(take(layer: 0, isShared: false, after: Self.free) == .send)
        #expect(take(layer: 2, isShared: false, after: Self.free) == .send)
    }

    @Test("a keyframe is sent on a link that has nothing else to do, however long it takes, and else only if it fits")
    func keyframeOnIdleLink() {
        func verdict(_ subscription: GroupSubscribers.Subscription, before: LinkBacklog) -> DownlinkPipeline.Verdict {
            var downlink = makeDownlink()
            return downlink.take(
                frame(isKeyframe: true), as: subscription, before: before, with: Self.long, now: .zero)
        }
        #expect(verdict(.pending, before: Self.free) == .send && verdict(.active, before: Self.free) == .send)
        #expect(verdict(.pending, before: Self.full) == .ignore && verdict(.active, before: Self.full) == .stop)
    }

    @Test("a receiver that waits for a keyframe on a full link is sent one after a second")
    func keyframeOnFullLink() {
        var downlink = makeDownlink()
        func hasRoom(_ backlog: LinkBacklog, at seconds: Double) -> Bool {
            downlink.hasRoomForKeyframe(backlog: backlog, now: .zero + .seconds(seconds))
        }
        downlink.moved(now: .zero)
        #expect(hasRoom(Self.free, at: 0))
        #expect(!hasRoom(Self.long, at: 0) && !hasRoom(Self.long, at: 1))
        // Another move does not begin the wait anew.
        downlink.moved(now: .zero + .milliseconds(900))
        #expect(hasRoom(Self.long, at: 1.1))
    }

    @Test("a receiver for which the lowest layer was too much is planned with less for three seconds")
    func caution() {
        var downlink = makeDownlink()
        #expect(downlink.dependableRate(now: .zero) == .kilobits(500))
        _ = downlink.take(frame(), as: .active, before: Self.full, with: Self.long, now: .zero)
        #expect(downlink.dependableRate(now: .zero + .milliseconds(2999)) < .kilobits(450))
        #expect(downlink.dependableRate(now: .zero + .seconds(3)) == .kilobits(500))
    }

    @Test("a receiver whose link is too slow for its shared group asks no keyframe of it, and asks one of its own")
    func switching() {
        var downlink = makeDownlink(.kilobits(200))
        func mayAsk(of rate: BitRate?) -> Bool { downlink.mayAskForSwitch(toSharedAt: rate, now: .zero) }
        #expect(mayAsk(of: .kilobits(500)))
        _ = downlink.take(frame(), as: .active, before: Self.full, with: Self.long, now: .zero)
        #expect(!mayAsk(of: .kilobits(500)))
        #expect(mayAsk(of: nil))
        downlink.bitRate = VideoBitRate(target: .kilobits(220), sustained: .kilobits(220))
        #expect(mayAsk(of: .kilobits(500)))
    }

    @Test("the number of layers that are left out for a receiver is told for two seconds")
    func layersDropped() {
        var downlink = makeDownlink()
        for (layer, backlog, count) in [(2, Self.full, 1), (1, Self.full, 2), (0, Self.long, 3)] {
            _ = downlink.take(frame(layer: layer), as: .active, before: Self.free, with: backlog, now: .zero)
            #expect(downlink.layersDropped(now: .zero + .milliseconds(1999)) == count)
        }
        #expect(downlink.layersDropped(now: .zero + .seconds(2)) == 0)
    }
}
