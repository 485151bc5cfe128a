import Compositing
import CongestionControl
import H264
import MediaCore
import PeerConnection
import SecureTransport

/// Receivers who are sent a source's own packets: two in a call, who pins somebody, who watches one sender.
extension Room {
    /// A keyframe that keeps the link busy for longer than this is not begun with.
    private static let longestKeyframe = Duration.milliseconds(200)
    /// A frame that others do not refer to is left out where the link has this much to do.
    private static let dispensableLimit = Duration.milliseconds(80)
    /// Where it has this much to do, nothing more is sent until an encoder takes over.
    private static let backlogLimit = Duration.milliseconds(250)
    /// So long is a picture waited for before one is composed without.
    private static let picturePatience = Duration.seconds(1)
    /// A source from which nothing has come for so long will not send a keyframe either.
    private static let silence = Duration.milliseconds(500)
    /// So long is a keyframe waited for before it is tried another time.
    private static let keyframePatience = Duration.seconds(5)
    /// Packets leave at least so much faster than they come: their sender has paced them.
    private static let pace = 4.0

    // MARK: At each tick

    /// Sees who is to be sent whose packets. Returns whether somebody's picture is to be composed now that was not, or
    /// the other way round.
    func updatePassThrough(_ plan: ViewPlan, now: MonotonicInstant) -> Bool {
        var hasChanged = passThrough.takeChange()
        guard configuration.passThrough != .off else { return false }
        for receiver in participants {
            guard receiver.downlink != nil else {
                receiver.passThrough.reset()
                continue
            }
            consider(receiver, sole: plan.soleSources[receiver.id], now: now)
            if returns(receiver, now: now) { hasChanged = true }
            receiver.peer.forwardingRate = pace(of: receiver, now: now)
        }
        for participant in participants {
            for content in SourceContent.allCases { tap(content, of: participant, plan: plan, now: now) }
        }
        return hasChanged
    }

    /// What a receiver's network carries has changed.
    func passThroughRateChanged(for receiver: Participant, now: MonotonicInstant) {
        guard case .passing(let source) = receiver.passThrough.phase else { return }
        consider(receiver, sole: source, now: now)
    }

    private func consider(_ receiver: Participant, sole: SourceID?, now: MonotonicInstant) {
        let obstacle = obstacle(for: receiver, sole: sole, now: now)
        switch receiver.passThrough.phase {
        case .encoded:
            receiver.passThrough.obstacle = obstacle
            let hasSettled = receiver.passThrough.policy.note(isClear: obstacle == nil, now: now)
            guard hasSettled, let sole, let sender = participant(sole.participant) else { return }
            receiver.passThrough.await(sole, now: now)
            sender.peer.wantKeyframe(sole.content.negotiated, now: now)
        case .awaiting(let awaited, let since):
            receiver.passThrough.obstacle = obstacle
            if obstacle != nil || awaited != sole {
                receiver.passThrough.giveUpWaiting()
            } else if now - since > Self.keyframePatience {
                receiver.passThrough.giveUpWaiting()
                receiver.passThrough.policy.holdOff(now: now)
            }
        case .passing(let source):
            guard let reason = obstacle ?? (source == sole ? nil : .composed) else { return }
            fallBack(receiver, from: source, because: reason, now: now)
        case .fallingBack, .returning: break
        }
    }

    private func obstacle(for receiver: Participant, sole: SourceID?, now: MonotonicInstant) -> PassThroughObstacle? {
        guard let sole else { return .composed }
        guard let downlink = receiver.downlink, let acceptance = receiver.passThroughAcceptance else {
            return .composed
        }
        // A path on which video is paused for want of rate carries no forwarded video either.
        guard !receiver.peer.isVideoPaused else { return .network }
        return receiver.passThrough.policy.obstacle(
            source: source(sole, now: now),
            receiver: PassThroughPolicy.Receiver(
                acceptance: acceptance, canvas: downlink.dimensions, carries: downlink.bitRate.sustained,
                ceiling: receiver.peer.configuration.rateLimits.maximum,
                backlog: receiver.peer.videoBacklog(now: now),
                asksTooOften: downlink.keyframeAllowance.isExceeded(now: now)), now: now)
    }

    private func source(_ id: SourceID, now: MonotonicInstant) -> PassThroughPolicy.Source? {
        guard let sender = participant(id.participant), let pipeline = sender.pipeline(for: id.content),
            let format = pipeline.passThrough.format, let media = sender.peer.media(id.content.negotiated)
        else { return nil }
        let isScreen = id.content == .slides
        // A camera that is silent for long becomes a placeholder; a screen may stand still.
        let last = pipeline.passThrough.lastFrame
        let isPresent = last.map { isScreen || now - $0 <= configuration.silentAfter } ?? false
        return PassThroughPolicy.Source(
            isOn: isScreen || sender.cameraIsOn,
            canRequestKeyframes: media.feedback.pli || media.feedback.fir, isPresent: isPresent,
            profileLevel: format.profileLevel, dimensions: format.dimensions,
            rotation: pipeline.passThrough.rotation, packetizationMode: Int(media.packetizationMode),
            largestPayload: pipeline.passThrough.largestPayload(now: now), rate: pipeline.passThrough.rate(now: now),
            peakRate: pipeline.passThrough.peakRate(now: now))
    }

    private func fallBack(
        _ receiver: Participant, from source: SourceID, because reason: PassThroughObstacle, now: MonotonicInstant
    ) {
        let sender = participant(source.participant)
        let pipeline = sender?.pipeline(for: source.content)
        let needsPicture = pipeline?.isResting ?? false
        receiver.passThrough.fallBack(because: reason, needsPicture: needsPicture, now: now)
        guard needsPicture else { return }
        pipeline?.rests = false
        sender?.peer.wantKeyframe(source.content.negotiated, now: now)
    }

    /// Whether a receiver that falls back is to be composed a picture from now on.
    private func returns(_ receiver: Participant, now: MonotonicInstant) -> Bool {
        guard case .fallingBack(let source, let since) = receiver.passThrough.phase else { return false }
        let pipeline = participant(source.participant)?.pipeline(for: source.content)
        let last = pipeline?.passThrough.lastFrame
        let isSilent = last.map { now - $0 > Self.silence } ?? true
        let isDecoded = !receiver.passThrough.needsPicture || pipeline?.newestTime.map { $0 >= since } ?? false
        guard isDecoded || isSilent || now - since > Self.picturePatience else { return false }
        receiver.passThrough.compose()
        if receiver.passThrough.obstacle == .network {
            // What waits would keep the encoder's keyframe waiting: the receiver has enough under way.
            receiver.passThrough.stop()
            receiver.peer.endPassThrough(now: now)
        }
        return true
    }

    private func pace(of receiver: Participant, now: MonotonicInstant) -> BitRate {
        guard let source = receiver.passThrough.source,
            let pipeline = participant(source.participant)?.pipeline(for: source.content)
        else { return .zero }
        return pipeline.passThrough.peakRate(now: now) * Self.pace
    }

    /// Hands out a stream's packets only while somebody is sent them or is to be, and has it decoded only while somebody's
    /// picture needs it.
    private func tap(_ content: SourceContent, of sender: Participant, plan: ViewPlan, now: MonotonicInstant) {
        guard let pipeline = sender.pipeline(for: content) else { return }
        let source = SourceID(participant: sender.id, content: content)
        var (isAwaited, isSent, isOnlyPassedOn) = (false, false, true)
        for receiver in participants {
            if receiver.passThrough.awaited == source { isAwaited = true }
            if receiver.passThrough.source == source {
                isSent = true
                if !receiver.passThrough.isPassing { isOnlyPassedOn = false }
            }
            if let gaps = receiver.passThrough.gaps, gaps.source == source {
                if gaps.until > now { isSent = true } else { receiver.passThrough.forgetGaps() }
            }
        }
        if pipeline.passThrough.collectsKeyframes != isAwaited { pipeline.passThrough.collectsKeyframes = isAwaited }
        let isTapped = isAwaited || isSent
        if passThrough.isTapped(source) != isTapped {
            passThrough.setTapped(isTapped, source)
            sender.peer.setTapped(isTapped, content: content.negotiated)
        }
        let rests = isSent && isOnlyPassedOn && !plan.requiredSources.contains(source)
        guard pipeline.rests != rests else { return }
        pipeline.rests = rests
        if pipeline.isResting, !rests { sender.peer.wantKeyframe(content.negotiated, now: now) }
    }

    // MARK: Packets

    /// A source's packet has come. Returns those to whom something is sent.
    func videoPacket(
        _ received: ReceivedVideoPacket, from sender: Participant, now: MonotonicInstant
    ) -> [Participant] {
        let content = SourceContent(received.content)
        guard let pipeline = sender.pipeline(for: content) else { return [] }
        let source = SourceID(participant: sender.id, content: content)
        let packet: ForwardedPacket
        switch pipeline.passThrough.take(received, now: now) {
        case .next(let next): packet = next
        case .restart(let first):
            packet = first
            for receiver in participants where receiver.passThrough.source == source {
                receiver.peer.passThroughRestarts(at: first)
            }
        }
        let needsParameterSets = packet.startsFrame && packet.glance.isIDR && !packet.glance.hasParameterSets
        var served: [Participant] = []
        for receiver in participants
        where receiver.passThrough.source == source || receiver.passThrough.gaps?.source == source {
            guard passOn(packet, of: pipeline, needsParameterSets: needsParameterSets, to: receiver, now: now) else {
                continue
            }
            served.append(receiver)
        }
        if let keyframe = pipeline.passThrough.takeKeyframe() {
            served += begin(with: keyframe, of: pipeline, now: now)
        }
        return served
    }

    private func passOn(
        _ packet: ForwardedPacket, of pipeline: UplinkPipeline, needsParameterSets: Bool, to receiver: Participant,
        now: MonotonicInstant
    ) -> Bool {
        var leavesOutDispensable = false
        if packet.startsFrame {
            let backlog = receiver.peer.videoBacklog(now: now)
            leavesOutDispensable = backlog > Self.dispensableLimit
            if backlog > Self.backlogLimit, receiver.passThrough.source != nil {
                // Nothing behind this frame is of use without it.
                if receiver.passThrough.isPassing {
                    fallBack(receiver, from: pipeline.source, because: .network, now: now)
                }
                receiver.passThrough.stop()
            }
            if packet.glance.isIDR { receiver.passThrough.policy.keyframePassed(now: now) }
        }
        if receiver.passThrough.isStopped {
            // What was missed before may still come.
            receiver.peer.stopPassThrough()
        }
        let packets = receiver.peer.passOn(
            packet, parameterSets: needsParameterSets ? pipeline.passThrough.parameterSets : [],
            leavesOutDispensable: leavesOutDispensable, now: now)
        receiver.passThrough.packets &+= packets
        passThrough.packets &+= packets
        return packets > 0
    }

    /// Begins for all who wait for the keyframe and whose links take it.
    private func begin(
        with keyframe: CollectedKeyframe, of pipeline: UplinkPipeline, now: MonotonicInstant
    ) -> [Participant] {
        guard let first = keyframe.packets.first else { return [] }
        var served: [Participant] = []
        for receiver in participants where receiver.passThrough.awaited == pipeline.source {
            guard receiver.peer.videoBacklog(adding: keyframe.size, now: now) <= Self.longestKeyframe else {
                receiver.passThrough.giveUpWaiting()
                receiver.passThrough.policy.holdOff(now: now)
                continue
            }
            receiver.passThrough.begin(pipeline.source, now: now)
            receiver.downlink?.leaveGroup()
            receiver.peer.beginPassThrough(
                at: first, parameterSets: keyframe.hasParameterSets ? [] : pipeline.passThrough.parameterSets, now: now)
            for packet in keyframe.packets {
                let packets = receiver.peer.passOn(
                    packet.told(pipeline.passThrough.rotation, inFrameOf: first), parameterSets: [],
                    leavesOutDispensable: false, now: now)
                receiver.passThrough.packets &+= packets
                passThrough.packets &+= packets
            }
            passThrough.noteChange()
            served.append(receiver)
        }
        return served
    }

    // MARK: Keyframes

    /// A receiver asks for a keyframe.
    func keyframeRequested(by receiver: Participant, now: MonotonicInstant) {
        guard !passThroughKeyframeRequested(by: receiver, now: now) else { return }
        encoding.keyframeRequested(by: receiver, now: now)
    }

    /// A receiver lost a picture, and may do without a keyframe.
    func pictureLost(by receiver: Participant, now: MonotonicInstant) {
        guard !passThroughKeyframeRequested(by: receiver, now: now) else { return }
        encoding.pictureLost(by: receiver, now: now)
    }

    /// A receiver of a source's packets asks for a keyframe. Returns whether that is seen to.
    private func passThroughKeyframeRequested(by receiver: Participant, now: MonotonicInstant) -> Bool {
        guard let source = receiver.passThrough.source, !receiver.passThrough.isStopped else { return false }
        // Who asks for too many gets an encoder's frames: see the policy.
        if receiver.downlink?.keyframeAllowance.take(now: now) ?? false {
            participant(source.participant)?.peer.wantKeyframe(source.content.negotiated, now: now)
        }
        return true
    }
}

extension Participant {
    /// An encoder's keyframe takes the place of the source's packets.
    func encoderTakesOver(now: MonotonicInstant) {
        guard passThrough.source != nil else { return }
        peer.endPassThrough(now: now)
        passThrough.encoderTookOver(now: now)
    }
}
