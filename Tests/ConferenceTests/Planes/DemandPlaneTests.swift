import MediaCore
import Testing

@testable import Conference

/// The requests to senders by themselves: no connection, no decoder, no sleep.
@Suite struct DemandPlaneTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let large = VideoDimensions(width: 1280, height: 720)
    private static let small = VideoDimensions(width: 320, height: 180)
    private let plane = DemandPlane(frameRate: 30)
    private let camera = SourceID.camera(1)

    private func state(
        tile: VideoDimensions?, shownRate: BitRate = .zero, age: Duration = .seconds(60),
        decoding: DemandPlane.Decoding? = nil
    ) -> DemandPlane.Source {
        DemandPlane.Source(
            id: camera, tile: tile, codedSize: Self.large, shownRate: shownRate, age: age, decoding: decoding)
    }

    private func update(
        _ state: DemandPlane.Source, after time: Duration = .zero, ratesAreNew: Bool = false
    ) -> DemandPlane.Decision {
        plane.update(state, ratesAreNew: ratesAreNew, now: Self.start + time)
    }

    @Test("a source is new at its first tick only, while nothing changes")
    func firstTick() {
        #expect(plane.layer(of: camera) == nil)
        #expect(update(state(tile: Self.large)).isNew)
        #expect(plane.layer(of: camera)?.tile == Self.large)
        #expect(!update(state(tile: Self.large), after: .milliseconds(33)).isNew)
        #expect(!update(state(tile: Self.large), after: .milliseconds(66), ratesAreNew: true).isNew)
    }

    @Test("a larger tile is requested at once, a smaller one after the patience")
    func tiles() throws {
        let little = try #require(update(state(tile: Self.small)).limit)
        let grown = update(state(tile: Self.large), after: .seconds(1))
        #expect(grown.isNew && plane.layer(of: camera)?.tile == Self.large)
        #expect(try #require(grown.limit) > little)
        let patience = RequestedLayer.patience
        #expect(!update(state(tile: Self.small), after: .seconds(2)).isNew)
        #expect(!update(state(tile: Self.small), after: .seconds(2) + patience - .milliseconds(1)).isNew)
        #expect(update(state(tile: Self.small), after: .seconds(2) + patience).isNew)
        #expect(plane.layer(of: camera)?.tile == Self.small)
    }

    @Test("a tile whose size makes no difference keeps the requested layer")
    func leaving() {
        _ = update(state(tile: Self.large))
        for seconds in 1..<10 { #expect(!update(state(tile: nil), after: .seconds(seconds)).isNew) }
        #expect(plane.layer(of: camera)?.tile == Self.large)
    }

    @Test("a receiver that shows more raises the request, once rates are new")
    func shownRates() throws {
        let before = try #require(update(state(tile: Self.small)).limit)
        let more = state(tile: Self.small, shownRate: .megabits(1))
        #expect(!update(more, after: .seconds(1)).isNew)
        let raised = update(more, after: .seconds(1), ratesAreNew: true)
        #expect(raised.isNew)
        #expect(try #require(raised.limit) > before)
    }

    @Test("a sender is asked for nothing before it has had the time to find its path")
    func age() {
        let young = DemandPlane.timeToFindThePath - .milliseconds(1)
        #expect(update(state(tile: Self.small, age: young)).limit == nil)
        #expect(update(state(tile: Self.small, age: DemandPlane.timeToFindThePath)).limit != nil)
    }

    @Test("a recorded source is asked to fill the recording's tile, however small it is shown")
    func recorded() throws {
        let usual = try #require(update(state(tile: Self.small)).limit)
        var recorded = state(tile: Self.small)
        recorded.leastTile = Self.large
        let decision = update(recorded, after: .seconds(1))
        #expect(try #require(decision.limit) > usual * 2)
        #expect(decision.isNew && plane.layer(of: camera)?.requestedTile == Self.large)
        #expect(plane.layer(of: camera)?.tile == Self.small)
    }

    @Test("a sender over the decode budget is asked for its first rate's share, until it fits")
    func decodeBudget() throws {
        func limited(_ share: Double?, _ rate: BitRate, after time: Duration) -> BitRate? {
            let excess = share.map { DemandPlane.Excess(allowedShare: $0, rate: rate) }
            return update(state(tile: Self.large, decoding: DemandPlane.Decoding(excess: excess)), after: time).limit
        }
        let usual = try #require(limited(nil, .zero, after: .zero))
        #expect(limited(0.5, .megabits(2), after: .seconds(1)) == .megabits(1))
        // The sender follows; its lower rate does not lower the request again.
        #expect(limited(0.5, .megabits(1), after: .seconds(2)) == .megabits(1))
        #expect(limited(0, .megabits(1), after: .seconds(3)) == DemandPlane.leastDecodable)
        #expect(limited(nil, .zero, after: .seconds(4)) == usual)
        #expect(limited(0.5, .kilobits(1000), after: .seconds(5)) == .kilobits(500))
    }

    @Test("the decode mode follows the tile, and needs a decoder")
    func skipModes() {
        #expect(update(state(tile: Self.small)).skipMode == nil)
        let decoding = DemandPlane.Decoding(size: Self.large)
        #expect(update(state(tile: Self.small, decoding: decoding)).skipMode == .referenceFrames)
        #expect(update(state(tile: Self.large, decoding: decoding)).skipMode == .full)
        plane.remove(camera)
        #expect(update(state(tile: .nothing, decoding: decoding)).skipMode == .keyframes)
    }

    @Test("a participant that left is forgotten, with its screen share")
    func removal() {
        _ = update(state(tile: Self.large))
        var screen = state(tile: Self.large)
        screen.id.content = .screenShare
        _ = update(screen)
        plane.remove(camera.participant)
        #expect(plane.layer(of: camera) == nil && plane.layer(of: screen.id) == nil)
        #expect(update(state(tile: Self.small)).isNew)
    }
}
