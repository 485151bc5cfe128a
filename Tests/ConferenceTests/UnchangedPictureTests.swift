import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import Testing
import VideoCoding

@testable import Conference

/// How often an encoder makes frames of a picture that stays the same.
@Suite struct UnchangedPictureTests {
    private static let dimensions = VideoDimensions(width: 320, height: 180)
    private static let rate = BitRate.kilobits(500)
    private static let format = EncodeFormat(dimensions: dimensions, properties: CompressionProperties())

    private let group = EncodeGroup(
        id: EncodeGroupID(rawValue: 1), queue: JobQueueID(rawValue: 1), format: format,
        encoder: LazyEncoder(backEnd: .openH264, format: format),
        bitRate: VideoBitRate(target: rate, sustained: rate),
        rung: RungSelector(ladder: Ladder(canvas: dimensions, frameRate: 30, preference: .motion), rate: rate),
        keyframeShare: 0.05)
    private let picture = PixelBuffer.pattern(.red, dimensions: dimensions, phase: 0)

    /// Encodes the picture at one of 30 ticks a second. Returns the frame; nil if the tick needs none.
    private func frame(at tick: Int64) throws -> EncodedFrame? {
        let now = MonotonicInstant.zero + .milliseconds(33) * tick
        var composed = ComposedTick(
            captureTime: now, composed: [], plan: ViewPlan(), frames: [], sourceCount: 0, handedOut: now)
        composed.pictures = [picture]
        composed.sources = [[]]
        let request = EncodeGroup.Request(
            tick: composed, index: 0, room: "room", deadline: now, limits: WorkLimits(), tickRate: 30)
        var demand = EncodeGroup.Demand(activeHasRoom: true)
        demand.bound(to: DataSize(bytes: 10_000))
        guard case .encoded(let job) = group.tick(request, demand: demand, now: now) else { return nil }
        let completion = job.run { now }
        guard case .encoded(_, let result) = completion.output else { return nil }
        group.complete(result, of: completion)
        return try #require(result.frame)
    }

    @Test("a keyframe of a picture that was sharp is sharpened as fast as a new picture")
    func keyframe() throws {
        for tick in Int64(0)..<200 { _ = try frame(at: tick) }
        #expect(group.isStill)
        group.requestKeyframe()
        let keyframe = try frame(at: 200)
        #expect(keyframe?.isKeyframe == true)
        #expect(!group.isStill)
        for tick in Int64(201)..<216 {
            let frame = try frame(at: tick)
            #expect(frame != nil, "tick \(tick)")
        }
        let next = try frame(at: 216)
        #expect(next == nil)
        #expect(group.isStill)
    }
}
