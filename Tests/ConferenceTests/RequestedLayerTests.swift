import Compositing
import MediaCore
import Testing

@testable import Conference

/// The layer that is requested from a source, depending on how it is seen.
@Suite struct RequestedLayerTests {
    private let large = VideoDimensions(width: 1280, height: 720)
    private let half = VideoDimensions(width: 640, height: 360)
    private let small = VideoDimensions(width: 320, height: 180)
    private let nothing = VideoDimensions(width: 0, height: 0)

    private func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    @Test("a larger tile counts at once, a smaller one after some time")
    func hysteresis() {
        var demand = RequestedLayer(tile: small)
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
        var demand = RequestedLayer(tile: large)
        for second in 0..<20 {
            let hasChanged = demand.observe(second % 3 == 0 ? large : small, now: at(Double(second)))
            #expect(!hasChanged)
        }
        #expect(demand.tile == large)
    }

    @Test("of several smaller tiles the largest counts")
    func largestOfSmaller() {
        var demand = RequestedLayer(tile: large)
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

    @Test("decoding costs less the smaller the tile is beside the picture, and screens are left as they are")
    func skipMode() {
        func skipMode(_ tile: VideoDimensions, _ content: SourceContent = .camera) -> DecodeSkipMode {
            RequestedLayer(tile: tile).skipMode(for: large, content: content, canPause: true)
        }
        #expect(skipMode(large) == .full)
        #expect(skipMode(VideoDimensions(width: 642, height: 362)) == .full)
        #expect(skipMode(half) == .filteredReferences)
        #expect(skipMode(small) == .referenceFrames)
        #expect(skipMode(nothing) == .keyframes)
        #expect(skipMode(small, .screenShare) == .full)
        #expect(skipMode(nothing, .screenShare) == .keyframes)
        // Filled by the picture's middle.
        #expect(skipMode(VideoDimensions(width: 180, height: 720)) == .full)
        // A source that cannot be asked for a keyframe continues.
        let unseen = RequestedLayer(tile: nothing)
        #expect(unseen.skipMode(for: large, content: .camera, canPause: false) == .referenceFrames)
        #expect(RequestedLayer(tile: small).skipMode(for: nil, content: .camera, canPause: true) == .full)
    }
}
