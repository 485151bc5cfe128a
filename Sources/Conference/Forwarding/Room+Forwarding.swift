import Compositing
import CongestionControl
import H264
import MediaCore
import PeerConnection
import SDP
import SecureTransport

/// Receivers who are sent a source's own packets: two in a call, who pins somebody, who watches one sender.
extension Room {
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
    func updateForwarding(_ plan: ViewPlan, now: MonotonicInstant) -> Bool {
        var hasChanged = forwarding.takeChange()
        guard configuration.forwarding != .off else { return false }
        for receiver in participants {
            guard receiver.downlink != nil else {
                receiver.forwarding.reset()
                continue
            }
            consider(receiver, sole: plan.soleSources[receiver.id], now: now)
            if returns(receiver, now: now) { hasChanged = true }
            receiver.peer.setForwardingRate(pace(of: receiver, now: now))
        }
        for participant in participants {
            for content in SourceContent.allCases { tap(content, of: participant, plan: plan, now: now) }
        }
        return hasChanged
    }

    /// What a receiver's network carries has changed.
    func forwardingRateChanged(for receiver: Participant, now: MonotonicInstant) {
        guard case .passing(let source) = receiver.forwarding.phase else { return }
        consider(receiver, sole: source, now: now)
    }

    private func consider(_ receiver: Participant, sole: SourceID?, now: MonotonicInstant) {
        let obstacle = obstacle(for: receiver, sole: sole, now: now)
        switch receiver.forwarding.phase {
        case .encoded:
            receiver.forwarding.obstacle = obstacle
            let hasSettled = receiver.forwarding.policy.record(isClear: obstacle == nil, now: now)
            guard hasSettled, let sole, let sender = participant(sole.participant) else { return }
            receiver.forwarding.await(sole, now: now)
            sender.peer.wantKeyframe(sole.content.negotiated, now: now)
        case .awaiting(let awaited, let since):
            receiver.forwarding.obstacle = obstacle
            if obstacle != nil || awaited != sole {
                receiver.forwarding.giveUpWaiting()
            } else if now - since > Self.keyframePatience {
                receiver.forwarding.giveUpWaiting()
                receiver.forwarding.policy.holdOff(now: now)
            }
        case .passing(let source):
            guard let reason = obstacle ?? (source == sole ? nil : .composed) else { return }
            fallBack(receiver, from: source, because: reason, now: now)
        case .fallingBack, .returning: break
        }
    }

    private func obstacle(for receiver: Participant, sole: SourceID?, now: MonotonicInstant) -> ForwardingObstacle? {
        guard let sole else { return .composed }
        guard let downlink = receiver.downlink, let acceptance = receiver.forwardingAcceptance else {
            return .composed
        }
        // A path on which video is paused for want of rate carries no forwarded video either.
        guard !receiver.peer.isVideoPaused else { return .network }
        return receiver.forwarding.policy.obstacle(
            source: source(sole, now: now),
            receiver: ForwardingPolicy.Receiver(
                acceptance: acceptance, canvas: downlink.dimensions, carries: downlink.bitRate.sustained,
                ceiling: receiver.peer.configuration.rateLimits.maximum,
                backlog: receiver.peer.backlog(now: now).sent,
                asksTooOften: downlink.keyframeLimiter.isExceeded(now: now)), now: now)
    }

    private func source(_ id: SourceID, now: MonotonicInstant) -> ForwardingPolicy.Source? {
        guard let sender = participant(id.participant), let pipeline = sender.pipeline(for: id.content),
            let format = pipeline.forwarding.format, let media = sender.peer.media(id.content.negotiated)
        else { return nil }
        let isScreen = id.content == .screenShare
        // A camera that is silent for long becomes a placeholder; a screen may stand still.
        let last = pipeline.forwarding.lastFrame
        let isPresent = last.map { isScreen || now - $0 <= configuration.silentAfter } ?? false
        return ForwardingPolicy.Source(
            isOn: isScreen || sender.cameraIsOn,
            canRequestKeyframes: media.feedback.pli || media.feedback.fir, isPresent: isPresent,
            profileLevel: format.profileLevel, dimensions: format.dimensions,
            rotation: pipeline.forwarding.rotation, packetizationMode: Int(media.packetizationMode),
            largestPayload: pipeline.forwarding.largestPayload(now: now), rate: pipeline.forwarding.rate(now: now),
            peakRate: pipeline.forwarding.peakRate(now: now))
    }

    private func fallBack(
        _ receiver: Participant, from source: SourceID, because reason: ForwardingObstacle, now: MonotonicInstant
    ) {
        let sender = participant(source.participant)
        let pipeline = sender?.pipeline(for: source.content)
        let needsPicture = pipeline?.isPicturePaused ?? false
        receiver.forwarding.fallBack(because: reason, needsPicture: needsPicture, now: now)
        guard needsPicture else { return }
        pipeline?.isPaused = false
        sender?.peer.wantKeyframe(source.content.negotiated, now: now)
    }

    /// Whether a receiver that falls back is to be composed a picture from now on.
    private func returns(_ receiver: Participant, now: MonotonicInstant) -> Bool {
        guard case .fallingBack(let source, let since) = receiver.forwarding.phase else { return false }
        let pipeline = participant(source.participant)?.pipeline(for: source.content)
        let last = pipeline?.forwarding.lastFrame
        let isSilent = last.map { now - $0 > Self.silence } ?? true
        let isDecoded = !receiver.forwarding.needsPicture || pipeline?.newestTime.map { $0 >= since } ?? false
        guard isDecoded || isSilent || now - since > Self.picturePatience else { return false }
        receiver.forwarding.compose()
        if receiver.forwarding.obstacle == .network {
            // What waits would keep the encoder's keyframe waiting: the receiver has enough under way.
            receiver.forwarding.stop()
            receiver.peer.endForwarding(now: now)
        }
        return true
    }

    private func pace(of receiver: Participant, now: MonotonicInstant) -> BitRate {
        guard let source = receiver.forwarding.source,
            let pipeline = participant(source.participant)?.pipeline(for: source.content)
        else { return .zero }
        return pipeline.forwarding.peakRate(now: now) * Self.pace
    }

    /// Hands out a stream's packets only while somebody is sent them or is to be, and has it decoded only while
    /// somebody's picture needs it.
    private func tap(_ content: SourceContent, of sender: Participant, plan: ViewPlan, now: MonotonicInstant) {
        guard let pipeline = sender.pipeline(for: content) else { return }
        let source = SourceID(participant: sender.id, content: content)
        var (isAwaited, isSent, isOnlyPassedOn) = (false, false, true)
        for receiver in participants {
            if receiver.forwarding.awaited == source { isAwaited = true }
            if receiver.forwarding.source == source {
                isSent = true
                if !receiver.forwarding.isPassing { isOnlyPassedOn = false }
            }
            if let gaps = receiver.forwarding.gaps, gaps.source == source {
                if gaps.until > now { isSent = true } else { receiver.forwarding.forgetGaps() }
            }
        }
        if pipeline.forwarding.collectsKeyframes != isAwaited { pipeline.forwarding.collectsKeyframes = isAwaited }
        let isTapped = isAwaited || isSent
        if forwarding.isTapped(source) != isTapped {
            forwarding.setTapped(isTapped, source)
            sender.peer.setTapped(isTapped, content: content.negotiated)
        }
        let isPaused = isSent && isOnlyPassedOn && !plan.requiredSources.contains(source)
        guard pipeline.isPaused != isPaused else { return }
        pipeline.isPaused = isPaused
        if pipeline.isPicturePaused, !isPaused { sender.peer.wantKeyframe(content.negotiated, now: now) }
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
        switch pipeline.forwarding.take(received, now: now) {
        case .next(let next): packet = next
        case .restart(let first):
            packet = first
            for receiver in participants where receiver.forwarding.source == source {
                receiver.peer.forwardingRestarts(at: first)
            }
        }
        let needsParameterSets = packet.startsFrame && packet.peek.isIDR && !packet.peek.hasParameterSets
        var served: [Participant] = []
        for receiver in participants
        where receiver.forwarding.source == source || receiver.forwarding.gaps?.source == source {
            guard forward(packet, of: pipeline, needsParameterSets: needsParameterSets, to: receiver, now: now) else {
                continue
            }
            served.append(receiver)
        }
        if let keyframe = pipeline.forwarding.takeKeyframe() {
            served += begin(with: keyframe, of: pipeline, now: now)
        }
        return served
    }

    private func forward(
        _ packet: ForwardedPacket, of pipeline: UplinkPipeline, needsParameterSets: Bool, to receiver: Participant,
        now: MonotonicInstant
    ) -> Bool {
        var leavesOutDispensable = false
        if packet.startsFrame {
            let backlog = receiver.peer.backlog(now: now).sent
            leavesOutDispensable = backlog > LatencyBudget.beforeDispensableFrame
            if backlog > LatencyBudget.debt, receiver.forwarding.source != nil {
                // Nothing behind this frame is of use without it.
                if receiver.forwarding.isPassing {
                    fallBack(receiver, from: pipeline.source, because: .network, now: now)
                }
                receiver.forwarding.stop()
            }
            if packet.peek.isIDR { receiver.forwarding.policy.keyframePassed(now: now) }
        }
        if receiver.forwarding.isStopped {
            // What was missed before may still come.
            receiver.peer.stopForwarding()
        }
        let packets = receiver.peer.forward(
            packet, parameterSets: needsParameterSets ? pipeline.forwarding.parameterSets : [],
            leavesOutDispensable: leavesOutDispensable, now: now)
        receiver.forwarding.packets &+= packets
        forwarding.packets &+= packets
        return packets > 0
    }

    /// Begins for all who wait for the keyframe and whose links take it.
    private func begin(
        with keyframe: CollectedKeyframe, of pipeline: UplinkPipeline, now: MonotonicInstant
    ) -> [Participant] {
        guard let first = keyframe.packets.first else { return [] }
        var served: [Participant] = []
        for receiver in participants where receiver.forwarding.awaited == pipeline.source {
            guard receiver.peer.backlog(adding: keyframe.size, now: now).sent <= LatencyBudget.forwardedKeyframe
            else {
                receiver.forwarding.giveUpWaiting()
                receiver.forwarding.policy.holdOff(now: now)
                continue
            }
            receiver.forwarding.begin(pipeline.source, now: now)
            receiver.downlink?.leaveGroup()
            receiver.peer.beginForwarding(
                at: first, parameterSets: keyframe.hasParameterSets ? [] : pipeline.forwarding.parameterSets, now: now)
            for packet in keyframe.packets {
                let packets = receiver.peer.forward(
                    packet.told(pipeline.forwarding.rotation, inFrameOf: first), parameterSets: [],
                    leavesOutDispensable: false, now: now)
                receiver.forwarding.packets &+= packets
                forwarding.packets &+= packets
            }
            forwarding.recordChange()
            served.append(receiver)
        }
        return served
    }

    // MARK: Keyframes

    /// A receiver asks for a keyframe.
    func keyframeRequested(by receiver: Participant, now: MonotonicInstant) {
        guard !forwardingKeyframeRequested(by: receiver, now: now) else { return }
        encoding.keyframeRequested(by: receiver, now: now)
    }

    /// A receiver lost a picture, and may do without a keyframe.
    func pictureLost(by receiver: Participant, now: MonotonicInstant) {
        guard !forwardingKeyframeRequested(by: receiver, now: now) else { return }
        encoding.pictureLost(by: receiver, now: now)
    }

    /// A receiver of a source's packets asks for a keyframe. Returns whether that is seen to.
    private func forwardingKeyframeRequested(by receiver: Participant, now: MonotonicInstant) -> Bool {
        guard let source = receiver.forwarding.source, !receiver.forwarding.isStopped else { return false }
        // Who asks for too many gets an encoder's frames: see the policy.
        if receiver.downlink?.keyframeLimiter.take(now: now) ?? false {
            participant(source.participant)?.peer.wantKeyframe(source.content.negotiated, now: now)
        }
        return true
    }
}

extension Participant {
    /// An encoder's keyframe takes the place of the source's packets.
    func encoderTakesOver(now: MonotonicInstant) {
        guard forwarding.source != nil else { return }
        peer.endForwarding(now: now)
        forwarding.encoderTookOver(now: now)
    }
}
