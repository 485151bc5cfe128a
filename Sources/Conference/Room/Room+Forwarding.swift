import CongestionControl
import EncoderSharing
import MediaCore
import PeerConnection
import SDP

/// Passes the members' states to the forwarding plane, and performs its commands.
extension Room {
    /// Decides which receivers get a source's packets. Returns true if the set of receivers with composed pictures has
    /// changed.
    func updateForwarding(_ plan: ViewPlan, now: MonotonicInstant) -> Bool {
        guard forwarding.isInUse else { return false }
        var receivers: [ForwardingPlane.ReceiverState] = []
        for participant in participants {
            for content in SourceContent.allCases where participant.pipeline(for: content) != nil {
                let source = SourceID(participant: participant.id, content: content)
                forwarding.setState(state(of: participant, content), of: source)
            }
            if let state = receiverState(of: participant, sole: plan.soleSources[participant.id], now: now) {
                receivers.append(state)
            } else {
                forwarding.reset(participant.id)
            }
        }
        perform(forwarding.update(receivers, required: plan.requiredSources, now: now), now: now)
        for receiver in receivers {
            participant(receiver.id)?.peer.setForwardingRate(forwarding.pace(of: receiver.id, now: now))
        }
        return forwarding.takeChange()
    }

    private func state(
        of participant: Participant, _ content: SourceContent
    ) -> ForwardingPlane.SourceState? {
        guard let pipeline = participant.pipeline(for: content),
            let packetizationMode = participant.peer.packetizationMode(participant.stream(of: content))
        else { return nil }
        return ForwardingPlane.SourceState(
            isOn: content == .screenShare ? participant.isAdmitted(.screenShare) : participant.isCameraShown,
            canRequestKeyframes: participant.peer.canRequestKeyframes(participant.stream(of: content)),
            packetizationMode: packetizationMode, isPicturePaused: pipeline.isPicturePaused,
            pictureTime: pipeline.newestTime)
    }

    /// The state of a receiver; nil if it gets no video.
    private func receiverState(
        of receiver: Participant, sole: SourceID?, now: MonotonicInstant
    ) -> ForwardingPlane.ReceiverState? {
        guard let downlink = encoders.downlink(of: receiver.id) else { return nil }
        let limits = receiver.forwardingAcceptance.map { acceptance in
            ForwardingPolicy.Receiver(
                acceptance: acceptance, canvas: downlink.dimensions, carries: downlink.bitRate.sustained,
                ceiling: receiver.peer.configuration.rateLimits.maximum,
                backlog: receiver.peer.backlog(now: now).sent,
                asksTooOften: encoders.asksTooOften(receiver.id, now: now))
        }
        return ForwardingPlane.ReceiverState(
            id: receiver.id, sole: sole, isVideoPaused: receiver.peer.isVideoPaused, limits: limits)
    }

    /// A receiver's network carries another rate of video.
    func videoBitRateChanged(_ rate: VideoBitRate, for receiver: Participant, now: MonotonicInstant) {
        encoders.setBitRate(rate, of: receiver.id)
        guard let state = receiverState(of: receiver, sole: nil, now: now) else { return }
        perform(forwarding.rateChanged(of: state, now: now), now: now)
    }

    /// Takes a source's packet. Returns the receivers to which something is sent.
    func videoPacket(
        _ received: ReceivedVideoPacket, from sender: Participant, now: MonotonicInstant
    ) -> [Endpoint] {
        let source = SourceID(participant: sender.id, content: SourceContent(received.content))
        guard sender.isAdmitted(source.content) else { return [] }
        let commands = forwarding.take(
            received, of: source,
            backlog: { id, size in participant(id)?.peer.backlog(adding: size, now: now).sent ?? .zero }, now: now)
        return perform(commands, now: now)
    }

    /// Performs the forwarding plane's commands. Returns the receivers to which something is sent.
    @discardableResult
    private func perform(_ commands: [ForwardingPlane.Command], now: MonotonicInstant) -> [Endpoint] {
        var served: [Endpoint] = []
        for command in commands {
            switch command {
            case .requestKeyframe(let source): wantKeyframe(source, now: now)
            case .setForwarded(let source, let isForwarded):
                guard let sender = participant(source.participant) else { continue }
                sender.peer.setForwarded(isForwarded, content: sender.stream(of: source.content))
            case .relay(let source, let packet, let parameterSets, let isRestart):
                served += relay(
                    packet, of: source, parameterSets: parameterSets, isRestart: isRestart, now: now)
            case .setPaused(let source, let isPaused):
                guard let pipeline = participant(source.participant)?.pipeline(for: source.content) else { continue }
                pipeline.isPaused = isPaused
                if !isPaused, pipeline.isPicturePaused { wantKeyframe(source, now: now) }
            case .endForwarding(let id): participant(id)?.peer.endForwarding(now: now)
            case .stopForwarding(let id): participant(id)?.peer.stopForwarding()
            case .restart(let id, let packet): participant(id)?.peer.forwardingRestarts(at: packet)
            case .begin(let id, let packet, let parameterSets):
                encoders.leaveGroups(id)
                participant(id)?.peer.beginForwarding(at: packet, parameterSets: parameterSets, now: now)
            case .forward(let id, let packet, let parameterSets, let leavesOutDispensable):
                guard let receiver = participant(id) else { continue }
                let count = receiver.peer.forward(
                    packet, parameterSets: parameterSets, leavesOutDispensable: leavesOutDispensable, now: now)
                guard count > 0 else { continue }
                forwarding.didForward(count, to: id)
                if served.last !== receiver { served.append(receiver) }
            }
        }
        return served
    }

    func wantKeyframe(_ source: SourceID, now: MonotonicInstant) {
        guard let sender = participant(source.participant) else { return }
        sender.wantKeyframe(source.content, now: now)
        sender.carrier.wakeSoon(now: now)
    }

    // MARK: Keyframes

    /// A receiver asks for a keyframe.
    func keyframeRequested(by receiver: Participant, now: MonotonicInstant) {
        guard !isAnsweredBySource(receiver, now: now) else { return }
        encoders.keyframeRequested(by: receiver.id, now: now)
    }

    /// A receiver lost a picture, and may do without a keyframe.
    func pictureLost(by receiver: Participant, now: MonotonicInstant) {
        guard !isAnsweredBySource(receiver, now: now) else { return }
        encoders.pictureLost(by: receiver.id, roundTripTime: receiver.peer.roundTripTime ?? .zero, now: now)
    }

    /// Asks the source for a keyframe whose packets a receiver is sent. Returns true if there is one.
    private func isAnsweredBySource(_ receiver: Participant, now: MonotonicInstant) -> Bool {
        guard let source = forwarding.sourceAnswering(receiver.id) else { return false }
        if encoders.takeKeyframeRequest(by: receiver.id, now: now) { wantKeyframe(source, now: now) }
        return true
    }
}
