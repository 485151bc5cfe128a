import MediaCore
import Testing
import VideoCoding

@testable import EncoderSharing

/// The planner's view of receivers, with made-up formats.
@Suite struct GroupPlanningTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private static func downlink(width: Int) -> DownlinkPipeline {
        DownlinkPipeline(
            format: EncodeFormat(
                dimensions: VideoDimensions(width: width, height: 180), properties: CompressionProperties()),
            bitRate: .kilobits(500))
    }

    @Test("formats that nobody has any more are forgotten, and the others keep their groups")
    func formats() throws {
        var planning = GroupPlanning(hasLayers: false)
        var known: [GroupPlanning.Known] = []
        var stays: Set<EncodeGroupID> = []
        for offer in 0..<1000 {
            let now = Self.start + .milliseconds(100) * offer
            planning.beginNeeds()
            planning.addNeed(of: Self.downlink(width: 320), id: 1, picture: 0, now: now)
            planning.addNeed(of: Self.downlink(width: 322 + 2 * offer), id: 2, picture: 0, now: now)
            known = try planning.update(known, budget: 2, now: now).map { group in
                GroupPlanning.Known(
                    id: group.id, format: try #require(planning.format(of: group)), members: group.members,
                    rate: group.rate, isRateKept: group.isRateKept, expectsKeyframe: false)
            }
            #expect(known.map(\.format.dimensions.width).sorted() == [320, 322 + 2 * offer])
            stays.formUnion(known.lazy.filter { $0.members == [1] }.map(\.id))
        }
        #expect(stays.count == 1)
        #expect(planning.formats.count <= 4, "\(planning.formats.count)")
    }
}
