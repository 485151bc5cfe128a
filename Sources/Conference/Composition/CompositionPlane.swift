import Compositing
import EncoderSharing
import MediaCore
import OrderedCollections
import PeerConnection
import RoomAPI

/// Plans each receiver's picture and returns the jobs that compose the pictures.
///
/// A plan is valid until a view changes or a transition ends. Receivers of the same picture share it.
final class CompositionPlane {
    private let room: String
    private let configuration: RelayConfiguration
    private let renderer: QueueConfined<LazyRenderer>
    let queue: JobQueueID
    /// Cancels composing when the room ends.
    private let cancellation = CompositionCancellation()
    private var views: OrderedDictionary<ParticipantID, View> = [:]
    private var canvases: [ParticipantID: ReceiverCanvases] = [:]
    /// True if views must be updated because something changed.
    private var needsDirecting = true
    /// True if the plan must be updated because other receivers need pictures.
    private var needsPlan = false
    /// The picture of each receiver; nil before the first tick.
    private(set) var plan: ViewPlan?
    /// The sources that are visible after all transitions, with the largest tile of each.
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

    /// The plan of a receiver's picture.
    struct View {
        /// A number that is equal for receivers that will see the same after their transitions.
        var number = 0
        /// The preference for motion or detail at low bitrates.
        var preference = Ladder.DegradationPreference.motion
        /// The part of the picture that each source takes.
        var shares: [(source: SourceID, share: Double)] = []
        /// Plan the picture: one for each size in which it is composed, that of the receiver's own group first.
        fileprivate var directors: [CompositionDirector] = []
        /// True from the first plan on that is for the receiver.
        fileprivate var isShown = false

        /// The instructions of the picture, past and future.
        var plan: CompositionPlan? { directors.first?.plan }
    }

    init(room: String, configuration: RelayConfiguration, queue: JobQueueID) {
        self.room = room
        self.configuration = configuration
        self.queue = queue
        renderer = QueueConfined(
            LazyRenderer(
                makeCompositor: configuration.makeCompositor, device: configuration.composingDevice,
                surfaceCopies: configuration.copiesOfComposed))
    }

    // MARK: What it is told

    /// Makes the next tick update everybody's view.
    func viewsChanged() { needsDirecting = true }

    /// Makes the next tick assign pictures to receivers again.
    func receiversChanged() { needsPlan = true }

    /// Sets the sizes in which each receiver's picture is composed.
    func setCanvases(_ wanted: [ParticipantID: ReceiverCanvases]) {
        guard wanted != canvases else { return }
        canvases = wanted
        needsDirecting = true
    }

    /// Decides whether participants without a choice of their own see themselves.
    ///
    /// - Parameters:
    ///   - pictures: The number of different pictures that are needed if they do not.
    ///   - encoders: The number of encoders; nil for as many as needed.
    ///   - isForced: True if there is no time for more than one picture.
    func chooseView(pictures: Int, encoders: Int?, isForced: Bool, now: MonotonicInstant) {
        if sharedView.update(pictures: pictures, budget: encoders, isForced: isForced, now: now) { viewsChanged() }
    }

    /// True if a member's own tiles are in its picture, while there is time for a picture each.
    func showsSelf(_ selfView: SelfView) -> Bool {
        switch selfView {
        case .never: false
        case .always: true
        case .auto: sharedView.isShared
        }
    }

    /// Keeps the content of a source that is about to end, for pictures in which it still fades out.
    func keepExiting(_ source: CompositionSource) {
        if plan?.requiredSources.contains(source.id) == true { exiting.insert(source) }
    }

    func remove(_ id: ParticipantID) {
        views[id] = nil
        canvases[id] = nil
    }

    /// Cancels composing, because the room is empty.
    func end() { cancellation.cancel() }

    /// The plan of a receiver's picture; nil before the first.
    func view(of id: ParticipantID) -> View? { views[id] }

    // MARK: Plans

    /// Returns the picture of each receiver at a time, and whether any receiver sees something else than before.
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

    /// Shows every receiver its current view, from a tick on.
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
            // Nothing else holds the directors now, so they are changed in place.
            view.directors = []
            for canvas in [sizes.own, sizes.followed].compactMap(\.self) {
                let wanted =
                    canvas == whole
                    ? wholeView : scene.view(for: receiver, canvas: canvas, images: configuration.images)
                // The first view that is shown moves nothing, for nobody has seen an earlier one.
                let known = view.isShown ? before.firstIndex { $0.canvas == canvas } : nil
                // A director for another size begins with the present view: a change of size moves nothing.
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
        // Without keys and an address nothing can be sent, so a join alone costs no picture.
        for receiver in scene.members where receiver.mayBeSent {
            views[receiver.id]?.isShown = true
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

    /// True if the next tick must compute the shown sources or their receivers again.
    var isOutdated: Bool { needsDirecting || needsPlan }

    /// True if pictures change only with their sources: without animation and clock.
    var isStill: Bool {
        !isOutdated && exiting.count == 0 && plan.map { $0.end == .positiveInfinity && !$0.showsClock } ?? false
    }

    /// True if a tick must be composed. When no viewer is left, the renderer is called once more, to release its
    /// memory.
    var wantsTick: Bool { plan.map { !$0.requests.isEmpty } ?? false || rendererHoldsPictures }

    /// A tick is left out, since the pictures of the one before are not done.
    func tickMissed() { missedTicks &+= 1 }

    /// Returns the job that composes a tick's pictures.
    ///
    /// - Parameters:
    ///   - sources: Pictures or placeholders of the plan's sources that have not ended.
    ///   - frames: The frames of these pictures.
    ///   - clock: The time of day, in seconds since 1970.
    func takeJob(
        at time: MonotonicInstant, showing sources: [SourceID: CompositionSource], frames: [SourceFrameTimes],
        clock: Int64, now: MonotonicInstant
    ) -> Job? {
        guard let plan, !isComposing else { return nil }
        var shown = sources
        for id in plan.requiredSources {
            // The source is there again, or had not ended completely.
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
                    sourceCount: inputs.sources.count, device: renderer.value.takeDeviceWork(), handedOut: now))
        }
    }

    /// Takes a tick's finished pictures.
    func complete(_ tick: ComposedTick) {
        isComposing = false
        ticks &+= 1
        composedPictures &+= UInt64(tick.pictures.count)
        pictures.count(tick.origins)
    }
}
