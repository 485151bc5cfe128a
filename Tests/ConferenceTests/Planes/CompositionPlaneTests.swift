import Compositing
import MediaCore
import RoomAPI
import Testing

@testable import Conference

/// The composition of a room's pictures alone: no connection, no socket, no sleep.
@Suite struct CompositionPlaneTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let canvas = VideoDimensions(width: 320, height: 180)

    private func makePlane() -> CompositionPlane {
        var configuration = RelayConfiguration()
        configuration.transitions = .off
        return CompositionPlane(room: "room", configuration: configuration, queue: JobQueueID(rawValue: 1))
    }

    /// A room of these members, numbered from 1, all of whom send and watch.
    private func scene(_ count: Int, showsSelf: Bool = true, layout: RoomLayout = .grid) -> RoomScene {
        RoomScene(
            layout: layout, overlays: [],
            members: (1...count).map { number in
                RoomScene.Member(
                    id: ParticipantID(rawValue: UInt64(number)), publicID: "p\(number)", name: "Member \(number)",
                    isSource: true, layout: nil, showsSelf: showsSelf, canvas: Self.canvas, isComposed: true,
                    mayBeSent: true)
            }, presenters: [], speakers: [])
    }

    private func setCanvases(_ plane: CompositionPlane, of scene: RoomScene) {
        plane.setCanvases(
            Dictionary(uniqueKeysWithValues: scene.members.map { ($0.id, ReceiverCanvases(own: Self.canvas)) }))
    }

    private func plan(_ plane: CompositionPlane, _ scene: RoomScene) -> ViewPlan {
        setCanvases(plane, of: scene)
        return plane.plan(at: MediaTime(Self.start)) { scene }.plan
    }

    @Test("receivers with the same view share one picture, and those without a self-view have one each")
    func sharing() {
        #expect(plan(makePlane(), scene(4)).requests.count == 1)
        #expect(plan(makePlane(), scene(4, showsSelf: false)).requests.count == 4)
    }

    @Test("a plan holds until a change is reported")
    func planHolds() {
        let plane = makePlane()
        let members = scene(3)
        let first = plan(plane, members)
        #expect(first.end == .positiveInfinity)
        // The scene is not looked at again.
        let (second, isDirected) = plane.plan(at: MediaTime(Self.start + .seconds(5))) {
            Issue.record("the scene is looked at although nothing has changed")
            return members
        }
        #expect(!isDirected && second.requests.count == first.requests.count)
        plane.viewsChanged()
        #expect(plane.plan(at: MediaTime(Self.start + .seconds(6))) { members }.isDirected)
    }

    @Test("no picture is made for a receiver to which nothing can be sent")
    func unconnected() {
        var members = scene(2, showsSelf: false)
        members.members[1].mayBeSent = false
        #expect(plan(makePlane(), members).requests.count == 1)
    }

    @Test("a tick is not begun before the one before it is done, and an empty room's renderer is called once more")
    func ticks() throws {
        let plane = makePlane()
        _ = plan(plane, scene(2))
        let job = try #require(
            plane.takeJob(at: Self.start, showing: [:], frames: [], clock: 0, now: Self.start))
        #expect(plane.isComposing)
        #expect(plane.takeJob(at: Self.start, showing: [:], frames: [], clock: 0, now: Self.start) == nil)
        guard case .composed(_, let tick) = job.run(clock: { Self.start }).output else { throw CancellationError() }
        plane.complete(tick)
        #expect(plane.ticks == 1 && plane.composedPictures == 1)
        plane.viewsChanged()
        _ = plane.plan(at: MediaTime(Self.start)) {
            RoomScene(layout: .grid, overlays: [], members: [], presenters: [], speakers: [])
        }
        #expect(plane.wantsTick)
        let last = try #require(plane.takeJob(at: Self.start, showing: [:], frames: [], clock: 0, now: Self.start))
        guard case .composed(_, let empty) = last.run(clock: { Self.start }).output else { throw CancellationError() }
        plane.complete(empty)
        #expect(!plane.wantsTick)
    }
}
