import EncoderSharing
import MediaCore
import Testing

@testable import Conference

/// The reason for which a participant's picture is not better, as snapshots tell it.
@Suite struct DownlinkLimitTests {
    private static let canvas = VideoDimensions(width: 1280, height: 720)
    /// Content that a rate of 2 Mbit/s does not show well in all its pictures.
    private static let sport = ContentComplexity(
        qp: 41, rate: .megabits(2), rung: EncodeRung(dimensions: canvas, frameRate: 30))

    private func group(
        _ rate: BitRate, preference: Ladder.DegradationPreference = .motion, content: ContentComplexity? = nil,
        isSmallerThanCanvas: Bool = false
    ) -> EncodeGroup {
        EncodeGroup(
            dimensions: Self.canvas, rate: rate, preference: preference, content: content,
            isSmallerThanCanvas: isSmallerThanCanvas)
    }

    @Test("with enough bits for the whole picture it is the receiver's level, or there is none")
    func enough() {
        #expect(group(.megabits(2)).limit == nil)
        #expect(group(.megabits(2), isSmallerThanCanvas: true).limit == .receiver)
    }

    @Test("it is the network if the picture has few bits for its size, is smaller for their want, or comes less often")
    func tooFew() {
        let soft = group(.kilobits(400), isSmallerThanCanvas: true)
        #expect(!soft.isRungReduced && soft.limit == .network)
        let smaller = group(.megabits(2), content: Self.sport)
        #expect(smaller.rung.dimensions.area < Self.canvas.area && smaller.limit == .network)
        let rarer = group(.megabits(2), preference: .detail, content: Self.sport)
        #expect(rarer.rung.dimensions == Self.canvas && rarer.rung.frameRate < 30 && rarer.limit == .network)
    }
}
