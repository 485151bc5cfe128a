import CongestionControl
import H264
import MediaCore
import NIOCore
import OrderedCollections
import PeerConnection

/// A room's receivers of sources' own packets: calls of two, participants with a pin, viewers of one sender.
///
/// At each tick it takes each receiver's view and the state of its link; for each packet of a source it returns the
/// receivers. It answers with commands.
final class ForwardingPlane {
    /// The time to wait for a picture before composing continues without one.
    private static let picturePatience = Duration.seconds(1)
    /// A camera from which nothing has come for this time will not send a keyframe either. A screen may stand still.
    private static let silence = Duration.milliseconds(500)
    /// The time to wait for a keyframe before another attempt.
    private static let keyframePatience = Duration.seconds(5)
    /// The smallest ratio of sending to arriving packets' rate: their sender has paced them already.
    static let pace = 4.0

    private let isOn: Bool
    /// A camera that is silent for longer becomes a placeholder; a screen may stand still.
    private let silentAfter: Duration
    private var links: OrderedDictionary<ParticipantID, ForwardingLink> = [:]
    private var sources: OrderedDictionary<SourceID, Source> = [:]
    /// The sources whose packets leave by links to other relays.
    var crossing: Set<SourceID> = []
    private var hasChanged = false
    private(set) var packets: UInt64 = 0
    /// The changes of receivers that have left.
    private var formerSwitches: UInt64 = 0

    private struct Source {
        /// Its packets and frames so far.
        var stream = ForwardingSource()
        var state: SourceState?
        /// True if its packets are examined.
        var isForwarded = false
        /// True if all of its viewers get its packets, so that it is not decoded.
        var isPaused = false

        /// True if nothing new of it is decoded.
        var isPicturePaused: Bool { isPaused || state?.isPicturePaused ?? false }
    }

    init(configuration: RelayConfiguration) {
        isOn = configuration.forwarding != .off
        silentAfter = configuration.silentAfter
    }

    // MARK: What it is told

    func addReceiver(_ id: ParticipantID) { links[id] = ForwardingLink() }

    /// A member has left.
    func remove(_ id: ParticipantID) {
        if let link = links.removeValue(forKey: id) { formerSwitches &+= link.switches }
        sources.removeAll { $0.key.participant == id }
    }

    /// A whole frame of a source has come.
    func observe(_ frame: ReceivedVideoFrame, of source: SourceID, now: MonotonicInstant) {
        sources[source, default: Source()].stream.observe(frame, now: now)
    }

    /// A source's stream has ended, for now at least. Neither its packets nor those of a stream that follows are handed
    /// out until they are asked for again.
    func end(_ source: SourceID) {
        sources[source]?.stream.end()
        sources[source]?.isForwarded = false
    }

    /// Takes how a source is now.
    func setState(_ state: SourceState?, of source: SourceID) {
        sources[source, default: Source()].state = state
    }

    // MARK: At each tick

    /// Decides which receivers get a source's packets.
    ///
    /// - Parameter required: The sources that are part of composed pictures.
    func update(
        _ receivers: [ReceiverState], required: Set<SourceID>, now: MonotonicInstant
    ) -> [Command] {
        guard isInUse else { return [] }
        var commands: [Command] = []
        for receiver in isOn ? receivers : [] {
            consider(receiver, commands: &commands, now: now)
            if returns(receiver.id, commands: &commands, now: now) { hasChanged = true }
        }
        collect(required: required, commands: &commands, now: now)
        return commands
    }

    /// True if packets may be forwarded to receivers, or leave by links.
    var isInUse: Bool { isOn || !crossing.isEmpty || sources.values.contains(where: \.isForwarded) }

    /// A receiver is sent no video.
    func reset(_ id: ParticipantID) { links[id]?.reset() }

    /// Returns true if the set of receivers with composed pictures has changed since the last call.
    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// A receiver's network carries another rate.
    func rateChanged(of receiver: ReceiverState, now: MonotonicInstant) -> [Command] {
        guard case .passing(let source) = links[receiver.id]?.phase else { return [] }
        var receiver = receiver
        receiver.sole = source
        var commands: [Command] = []
        consider(receiver, commands: &commands, now: now)
        return commands
    }

    /// The pace at which a receiver's packets are to leave at least.
    func pace(of receiver: ParticipantID, now: MonotonicInstant) -> BitRate {
        guard let source = links[receiver]?.source, let rate = sources[source]?.stream.peakRate(now: now) else {
            return .zero
        }
        return rate * Self.pace
    }

    private func consider(_ receiver: ReceiverState, commands: inout [Command], now: MonotonicInstant) {
        guard var link = links[receiver.id] else { return }
        defer { links[receiver.id] = link }
        let obstacle = obstacle(for: receiver, policy: link.policy, now: now)
        switch link.phase {
        case .encoded:
            link.obstacle = obstacle
            let hasSettled = link.policy.record(isClear: obstacle == nil, now: now)
            guard hasSettled, let sole = receiver.sole else { return }
            link.await(sole, now: now)
            commands.append(.requestKeyframe(sole))
        case .awaiting(let awaited, let since):
            link.obstacle = obstacle
            if obstacle != nil || awaited != receiver.sole {
                link.giveUpWaiting()
            } else if now - since > Self.keyframePatience {
                link.giveUpWaiting()
                link.policy.holdOff(now: now)
            }
        case .passing(let source):
            guard let reason = obstacle ?? (source == receiver.sole ? nil : .composed) else { return }
            fallBack(&link, from: source, because: reason, commands: &commands, now: now)
        case .fallingBack, .returning: break
        }
    }

    private func obstacle(
        for receiver: ReceiverState, policy: ForwardingPolicy, now: MonotonicInstant
    ) -> ForwardingObstacle? {
        guard let sole = receiver.sole, let limits = receiver.limits else { return .composed }
        // A path on which video is paused for want of rate carries no forwarded video either.
        guard !receiver.isVideoPaused else { return .network }
        return policy.obstacle(source: policySource(sole, now: now), receiver: limits, now: now)
    }

    private func policySource(_ id: SourceID, now: MonotonicInstant) -> ForwardingPolicy.Source? {
        guard let index = sources.index(forKey: id), let state = sources.values[index].state,
            let format = sources.values[index].stream.format
        else { return nil }
        let last = sources.values[index].stream.lastFrame
        let isPresent = last.map { id.content == .screenShare || now - $0 <= silentAfter } ?? false
        return ForwardingPolicy.Source(
            isOn: state.isOn, canRequestKeyframes: state.canRequestKeyframes, isPresent: isPresent,
            profileLevel: format.profileLevel, dimensions: format.dimensions,
            hasSquareSamples: format.pixelAspectRatio.shownSampleShape == .square,
            rotation: sources.values[index].stream.rotation, packetizationMode: state.packetizationMode,
            largestPayload: sources.values[index].stream.largestPayload(now: now),
            rate: sources.values[index].stream.rate(now: now),
            peakRate: sources.values[index].stream.peakRate(now: now))
    }

    private func fallBack(
        _ link: inout ForwardingLink, from source: SourceID, because reason: ForwardingObstacle,
        commands: inout [Command], now: MonotonicInstant
    ) {
        let needsPicture = sources[source]?.isPicturePaused ?? false
        link.fallBack(because: reason, needsPicture: needsPicture, now: now)
        guard needsPicture else { return }
        sources[source]?.isPaused = false
        commands.append(.setPaused(source, false))
        commands.append(.requestKeyframe(source))
    }

    /// Returns true if a receiver that falls back needs a composed picture from now on.
    private func returns(_ id: ParticipantID, commands: inout [Command], now: MonotonicInstant) -> Bool {
        guard let link = links[id], case .fallingBack(let source, let since) = link.phase else { return false }
        let isSilent =
            sources[source]?.stream.lastFrame.map { source.content == .camera && now - $0 > Self.silence } ?? true
        let isDecoded = !link.needsPicture || sources[source]?.state?.pictureTime.map { $0 >= since } ?? false
        guard isDecoded || isSilent || now - since > Self.picturePatience else { return false }
        links[id]?.compose()
        if link.obstacle == .network {
            // Waiting packets would hold up the encoder's keyframe: the receiver has enough under way.
            links[id]?.stop()
            commands.append(.endForwarding(id))
        }
        return true
    }

    /// Requests a source's packets only while a receiver gets them or will get them, and its decoding only while a
    /// composed picture needs it.
    private func collect(required: Set<SourceID>, commands: inout [Command], now: MonotonicInstant) {
        var (awaited, sent, decoded) = (Set<SourceID>(), Set<SourceID>(), required)
        for index in links.values.indices {
            let link = links.values[index]
            if let source = link.awaited { awaited.insert(source) }
            if let source = link.source {
                sent.insert(source)
                if !link.isPassing { decoded.insert(source) }
            }
            guard let gaps = link.gaps else { continue }
            if gaps.until > now { sent.insert(gaps.source) } else { links.values[index].forgetGaps() }
        }
        for index in sources.values.indices {
            let id = sources.keys[index]
            let isAwaited = awaited.contains(id)
            if sources.values[index].stream.collectsKeyframes != isAwaited {
                sources.values[index].stream.collectsKeyframes = isAwaited
            }
            let isForwarded = isAwaited || sent.contains(id) || crossing.contains(id)
            if sources.values[index].isForwarded != isForwarded {
                sources.values[index].isForwarded = isForwarded
                commands.append(.setForwarded(id, isForwarded))
            }
            let isPaused = sent.contains(id) && !decoded.contains(id)
            if sources.values[index].isPaused != isPaused {
                sources.values[index].isPaused = isPaused
                commands.append(.setPaused(id, isPaused))
            }
        }
    }

    // MARK: Packets

    /// Takes a source's packet, and returns the receivers and their packets.
    ///
    /// - Parameter backlog: Returns the backlog of a receiver's link with additional data.
    func take(
        _ received: ReceivedVideoPacket, of source: SourceID, backlog: (ParticipantID, DataSize) -> Duration,
        now: MonotonicInstant
    ) -> [Command] {
        guard let index = sources.index(forKey: source) else { return [] }
        var commands: [Command] = []
        let packet: ForwardedPacket
        var isRestart = false
        switch sources.values[index].stream.take(received, now: now) {
        case .next(let next): packet = next
        case .restart(let first):
            packet = first
            isRestart = true
            for (id, link) in links where link.source == source { commands.append(.restart(id, first)) }
        }
        let needsParameterSets = packet.startsFrame && packet.peek.isIDR && !packet.peek.hasParameterSets
        let parameterSets = needsParameterSets ? sources.values[index].stream.parameterSets : []
        if crossing.contains(source) {
            commands.append(.relay(source, packet, parameterSets: parameterSets, isRestart: isRestart))
        }
        for position in links.values.indices {
            let link = links.values[position]
            guard link.source == source || link.gaps?.source == source else { continue }
            let id = links.keys[position]
            forward(
                packet, of: source, parameterSets: parameterSets, to: id, backlog: backlog, commands: &commands,
                now: now)
        }
        if let keyframe = sources.values[index].stream.takeKeyframe() {
            begin(with: keyframe, of: source, backlog: backlog, commands: &commands, now: now)
        }
        return commands
    }

    private func forward(
        _ packet: ForwardedPacket, of source: SourceID, parameterSets: [ByteBuffer], to id: ParticipantID,
        backlog: (ParticipantID, DataSize) -> Duration, commands: inout [Command], now: MonotonicInstant
    ) {
        guard var link = links[id] else { return }
        let backlog = backlog(id, .zero)
        let leavesOutDispensable = packet.startsFrame && backlog > LatencyBudget.beforeDispensableFrame
        if packet.startsFrame, packet.peek.isIDR { link.policy.keyframePassed(now: now) }
        // A frame that has begun is sent to its end, if it ever ends.
        if backlog > (packet.startsFrame ? LatencyBudget.debt : LatencyBudget.mostDebt), link.source != nil {
            // Later frames are useless without this one.
            if link.isPassing { fallBack(&link, from: source, because: .network, commands: &commands, now: now) }
            link.stop()
        }
        links[id] = link
        // Packets that were missed before may still come.
        if link.isStopped { commands.append(.stopForwarding(id)) }
        commands.append(
            .forward(id, packet, parameterSets: parameterSets, leavesOutDispensable: leavesOutDispensable))
    }

    /// Begins forwarding for all receivers that wait for the keyframe and whose links can take it.
    private func begin(
        with keyframe: CollectedKeyframe, of source: SourceID, backlog: (ParticipantID, DataSize) -> Duration,
        commands: inout [Command], now: MonotonicInstant
    ) {
        guard let first = keyframe.packets.first, let stream = sources[source]?.stream else { return }
        for (id, link) in links where link.awaited == source {
            guard backlog(id, keyframe.size) <= LatencyBudget.forwardedKeyframe else {
                links[id]?.giveUpWaiting()
                links[id]?.policy.holdOff(now: now)
                continue
            }
            links[id]?.begin(source, now: now)
            commands.append(
                .begin(id, first, parameterSets: keyframe.hasParameterSets ? [] : stream.parameterSets))
            for packet in keyframe.packets {
                commands.append(
                    .forward(
                        id, packet.told(stream.rotation, inFrameOf: first), parameterSets: [],
                        leavesOutDispensable: false))
            }
            hasChanged = true
        }
    }

    /// Records the number of packets that were sent to a receiver.
    func didForward(_ count: UInt64, to receiver: ParticipantID) {
        links[receiver]?.packets &+= count
        packets &+= count
    }

    /// An encoder's keyframe is sent to a receiver. Returns true if it takes the place of a source's packets.
    func encoderTakesOver(_ receiver: ParticipantID, now: MonotonicInstant) -> Bool {
        guard links[receiver]?.source != nil else { return false }
        links[receiver]?.encoderTookOver(now: now)
        return true
    }

    // MARK: State

    /// The state of a receiver's forwarding.
    func link(of receiver: ParticipantID) -> ForwardingLink? { links[receiver] }

    /// Returns true if pictures are composed and encoded for a receiver.
    func isComposed(_ receiver: ParticipantID) -> Bool { links[receiver]?.isComposed ?? true }

    /// True if no receiver is about to change between an encoder's frames and a source's packets.
    var isStill: Bool {
        !hasChanged && links.values.allSatisfy { ($0.phase == .encoded || $0.isPassing) && $0.gaps == nil }
    }

    /// The source whose sender answers a receiver's requests for keyframes; nil if an encoder does.
    func sourceAnswering(_ receiver: ParticipantID) -> SourceID? {
        links[receiver].flatMap { $0.isStopped ? nil : $0.source }
    }

    /// The format of a source's pictures; nil before the first.
    func format(of source: SourceID) -> VideoFormatDescription? { sources[source]?.stream.format }

    /// The arrival of a source's newest frame.
    func lastFrame(of source: SourceID) -> MonotonicInstant? { sources[source]?.stream.lastFrame }

    /// The highest rate of a source in the last seconds.
    func peakRate(of source: SourceID, now: MonotonicInstant) -> BitRate {
        sources[source]?.stream.peakRate(now: now) ?? .zero
    }

    /// The rate of a source over the last second, headers included.
    func rate(of source: SourceID, now: MonotonicInstant) -> BitRate {
        sources[source]?.stream.rate(now: now) ?? .zero
    }

    /// The size, upright, of the pictures that a receiver is sent as they are.
    func dimensions(sentTo receiver: ParticipantID) -> VideoDimensions? {
        guard let source = links[receiver]?.source, let stream = sources[source]?.stream, let format = stream.format
        else { return nil }
        return stream.rotation.upright(format.dimensions)
    }

    /// The number of receivers that get a source's packets.
    var receiverCount: Int { links.values.count { $0.source != nil } }

    /// The number of changes between an encoder's frames and a source's packets.
    var switches: UInt64 { links.values.reduce(formerSwitches) { $0 &+ $1.switches } }
}
