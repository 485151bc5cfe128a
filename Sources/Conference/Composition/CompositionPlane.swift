import Compositing
import EncoderSharing
import MediaCore
import OrderedCollections
import PeerConnection
import RoomAPI

/// Plans each receiver's picture and hands out the jobs that compose the pictures.
///
/// A plan holds until what is wanted changes or something that moves has come to rest. Receivers of the same picture
/// share it.
final class CompositionPlane {
    private let room: String
    private let configuration: RelayConfiguration
    private let renderer: QueueConfined<LazyRenderer>
    let queue: JobQueueID
    /// Cancels what is being composed when the room ends.
    private let cancellation = CompositionCancellation()
    private var views: OrderedDictionary<ParticipantID, View> = [:]
    private var canvases: [ParticipantID: ReceiverCanvases] = [:]
    /// Something has changed since receivers were last shown what is wanted for them.
    private var needsDirecting = true
    /// Others are to be given pictures now than those of the plan.
    private var needsPlan = false
    /// Which picture each receiver is sent; nil before the first tick.
    private(set) var plan: ViewPlan?
    /// The sources that are to be seen once nothing moves any more, and the largest tile of each.
    private(set) var wantedTiles: [SourceID: VideoDimensions] = [:]
    private var sharedView = SharedViewPolicy()
    /// The last pictures of ended sources that still fade out.
    private(set) var exiting = ExitingSources()
    /// The renderer holds pictures of the last tick.
    private var rendererHoldsPictures = false
    /// A tick's pictures are being composed.
    private(set) var isComposing = false

    private(set) var ticks: UInt64 = 0
    private(set) var missedTicks: UInt64 = 0
    private(set) var composedPictures: UInt64 = 0
    private(set) var pictures = PictureCounters()

    /// How a receiver's picture is planned.
    struct View {
        /// Receivers with the same number are to see the same, as soon as what glides has come to rest.
        var number = 0
        /// Whether motion or detail is kept where bits are few.
        var preference = Ladder.DegradationPreference.motion
        /// The part of the picture that each source takes.
        var shares: [(source: SourceID, share: Double)] = []
        /// Plan the picture: one for each size in which it is composed, that of the receiver's own group first.
        fileprivate var directors: [CompositionDirector] = []

        /// How the picture comes about and goes on.
        var plan: CompositionPlan? { directors.first?.plan }
    }

    init(room: String, configuration: RelayConfiguration, queue: JobQueueID) {
        self.room = room
        self.configuration = configuration
        self.queue = queue
        renderer = QueueConfined(LazyRenderer(makeCompositor: configuration.makeCompositor))
    }

    // MARK: What it is told

    /// The next tick works out anew what everybody is to be shown.
    func viewsChanged() { needsDirecting = true }

    /// The next tick works out anew who is given which picture.
    func receiversChanged() { needsPlan = true }

    /// Takes the sizes in which each receiver's picture is to be composed.
    func setCanvases(_ wanted: [ParticipantID: ReceiverCanvases]) {
        guard wanted != canvases else { return }
        canvases = wanted
        needsDirecting = true
    }

    /// Sees whether those who leave it to the relay see themselves.
    ///
    /// - Parameters:
    ///   - pictures: How many different ones it takes that they do not.
    ///   - encoders: How many there are; nil for as many as it takes.
    ///   - isForced: Whether there is no time for more than one picture.
    func chooseView(pictures: Int, encoders: Int?, isForced: Bool, now: MonotonicInstant) {
        if sharedView.update(pictures: pictures, budget: encoders, isForced: isForced, now: now) { viewsChanged() }
    }

    /// Whether a member's own tiles are in its picture.
    func showsSelf(_ selfView: SelfView, maySeeSelf: Bool) -> Bool {
        switch selfView {
        case .never: sharedView.isForced && maySeeSelf
        case .always: true
        case .auto: sharedView.isShared
        }
    }

    /// Whether there is no time for more than one picture.
    var sharedViewIsForced: Bool { sharedView.isForced }

    /// Keeps what a source shows that is about to end, for where it still fades out.
    func keepExiting(_ source: CompositionSource) {
        if plan?.requiredSources.contains(source.id) == true { exiting.insert(source) }
    }

    func remove(_ id: ParticipantID) {
        views[id] = nil
        canvases[id] = nil
    }

    /// The room is empty: what is being composed is not wanted.
    func end() { cancellation.cancel() }

    /// How a receiver's picture is planned; nil before it was.
    func view(of id: ParticipantID) -> View? { views[id] }

    // MARK: Plans

    /// The picture of each receiver at a time. Also returns whether receivers are to see something else than before.
    func plan(at time: MediaTime, of scene: () -> RoomScene) -> (plan: ViewPlan, isDirected: Bool) {
        let isDirected = needsDirecting
        if !needsDirecting, !needsPlan, let plan, time < plan.end { return (plan, false) }
        let scene = scene()
        if needsDirecting { direct(scene, at: time) }
        (needsDirecting, needsPlan) = (false, false)
        let plan = makePlan(scene, at: time)
        self.plan = plan
        exiting.keep(plan.requiredSources)
        return (plan, isDirected)
    }

    /// Shows every receiver, from a tick on, what is wanted for them as things are.
    private func direct(_ scene: RoomScene, at time: MediaTime) {
        wantedTiles.removeAll(keepingCapacity: true)
        var numbers: [CompositionView: Int] = [:]
        for receiver in scene.members {
            var view = views.removeValue(forKey: receiver.id) ?? View()
            defer { views[receiver.id] = view }
            guard let sizes = canvases[receiver.id], let whole = receiver.canvas else {
                (view.directors, view.shares) = ([], [])
                continue
            }
            // Two views are equal if they differ only in size.
            let wholeView = scene.view(for: receiver, canvas: whole, images: configuration.images)
            view.number = numbers[wholeView] ?? numbers.count
            numbers[wholeView] = view.number
            view.preference = wholeView.preference(on: whole)
            view.shares = wholeView.shares
            var before = view.directors
            // Nobody else holds them, so that they are changed in their place.
            view.directors = []
            for canvas in [sizes.own, sizes.followed].compactMap(\.self) {
                let wanted =
                    canvas == whole
                    ? wholeView : scene.view(for: receiver, canvas: canvas, images: configuration.images)
                let known = before.firstIndex { $0.canvas == canvas }
                // One of another size begins with what is wanted now: nothing glides because the size is another.
                var director =
                    known.map { before.remove(at: $0) }
                    ?? CompositionDirector(canvas: canvas, transitions: configuration.transitions)
                director.show(wanted, at: time)
                view.directors.append(director)
                for layer in wanted.layers {
                    let size = layer.rect.dimensions
                    if size.area > wantedTiles[layer.source]?.area ?? 0 { wantedTiles[layer.source] = size }
                }
            }
        }
    }

    private func makePlan(_ scene: RoomScene, at time: MediaTime) -> ViewPlan {
        var plan = ViewPlan()
        // Nothing can be sent before there are keys and an address: a join alone costs no picture.
        for receiver in scene.members where receiver.mayBeSent {
            let directors = views[receiver.id]?.directors ?? []
            guard receiver.isComposed else {
                if let director = directors.first {
                    plan.record(director.instruction(at: time), for: receiver.id)
                }
                continue
            }
            for (position, director) in directors.enumerated() {
                plan.add(
                    director.instruction(at: time), canvas: director.canvas, for: receiver.id, isFollowed: position > 0)
            }
        }
        return plan
    }

    // MARK: Ticks

    /// Whether a tick is to be composed. Where nobody looks any more, the renderer is called once more, to let go of
    /// what it holds.
    var wantsTick: Bool { plan.map { !$0.requests.isEmpty } ?? false || rendererHoldsPictures }

    /// A tick is left out, since the pictures of the one before are not done.
    func tickMissed() { missedTicks &+= 1 }

    /// The job that composes a tick's pictures.
    ///
    /// - Parameters:
    ///   - sources: Pictures or placeholders of the plan's sources that have not ended.
    ///   - frames: Which frames those are.
    ///   - clock: The time of day, in seconds since 1970.
    func takeJob(
        at time: MonotonicInstant, showing sources: [SourceID: CompositionSource], frames: [SourceFrameTimes],
        clock: Int64, now: MonotonicInstant
    ) -> Job? {
        guard let plan, !isComposing else { return nil }
        var shown = sources
        for id in plan.requiredSources {
            // It is there again, or was not quite gone.
            if sources[id] != nil { exiting.remove(id) } else { shown[id] = exiting[id] }
        }
        let inputs = CompositionInputs(sources: shown, wallClock: plan.showsClock ? clock : nil)
        isComposing = true
        rendererHoldsPictures = !plan.requests.isEmpty
        let (renderer, room, cancellation) = (renderer, room, cancellation)
        return Job(kind: .compose, queue: queue, deadline: time, handedOut: now) {
            let composed = renderer.value.render(
                plan.requests, inputs: inputs, at: MediaTime(time), cancellation: cancellation)
            return .composed(
                room: room,
                ComposedTick(
                    captureTime: time, composed: composed, plan: plan, frames: frames,
                    sourceCount: inputs.sources.count, handedOut: now))
        }
    }

    /// A tick's pictures are there.
    func complete(_ tick: ComposedTick) {
        isComposing = false
        ticks &+= 1
        composedPictures &+= UInt64(tick.pictures.count)
        pictures.count(tick.origins)
    }
}
