import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import OrderedCollections
import PeerConnection
import VideoCoding

/// A room's encoders: their receivers, and their work at each tick.
///
/// The planner decides which receivers share an encoder; each group keeps its own subscribers. A group ends with its
/// last subscriber. If the budget has no encoder for a new group, the group waits until the receivers that leave
/// another group have found their keyframes elsewhere.
final class EncoderPlane {
    private let room: String
    let configuration: RelayConfiguration
    private let queues: JobQueueAllocator
    private var planning: GroupPlanning
    private(set) var groups: [EncodeGroup] = []
    /// The receivers' ways down.
    private var downlinks: OrderedDictionary<ParticipantID, DownlinkPipeline> = [:]
    private var ladders: LadderTable
    /// Ticks a second, which overload control may have lowered.
    private var tickRate: Int
    /// The failure of the encode that was done last; nil if it did not fail.
    private(set) var failure: EncoderFailure?
    /// Frames and keyframes that the encoders made, and the bytes of both.
    private(set) var counters = EncodingCounters()

    init(room: String, configuration: RelayConfiguration, queues: JobQueueAllocator) {
        self.room = room
        self.configuration = configuration
        self.queues = queues
        tickRate = configuration.frameRate
        ladders = LadderTable(frameRate: configuration.frameRate, isOn: configuration.hasLadder)
        planning = GroupPlanning(hasLayers: configuration.makesTemporalLayers)
    }

    // MARK: Receivers

    /// Sends a member video from now on, or sends it otherwise; nil: none.
    func setDownlink(_ downlink: DownlinkPipeline?, of id: ParticipantID) {
        if downlink == nil || downlinks[id] != nil { removeFromGroups(id) }
        downlinks[id] = downlink
    }

    func remove(_ id: ParticipantID) { setDownlink(nil, of: id) }

    /// A receiver is sent a source's own packets: it needs no encoder.
    func leaveGroups(_ id: ParticipantID) {
        removeFromGroups(id)
        downlinks[id]?.leftGroups()
    }

    private func removeFromGroups(_ id: ParticipantID) {
        for group in groups { group.subscribers.remove(id) }
    }

    /// Sets the rate that a receiver's network carries.
    func setBitRate(_ rate: VideoBitRate, of id: ParticipantID) { downlinks[id]?.bitRate = rate }

    func downlink(of id: ParticipantID) -> DownlinkPipeline? { downlinks[id] }

    var receivers: some Sequence<ParticipantID> { downlinks.keys }

    /// The group that a receiver belongs to.
    func group(of id: ParticipantID) -> EncodeGroup? { groups.first { $0.subscribers.contains(id) } }

    /// The group whose frames a receiver is sent.
    func source(of id: ParticipantID) -> EncodeGroup? { groups.first { $0.subscribers.isSent(id) } }

    /// Returns true if a member gets video.
    func isReceiver(_ id: ParticipantID) -> Bool { downlinks[id] != nil }

    /// The rate at which a receiver's picture is encoded, and its QP over time; nil for a receiver without video.
    func encoding(for id: ParticipantID) -> (rate: BitRate, qp: Double?)? {
        guard let downlink = downlinks[id] else { return nil }
        let group = group(of: id)
        return (group?.bitRate.sustained ?? downlink.bitRate.sustained, group?.qp)
    }

    /// Returns true if a receiver requests more keyframes than others should pay for.
    func asksTooOften(_ id: ParticipantID, now: MonotonicInstant) -> Bool {
        downlinks[id]?.keyframeLimiter.isExceeded(now: now) ?? false
    }

    /// The reason for which a receiver belongs to its group.
    func reason(of id: ParticipantID) -> EncodeGroupPlanner.Reason? { planning.reason(of: id) }

    /// True if all receivers have the last picture as sharp as it gets.
    var isStill: Bool { groups.allSatisfy(\.isStill) }

    /// The time from one tick to the next that is needed while no picture changes.
    var unchangedInterval: Duration {
        groups.lazy.map(\.unchangedInterval).min() ?? UnchangedPicture.shortestInterval
    }

    /// The number of moves of receivers between groups.
    var moves: UInt64 { planning.moves }

    // MARK: Sizes

    /// The sizes in which each receiver's picture is composed.
    func canvases(of viewers: some Sequence<(id: ParticipantID, preference: Ladder.DegradationPreference)>)
        -> [ParticipantID: ReceiverCanvases]
    {
        var own: [ParticipantID: VideoDimensions] = [:]
        var followed: [ParticipantID: VideoDimensions] = [:]
        for group in groups {
            for id in group.subscribers.ids {
                if group.subscribers.contains(id) { own[id] = group.rung.dimensions }
                if group.subscribers[id] == .leaving { followed[id] = group.rung.dimensions }
            }
        }
        var canvases: [ParticipantID: ReceiverCanvases] = [:]
        for (id, preference) in viewers {
            guard let downlink = downlinks[id] else { continue }
            let size = own[id] ?? ladders.ladder(downlink.format, preference).top.dimensions
            canvases[id] = ReceiverCanvases(own: size, followed: followed[id] == size ? nil : followed[id])
        }
        return canvases
    }

    // MARK: Ticks

    /// Has a tick's pictures encoded.
    ///
    /// - Parameter interval: From one tick to the next.
    func takeJobs(
        for tick: ComposedTick, to viewers: Viewers, interval: Duration, limits: WorkLimits, now: MonotonicInstant
    ) -> Work {
        tickRate = limits.maximumFrameRate ?? configuration.frameRate
        plan(for: viewers, of: tick, limits: limits, now: now)
        let mostEncoders = mostEncoders(limits)
        var work = Work()
        var running = groups.count(where: \.hasStarted)
        for group in groups {
            if let dropped = group.dropPostponed() { work.overtaken.append(leaveOut(dropped, of: group)) }
            let wasRunning = group.hasStarted
            guard wasRunning || running < mostEncoders, let index = group.index(in: tick) else { continue }
            // Encoders may be a tick late before a picture is left out.
            let request = EncodeGroup.Request(
                tick: tick, index: index, room: room, deadline: tick.captureTime + interval * 2, limits: limits,
                tickRate: tickRate)
            switch group.tick(request, demand: demand(for: group, of: viewers, now: now), now: now) {
            case .encoded(let job):
                if !wasRunning { running += 1 }
                work.jobs.append(job)
            case .postponed: work.postponed += 1
            case .replaced(let tick):
                work.overtaken.append(leaveOut(tick, of: group))
                work.postponed += 1
            case .idle: break
            case .leftOut: countLeftOut(group)
            }
        }
        // From the next tick on.
        for group in groups { chooseRung(of: group, for: viewers, now: now) }
        return work
    }

    /// The receivers for which a job has encoded, or may continue to.
    func subscribers(of queue: JobQueueID) -> [ParticipantID] {
        groups.first { $0.queue == queue }.map { Array($0.subscribers.ids) } ?? []
    }

    /// The encode job of a picture that has waited for an encoder that is done now, if any.
    func resume(_ queue: JobQueueID, for viewers: ([ParticipantID]) -> Viewers, now: MonotonicInstant) -> Job? {
        guard let group = groups.first(where: { $0.queue == queue }), group.hasPostponed else { return nil }
        switch group.resume(demand: demand(for: group, of: viewers(subscribers(of: queue)), now: now), now: now) {
        case .encoded(let job): return job
        case .leftOut: countLeftOut(group)
        case .idle, .postponed, .replaced: break
        }
        return nil
    }

    /// Counts the picture of a tick that a newer one has overtaken; returns the tick.
    private func leaveOut(_ tick: MonotonicInstant, of group: EncodeGroup) -> MonotonicInstant {
        countLeftOut(group)
        return tick
    }

    private func countLeftOut(_ group: EncodeGroup) {
        for id in group.subscribers.ids where group.subscribers.isSent(id) { downlinks[id]?.frameLeftOut() }
    }

    /// The largest number of encoders; nil for one per receiver.
    func budget(_ limits: WorkLimits) -> Int? { limits.maximumEncoders ?? configuration.maximumEncoders }

    /// The most encoders that run at once.
    private func mostEncoders(_ limits: WorkLimits) -> Int {
        guard let budget = budget(limits) else { return .max }
        return max(budget, groups.count { $0.subscribers.memberCount > 0 })
    }

    // MARK: Who shares an encoder

    private func plan(for viewers: Viewers, of tick: ComposedTick, limits: WorkLimits, now: MonotonicInstant) {
        planning.beginNeeds()
        for viewer in viewers.values {
            guard let downlink = downlinks[viewer.id], tick.pictureIndex[viewer.id] != nil,
                viewer.link.canSendVideo, viewer.isComposed
            else { continue }
            planning.addNeed(of: downlink, id: viewer.id, picture: viewer.viewNumber, now: now)
        }
        if planning.isDue(now: now) {
            let planned = planning.update(groups.map(\.known), budget: budget(limits), now: now)
            adopt(planned, for: viewers, now: now)
        }
        for group in groups where group.subscribers.memberCount > 0 { updateRate(of: group, for: viewers, now: now) }
        endGroups(limits)
    }

    /// Moves the receivers to the groups that are planned for them.
    private func adopt(_ planned: [EncodeGroupPlanner.Group], for viewers: Viewers, now: MonotonicInstant) {
        for plan in planned where !groups.contains(where: { $0.id == plan.id }) {
            if let group = makeGroup(plan, for: viewers) { groups.append(group) }
        }
        for group in groups {
            let plan = planned.first { $0.id == group.id }
            if let plan { group.planned = (plan.rate, plan.isRateKept) }
            for id in group.subscribers.setMembers(plan?.members ?? []) { downlinks[id]?.moved(now: now) }
        }
        // A receiver that belongs to no group is sent nothing, so no encoder runs on for it.
        let unreachable = groups.flatMap(\.subscribers.receivers).filter { group(of: $0) == nil }
        for id in unreachable { leaveGroups(id) }
    }

    private func makeGroup(_ plan: EncodeGroupPlanner.Group, for viewers: Viewers) -> EncodeGroup? {
        guard let format = planning.format(of: plan) else { return nil }
        let encoder = LazyEncoder(
            backEnd: configuration.encoder, hardware: configuration.hardware, make: configuration.makeEncoder,
            format: format)
        let sole = plan.members.count == 1 ? plan.members.first.flatMap { downlinks[$0]?.bitRate } : nil
        let rate = sole ?? VideoBitRate(target: plan.rate, sustained: plan.rate)
        let viewer = plan.members.first.flatMap { viewers[$0] }
        let known = group(withContentOf: viewer, among: viewers)
        // The highest rung that is known to be good.
        let rung = RungSelector(
            ladder: ladders.ladder(format, viewer?.preference ?? .motion), rate: rate.sustained,
            cost: known?.complexity, tickRate: tickRate)
        return EncodeGroup(
            id: plan.id, queue: queues.next(), format: format, encoder: encoder, bitRate: rate, rung: rung,
            keyframeSizes: known?.keyframeSizes ?? KeyframeSizeModel(),
            keyframeShare: configuration.sharedKeyframeShare)
    }

    /// Sets a group's rate: its one receiver's, or the plan's.
    private func updateRate(of group: EncodeGroup, for viewers: Viewers, now: MonotonicInstant) {
        let sole = group.subscribers.memberCount == 1 ? group.subscribers.first : nil
        // The rate of one member's next frame, which may be low to drain its queue, counts only if it is alone.
        let rate =
            sole.flatMap { downlinks[$0]?.bitRate }
            ?? VideoBitRate(target: group.planned.rate, sustained: group.planned.rate)
        group.update(
            bitRate: rate, isShared: sole == nil || group.subscribers.hasLeaving,
            recovers: sole.flatMap { viewers[$0]?.link.acknowledgesPictures } ?? false,
            needsLayers: configuration.makesTemporalLayers
                && group.subscribers.ids.contains { downlinks[$0]?.needsLayers(now: now) ?? false })
    }

    /// Ends the groups that nobody belongs to and nobody is sent.
    private func endGroups(_ limits: WorkLimits) {
        let isBlocked = groups.count(where: \.hasStarted) >= mostEncoders(limits) && groups.contains { !$0.hasStarted }
        // The groups are read meanwhile, so they are not changed in place.
        groups = groups.filter { group in
            guard group.subscribers.memberCount == 0 else { return true }
            let receivers = group.subscribers.receivers
            // An encoder that has not begun begins with a keyframe: none of its receivers need wait for it in a group
            // whose encoder it is to have.
            let isReplaced = isBlocked && receivers.allSatisfy { !(self.group(of: $0)?.hasStarted ?? true) }
            guard !receivers.isEmpty, !isReplaced else { return false }
            if let slowest = receivers.compactMap({ downlinks[$0]?.bitRate.sustained }).min() {
                group.bitRate = VideoBitRate(target: slowest, sustained: slowest)
            }
            return true
        }
    }

    // MARK: Rungs

    /// Lets a group change to the rung that its pictures demand.
    private func chooseRung(of group: EncodeGroup, for viewers: Viewers, now: MonotonicInstant) {
        let members = group.subscribers.members
        guard let first = members.first else { return }
        let slowest = members.compactMap { downlinks[$0]?.bitRate.sustained }.min() ?? group.bitRate.sustained
        let preference = viewers[first]?.preference ?? .motion
        group.chooseRung(
            in: ladders.ladder(group.format, preference), slowest: slowest, tickRate: tickRate, now: now)
    }

    /// A group that knows the content of what a viewer sees: the one whose frames that viewer is sent, or another
    /// viewer of the same.
    private func group(withContentOf viewer: Viewer?, among viewers: Viewers) -> EncodeGroup? {
        let others = viewers.values.lazy.filter { $0.viewNumber == viewer?.viewNumber }
        let known = ([viewer].compactMap(\.self) + others).lazy.compactMap { self.source(of: $0.id) }
        return known.first { $0.complexity != nil } ?? known.first
    }

    // MARK: Keyframes and losses

    /// Takes a receiver's request for a keyframe of a shared encoder, or of a source's sender. Returns false if it
    /// requests too many: then the encoder makes none for it, and in place of a sender's frames it gets an encoder's.
    func takeKeyframeRequest(by id: ParticipantID, now: MonotonicInstant) -> Bool {
        downlinks[id]?.keyframeLimiter.take(now: now) ?? false
    }

    /// A receiver asks for a keyframe of the encoder whose frames it is sent.
    func keyframeRequested(by id: ParticipantID, now: MonotonicInstant) {
        // A receiver that waits for a keyframe gets one anyway.
        guard let group = source(of: id) else { return }
        if !group.isShared || takeKeyframeRequest(by: id, now: now) { group.requestKeyframe() }
    }

    /// Records that a receiver lost a picture; it continues with any picture that refers only to acknowledged ones.
    func pictureLost(by id: ParticipantID, roundTripTime: Duration, now: MonotonicInstant) {
        // Frames that others are sent, too, are not made for one of them.
        guard let group = source(of: id), !group.isShared else { return keyframeRequested(by: id, now: now) }
        let answer = group.pictureLost(roundTripTime: roundTripTime, now: now)
        if answer == .keyframe, group.recoveryMethod != .keyframes { downlinks[id]?.recovery.keyframes &+= 1 }
    }

    /// Notes that a receiver has the complete picture that was taken at `time`.
    func pictureAcknowledged(at time: MonotonicInstant, by id: ParticipantID) {
        guard let group = source(of: id), group.pictureAcknowledged(at: time) else { return }
        downlinks[id]?.recovery.refreshesUsed &+= 1
    }

    // MARK: Frames

    /// Returns the receivers that have room for a frame, and the size limit of a keyframe.
    private func demand(for group: EncodeGroup, of viewers: Viewers, now: MonotonicInstant) -> EncodeGroup.Demand {
        var demand = EncodeGroup.Demand()
        for id in group.subscribers.ids {
            guard let link = viewers[id]?.link, link.hasRoom, let rate = downlinks[id]?.bitRate.sustained else {
                continue
            }
            let backlog = link.backlog()
            if group.subscribers.isSent(id) {
                // A frame that no receiver has room for is not encoded; one receiver does not hold back the others.
                guard !group.isShared || backlog.sent <= LatencyBudget.beforeFrame else { continue }
                demand.activeHasRoom = true
            } else if downlinks[id]?.hasRoomForKeyframe(backlog: backlog, now: now) ?? false,
                downlinks[id]?.mayAskForSwitch(toSharedAt: group.isShared ? group.bitRate.sustained : nil, now: now)
                    ?? false
            {
                demand.pendingHasRoom = true
            } else {
                continue
            }
            if let bound = group.keyframeBound(rate: rate, backlog: backlog) { demand.bound(to: bound) }
        }
        return demand
    }

    /// Takes an encoded frame. Returns the frame and its receivers.
    func complete(
        _ result: EncodedPicture, of completion: JobCompletion, for viewers: Viewers, now: MonotonicInstant
    ) -> Delivery? {
        failure = nil
        guard let group = groups.first(where: { $0.queue == completion.queue }) else { return nil }
        let shown = group.complete(result, of: completion)
        failure = group.failure
        guard let frame = result.frame else {
            if failure == nil { countLeftOut(group) } else { counters.failures &+= 1 }
            return nil
        }
        counters.count(frame)
        let made = DownlinkPipeline.GroupFrame(
            frame: frame.statistics, group: group.id, rate: group.bitRate.sustained, rung: group.rung,
            isShared: group.isShared)
        var delivery = Delivery(
            frame: frame, payloads: result.payloads, captureTime: result.captureTime, targetTime: completion.handedOut,
            ledger: shown.map {
                PictureLedger($0, encodeStarted: completion.started, encoded: completion.finished)
            }, receivers: [])
        for id in Array(group.subscribers.ids) {
            guard let link = viewers[id]?.link, let subscription = group.subscribers[id] else { continue }
            let verdict = downlinks[id]?.take(
                made, as: subscription, before: link.backlog(), with: link.backlog(adding: frame.size), now: now)
            switch verdict {
            case .send:
                if frame.isKeyframe { switchReceiver(id, to: group) }
                if result.isRefresh { downlinks[id]?.recovery.refreshes &+= 1 }
                delivery.receivers.append(id)
            case .stop: group.subscribers.stop(id)
            case .ignore, .dropLayer, nil: break
            }
        }
        return delivery
    }

    /// A keyframe of a group is sent to a receiver: it is sent no other group's frames any more, if it belongs to this.
    private func switchReceiver(_ id: ParticipantID, to group: EncodeGroup) {
        guard group.subscribers.contains(id) else { return }
        group.subscribers.activate(id)
        for other in groups where other !== group { other.subscribers.remove(id) }
    }
}
