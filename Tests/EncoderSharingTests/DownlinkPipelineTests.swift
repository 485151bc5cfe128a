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

    private func frame(layer: Int, isShared: Bool) -> DownlinkPipeline.GroupFrame {
        DownlinkPipeline.GroupFrame(
            frame: EncodeStatistics(
                type: .p, size: DataSize(bytes: 1000), temporalLayer: layer, isReference: layer < 2),
            group: EncodeGroupID(rawValue: 1), rate: .kilobits(500), rung: Self.rung, isShared: isShared)
    }

    @Test(
        "a receiver whose rate dips stays with its group while its queue is short, and one that has fallen does not",
        arguments: [(rate: 300, queue: 300, verdict: .send), (180, 300, .send), (180, 400, .stop), (100, 300, .stop)]
            as [(rate: Double, queue: Int64, verdict: DownlinkPipeline.Verdict)])
    func dip(rate: Double, queue: Int64, verdict: DownlinkPipeline.Verdict) {
        var downlink = DownlinkPipeline(
            format: EncodeFormat(dimensions: Self.rung.dimensions, properties: CompressionProperties()),
            bitRate: .kilobits(rate))
        let backlog = LinkBacklog(sent: .milliseconds(queue))
        let taken = downlink.take(
            frame(layer: 0, isShared: true), as: .active, before: Self.full, with: backlog, now: .zero)
        #expect(taken == verdict)
    }

    @Test("a receiver that is alone from now on is sent nothing that refers to a frame which it was not sent")
    func missingLayer() {
        var downlink = DownlinkPipeline(
            format: EncodeFormat(dimensions: Self.rung.dimensions, properties: CompressionProperties()),
            bitRate: .kilobits(500))
        func take(layer: Int, isShared: Bool, after backlog: LinkBacklog) -> DownlinkPipeline.Verdict {
            downlink.take(
                frame(layer: layer, isShared: isShared), as: .active, before: Self.free, with: backlog, now: .zero)
        }
        #expect(take(layer: 1, isShared: true, after: Self.full) == .dropLayer)
        #expect(take(layer: 2, isShared: false, after: Self.free) == .dropLayer)
        #expect(take(layer: 0, isShared: false, after: Self.free) == .send)
        #expect(take(layer: 2, isShared: false, after: Self.free) == .send)
    }
}
