import Compositing
import MediaCore
import Testing

@testable import Conference

/// What is wanted of a source, by how it is seen.
@Suite struct UplinkDemandTests {
    private let large = VideoDimensions(width: 1280, height: 720)
    private let half = VideoDimensions(width: 640, height: 360)
    private let small = VideoDimensions(width: 320, height: 180)
    private let nothing = VideoDimensions(width: 0, height: 0)

    private func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    @Test("a larger tile is reckoned with at once, a smaller one when it has been so for a while")
    func hysteresis() {
        var demand = UplinkDemand(tile: small)
        var hasChanged = demand.observe(large, now: at(0))
        #expect(hasChanged)
        #expect(demand.tile == large)
        hasChanged = demand.observe(small, now: at(1)) || demand.observe(small, now: at(3.9))
        #expect(!hasChanged)
        #expect(demand.tile == large)
        hasChanged = demand.observe(small, now: at(4))
        #expect(hasChanged)
        #expect(demand.tile == small)
    }

    @Test("a tile that grows again in between is never told to be small")
    func noFlapping() {
        var demand = UplinkDemand(tile: large)
        for second in 0..<20 {
            let hasChanged = demand.observe(second % 3 == 0 ? large : small, now: at(Double(second)))
            #expect(!hasChanged)
        }
        #expect(demand.tile == large)
    }

    @Test("of several smaller tiles the largest counts")
    func largestOfSmaller() {
        var demand = UplinkDemand(tile: large)
        _ = demand.observe(small, now: at(0))
        _ = demand.observe(half, now: at(1))
        _ = demand.observe(nothing, now: at(2))
        var hasChanged = demand.observe(nothing, now: at(3))
        #expect(hasChanged)
        #expect(demand.tile == half)
        hasChanged = demand.observe(nothing, now: at(5.9))
        #expect(!hasChanged)
        hasChanged = demand.observe(nothing, now: at(6))
        #expect(hasChanged)
        #expect(!demand.isSeen)
    }

    @Test("a rate falls with the tile, more slowly than its area, and never to nothing")
    func rates() {
        func rate(_ size: VideoDimensions, _ content: SourceContent = .camera, at frameRate: Int = 30) -> Double {
            Double(UplinkDemand.bitRate(of: size, frameRate: frameRate, content: content).bitsPerSecond)
        }
        #expect((1_700_000...2_200_000).contains(rate(large)))
        #expect((600_000...800_000).contains(rate(half)))
        #expect((200_000...300_000).contains(rate(small)))
        #expect(rate(half) / rate(large) > 0.25 && rate(half) / rate(large) < 0.5)
        #expect(rate(half, at: 15) == rate(half) / 2)
        #expect(rate(half, .slides) == 2 * rate(half))
        #expect(rate(VideoDimensions(width: 32, height: 18)) == 120_000)
        #expect(rate(nothing) == 60_000)
        // Sizes and frame rates out of this world make no trouble.
        let huge = VideoDimensions(width: 1 << 16, height: 1 << 16)
        #expect(rate(huge, at: .max) > rate(large))
        #expect(rate(small, at: .min) == 120_000)
        let demand = UplinkDemand(tile: half)
        #expect(
            demand.maximumBitRate(frameRate: 30, content: .camera) > demand.bitRate(frameRate: 30, content: .camera))
    }

    @Test("decoding costs less the smaller the tile is beside the picture, and screens are left as they are")
    func effort() {
        func effort(_ tile: VideoDimensions, _ content: SourceContent = .camera) -> UplinkEffort {
            UplinkDemand(tile: tile).effort(for: large, content: content, canPause: true)
        }
        #expect(effort(large) == .full)
        #expect(effort(VideoDimensions(width: 642, height: 362)) == .full)
        #expect(effort(half) == .filteredReferences)
        #expect(effort(small) == .referenceFrames)
        #expect(effort(nothing) == .keyFrames)
        #expect(effort(small, .slides) == .full)
        #expect(effort(nothing, .slides) == .keyFrames)
        // Filled by the picture's middle.
        #expect(effort(VideoDimensions(width: 180, height: 720)) == .full)
        // Who cannot be asked for a keyframe goes on.
        let unseen = UplinkDemand(tile: nothing)
        #expect(unseen.effort(for: large, content: .camera, canPause: false) == .referenceFrames)
        #expect(UplinkDemand(tile: small).effort(for: nil, content: .camera, canPause: true) == .full)
    }
}
