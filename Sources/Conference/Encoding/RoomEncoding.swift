import CongestionControl
import MediaCore
import PeerConnection
import RoomAPI
import VideoCoding

/// A room's encoders: which there are, who is sent what they make, and what each makes of a tick.
///
/// A group ends with its last subscriber. Where the budget leaves no encoder for a new group, the group waits until
/// those who leave another one have found their keyframes elsewhere.
final class RoomEncoding {
    private let room: String
    let configuration: RelayConfiguration
    private let overload: OverloadControl
    private let queues: JobQueueAllocator
    private var planner: EncodeGroupPlanner
    private var sharedView = SharedViewPolicy()
    private(set) var groups: [EncodeGroup] = []
    /// The formats that receivers have had; a format's index stands for it.
    private var formats: [EncodeFormat] = []
    var ladders: [LadderKey: Ladder] = [:]
    private var receivers: [EncodeGroupPlanner.Receiver] = []
    private var planned: [EncodeGroupPlanner.Receiver] = []
    private var lastPlan = MonotonicInstant.zero
    /// How often is looked whether the rates ask for something else.
    private static let planInterval = Duration.milliseconds(100)

    /// The failure of the encode that was done last; nil where it did not fail.
    private(set) var failure: EncoderFailure?
    /// Frames and keyframes that the encoders made, and the bytes of both.
    private(set) var counters = EncodingCounters()

    init(room: String, configuration: RelayConfiguration, overload: OverloadControl, queues: JobQueueAllocator) {
        self.room = room
        self.configuration = configuration
        self.overload = overload
        self.queues = queues
        planner = EncodeGroupPlanner(hasLayers: configuration.encoder.hasTemporalLayers)
    }

    /// How often a receiver was moved from one group to another.
    var moves: UInt64 { planner.moves }

    /// With how many others a receiver shares an encoder, and why it belongs there.
    func membership(of participant: Participant) -> (others: Int, reason: EncodeGroupPlanner.Reason)? {
        guard let id = planner.group(of: participant.id), let reason = planner.members[participant.id]?.reason,
            let group = planner.groups.first(where: { $0.id == id })
        else { return nil }
        return (group.members.count - 1, reason)
    }

    func group(_ id: EncodeGroupID?) -> EncodeGroup? { groups.first { $0.id == id } }

    /// Whether those who leave it to the relay see themselves. Returns whether that has changed.
    func chooseView(for participants: [Participant], now: MonotonicInstant) -> Bool {
        var (personal, hasOthers) = (0, false)
        for participant in participants where participant.downlink != nil {
            if participant.isSource, participant.selfView == .auto { personal += 1 } else { hasOthers = true }
        }
        return sharedView.update(
            pictures: personal + (hasOthers ? 1 : 0), budget: budget,
            isForced: overload.limits.forcesSharedView && personalPictures(of: participants) > 0, now: now)
    }

    /// Whether the receiver's own tiles are in its picture.
    func showsSelf(_ receiver: Participant) -> Bool {
        switch receiver.selfView {
        case .never: sharedView.isForced && receiver.maySeeSelf
        case .always: true
        case .auto: sharedView.isShared
        }
    }

    /// Whether there is no time for more than one picture.
    var sharedViewIsForced: Bool { sharedView.isForced }

    // MARK: Ticks

    /// Has a tick's pictures encoded.
    ///
    /// - Parameter interval: From one tick to the next.
    func takeJobs(
        for tick: ComposedTick, to participants: [Participant], interval: Duration, now: MonotonicInstant
    ) -> Work {
        assign(participants, of: tick, now: now)
        var work = Work()
        var running = groups.count(where: \.hasStarted)
        for group in groups {
            if group.dropPostponed() { countLeftOut(group, among: participants) }
            let wasRunning = group.hasStarted
            guard wasRunning || running < limit else { continue }
            guard let index = picture(of: group, in: tick, for: participants) else { continue }
            // Not by the next tick: where there is not time for all, what the next pictures are made of goes first, and
            // encoders leave pictures out; else everything would come late.
            let request = EncodeGroup.Request(
                tick: tick, index: index, room: room, deadline: tick.captureTime + interval * 2,
                limits: overload.limits)
            switch group.tick(request, demand: demand(for: group, among: participants, now: now), now: now) {
            case .encoded(let job):
                if !wasRunning { running += 1 }
                work.jobs.append(job)
            case .postponed: work.postponed += 1
            case .idle: break
            case .leftOut: countLeftOut(group, among: participants)
            }
        }
        // From the next tick on.
        chooseRungs(for: participants, now: now)
        return work
    }

    /// What a tick has come to.
    struct Work {
        var jobs: [Job] = []
        /// How many encoders were busy.
        var postponed = 0
    }

    /// The encode job of a picture that has waited for an encoder that is done now, if any.
    func resume(after completion: JobCompletion, for participants: [Participant], now: MonotonicInstant) -> Job? {
        guard let group = groups.first(where: { $0.queue == completion.queue }) else { return nil }
        switch group.resume(demand: demand(for: group, among: participants, now: now), now: now) {
        case .encoded(let job): return job
        case .leftOut: countLeftOut(group, among: participants)
        case .idle, .postponed: break
        }
        return nil
    }

    private func countLeftOut(_ group: EncodeGroup, among participants: [Participant]) {
        for participant in participants where participant.downlink?.source == group.id {
            participant.downlink?.framesDropped &+= 1
        }
    }

    /// How many encoders there are to be at most; nil for as many as there are receivers.
    private var budget: Int? { overload.limits.maximumEncoders ?? configuration.maximumEncoders }

    /// The most encoders that run at once.
    private var limit: Int {
        guard let budget else { return .max }
        return max(budget, planner.groups.count)
    }

    private func assign(_ participants: [Participant], of tick: ComposedTick, now: MonotonicInstant) {
        receivers.removeAll(keepingCapacity: true)
        for participant in participants {
            guard let downlink = participant.downlink, tick.pictureIndex[participant.id] != nil,
                participant.peer.canSendVideo, participant.forwarding.isComposed
            else { continue }
            receivers.append(
                EncodeGroupPlanner.Receiver(
                    id: participant.id, picture: participant.viewNumber, format: index(of: downlink.format),
                    target: downlink.dependableRate(now: now),
                    wantsIsolation: downlink.keyframeLimiter.isExceeded(now: now)))
        }
        if now - lastPlan >= Self.planInterval || !receivers.elementsEqual(planned, by: { $0.isLike($1) }) {
            lastPlan = now
            swap(&planned, &receivers)
            planner.update(
                planned, budget: budget, expecting: Set(groups.lazy.filter(\.expectsKeyframe).map(\.id)), now: now)
        }
        for planned in planner.groups { update(planned, participants: participants) }
        for participant in participants {
            guard let group = planner.group(of: participant.id) else { continue }
            participant.downlink?.assign(to: group, now: now)
        }
        endGroups(among: participants)
    }

    func format(_ index: Int) -> EncodeFormat { formats[index] }

    private func index(of format: EncodeFormat) -> Int {
        if let known = formats.firstIndex(of: format) { return known }
        formats.append(format)
        return formats.count - 1
    }

    private func update(_ planned: EncodeGroupPlanner.Group, participants: [Participant]) {
        let sole = planned.members.count == 1 ? participants.first { $0.id == planned.members.first } : nil
        // A queue on one member's path is for that member's pacer to drain, unless there is no other.
        let rate = sole?.downlink?.bitRate ?? VideoBitRate(target: planned.rate, sustained: planned.rate)
        let recovers = sole?.peer.acknowledgesPictures ?? false
        if let group = group(planned.id) {
            let isFollowed = participants.contains {
                $0.downlink?.source == planned.id && !planned.members.contains($0.id)
            }
            group.update(bitRate: rate, isShared: sole == nil || isFollowed, recovers: recovers)
            return
        }
        guard formats.indices.contains(planned.format) else { return }
        let format = formats[planned.format]
        let encoder = LazyEncoder(
            backEnd: configuration.encoder, make: configuration.makeEncoder, format: format)
        let group = EncodeGroup(
            id: planned.id, queue: queues.next(), format: format, encoder: encoder, bitRate: rate,
            rung: firstRung(of: planned, rate: rate.sustained, among: participants),
            keyframeShare: configuration.sharedKeyframeShare)
        group.update(bitRate: rate, isShared: sole == nil, recovers: recovers)
        groups.append(group)
    }

    /// Ends the groups that nobody belongs to and nobody follows.
    private func endGroups(among participants: [Participant]) {
        let isBlocked = groups.count(where: \.hasStarted) >= limit && groups.contains { !$0.hasStarted }
        // The groups are looked at meanwhile, so that they are not changed in their place.
        groups = groups.filter { group in
            guard !planner.groups.contains(where: { $0.id == group.id }) else { return true }
            let subscribers = participants.filter { $0.downlink?.source == group.id }
            // An encoder that has not begun begins with a keyframe: none of its receivers need wait for it in a group
            // whose encoder it is to have.
            let isReplaced =
                isBlocked
                && subscribers.allSatisfy { subscriber in
                    !(self.group(subscriber.downlink?.group)?.hasStarted ?? true)
                }
            guard subscribers.isEmpty || isReplaced else {
                if let slowest = subscribers.compactMap({ $0.downlink?.bitRate.sustained }).min() {
                    group.update(
                        bitRate: VideoBitRate(target: slowest, sustained: slowest), isShared: group.isShared,
                        recovers: group.recovers)
                }
                return true
            }
            for subscriber in subscribers { subscriber.downlink?.sourceEnded() }
            return false
        }
    }

    /// Which picture the group's receivers see: those who belong to it, or else those who still follow it.
    private func picture(
        of group: EncodeGroup, in tick: ComposedTick, for participants: [Participant]
    ) -> Int? {
        let viewer =
            participants.first { $0.downlink?.group == group.id && tick.pictureIndex[$0.id] != nil }
            ?? participants.first { $0.downlink?.source == group.id && tick.pictureIndex[$0.id] != nil }
        guard let viewer else { return nil }
        // One who waits for another size's keyframe has two.
        return [tick.pictureIndex[viewer.id], tick.followedPictureIndex[viewer.id]].lazy.compactMap(\.self).first {
            tick.pictures.indices.contains($0) && tick.pictures[$0].dimensions == group.rung.dimensions
        }
    }

    /// Who could take a frame now.
    private func demand(
        for group: EncodeGroup, among participants: [Participant], now: MonotonicInstant
    ) -> EncodeGroup.Demand {
        var demand = EncodeGroup.Demand()
        for participant in participants {
            guard let downlink = participant.downlink else { continue }
            let follows = downlink.source == group.id
            guard follows || downlink.group == group.id, participant.peer.hasRoomForVideo(now: now) else { continue }
            let backlog = participant.peer.backlog(now: now)
            if follows {
                // What nobody could be sent is not encoded; a frame that others need is not held back for one.
                guard !group.isShared || backlog.sent <= LatencyBudget.beforeFrame else { continue }
                demand.activeHasRoom = true
            } else if downlink.hasRoomForKeyframe(backlog: backlog, now: now),
                mayAskForSwitch(participant, to: group, now: now)
            {
                demand.pendingHasRoom = true
            } else {
                continue
            }
            let rate = downlink.bitRate.sustained
            if !group.isShared {
                demand.bound(
                    to: FrameBound.keyframe(rate: rate, backlog: backlog, frameRate: group.rung.frameRate))
            } else if rate >= group.bitRate.sustained * DownlinkPipeline.leastShare {
                demand.bound(to: FrameBound.sharedKeyframe(slowest: rate, frameRate: group.rung.frameRate))
            }
        }
        return demand
    }

    private func mayAskForSwitch(_ participant: Participant, to group: EncodeGroup, now: MonotonicInstant) -> Bool {
        let rate = group.isShared ? group.bitRate.sustained : nil
        return participant.downlink?.mayAskForSwitch(toSharedAt: rate, now: now) ?? false
    }

    // MARK: Keyframes

    /// A receiver asks for a keyframe of the encoder whose frames it is sent.
    func keyframeRequested(by participant: Participant, now: MonotonicInstant) {
        // Who waits for one gets it anyhow.
        guard let source = participant.downlink?.source, let group = group(source) else { return }
        guard group.isShared else { return group.requestKeyframe() }
        if participant.downlink?.keyframeLimiter.take(now: now) ?? false { group.requestKeyframe() }
    }

    // MARK: Results

    /// Sends a frame to those it is for.
    ///
    /// - Returns: Those to whom it was sent.
    func complete(
        _ result: EncodedPicture, of completion: JobCompletion, for participants: [Participant], now: MonotonicInstant
    ) -> [Participant] {
        failure = nil
        guard let group = groups.first(where: { $0.queue == completion.queue }) else { return [] }
        group.complete(result, of: completion)
        failure = group.failure
        guard let frame = result.frame else {
            if failure == nil { countLeftOut(group, among: participants) } else { counters.failures &+= 1 }
            return []
        }
        counters.count(frame)
        let ledger = result.shown.map {
            PictureLedger($0, encodeStarted: completion.started, encoded: completion.finished)
        }
        var served: [Participant] = []
        for participant in participants {
            guard participant.downlink?.source == group.id || participant.downlink?.group == group.id else { continue }
            let made = DownlinkPipeline.GroupFrame(
                frame: frame.statistics, group: group.id, rate: group.bitRate.sustained, rung: group.rung,
                isShared: group.isShared)
            let verdict = participant.downlink?.take(
                made, before: participant.peer.backlog(now: now),
                with: participant.peer.backlog(adding: frame.size, now: now), now: now)
            guard verdict == .send else { continue }
            if result.isRefresh { participant.downlink?.recovery.refreshes &+= 1 }
            participant.encoderTakesOver(now: now)
            participant.peer.sendVideo(
                frame, payloads: result.payloads, captureTime: result.captureTime, targetTime: completion.handedOut,
                ledger: ledger, now: now)
            served.append(participant)
        }
        return served
    }
}

/// What a room's encoders have made.
struct EncodingCounters: Sendable {
    var frames: UInt64 = 0
    var keyframes: UInt64 = 0
    var bytes: UInt64 = 0
    var keyframeBytes: UInt64 = 0
    var failures: UInt64 = 0

    mutating func count(_ frame: EncodedFrame) {
        let size = UInt64(max(0, frame.size.bytes))
        frames &+= 1
        bytes &+= size
        guard frame.isKeyframe else { return }
        keyframes &+= 1
        keyframeBytes &+= size
    }
}
