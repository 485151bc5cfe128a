import MediaCore
import PeerConnection
import RoomAPI

/// Asks senders for as much video as receivers see of it.
extension Room {
    /// Follows the visible size of every source: sends events with the size of its tile, requests the useful rate from
    /// its sender, and sets its decode mode.
    func updateDemands(_ plan: ViewPlan, now: MonotonicInstant) {
        let ratesAreNew = updateShownRates(plan, now: now)
        for participant in participants {
            for content in SourceContent.allCases where participant.sends(content) {
                let source = SourceID(participant: participant.id, content: content)
                // A source that glides or fades out is seen until it is gone.
                let isLeaving = composition.wantedTiles[source] == nil && plan.requiredSources.contains(source)
                let state = demandState(
                    of: source, tile: isLeaving ? nil : composition.wantedTiles[source] ?? .nothing, participant,
                    now: now)
                adopt(demands.update(state, ratesAreNew: ratesAreNew, now: now), of: source, participant, now: now)
            }
        }
    }

    /// Updates the rates at which the best receivers show the sources. Returns true if an update was due.
    private func updateShownRates(_ plan: ViewPlan, now: MonotonicInstant) -> Bool {
        guard shownRates.isDue(now: now) else { return false }
        let soleSources = configuration.forwarding == .off ? [:] : plan.soleSources
        let receivers =
            participants.lazy.filter(\.peer.canSendVideo).map(\.id) + composites.lazy.filter(\.hasBegun).map(\.receiver)
        for id in receivers {
            guard let view = composition.view(of: id), let encoded = encoders.encoding(for: id) else { continue }
            for (source, share) in view.shares {
                shownRates.add(
                    UplinkPrice.View(
                        share: share, rate: encoded.rate, qp: encoded.qp,
                        mayForward: soleSources[id] == source), of: source)
            }
        }
        return true
    }

    private func demandState(
        of source: SourceID, tile: VideoDimensions?, _ participant: Participant, now: MonotonicInstant
    ) -> DemandPlane.Source {
        DemandPlane.Source(
            id: source, tile: tile, leastTile: leastTile(of: source),
            codedSize: forwarding.format(of: source)?.dimensions, shownRate: shownRates[source],
            age: now - participant.joined,
            decoding: participant.pipeline(for: source.content).map { pipeline in
                DemandPlane.Decoding(
                    size: pipeline.newest.map { pipeline.rotation.upright($0.dimensions) },
                    canRequestKeyframes: participant.peer.canRequestKeyframes(participant.stream(of: source.content)),
                    excess: excess(of: source, now: now))
            })
    }

    /// The size in which a source is needed for the recording and at other relays, however small it is here.
    private func leastTile(of source: SourceID) -> VideoDimensions {
        let relayed = relayedTile(of: source)
        return recorder == nil ? relayed : recordedTile(relayed)
    }

    private func excess(of source: SourceID, now: MonotonicInstant) -> DemandPlane.Excess? {
        let share = decoding.sustainableShare(of: source.participant, now: now)
        guard share < 1 else { return nil }
        return DemandPlane.Excess(allowedShare: share, rate: forwarding.rate(of: source, now: now))
    }

    /// Passes a decision to the room's subscribers, the sender and its decoder.
    private func adopt(
        _ decision: DemandPlane.Decision, of source: SourceID, _ participant: Participant, now: MonotonicInstant
    ) {
        if decision.isNew, let tile = tile(of: source, participant) { emit(.tileChanged(tile)) }
        if let limit = decision.limit {
            participant.peer.limitReceivedVideo(to: limit, content: participant.stream(of: source.content))
            if participant.peer.limitsAreDue { participant.carrier.wakeSoon(now: now) }
        }
        guard let skipMode = decision.skipMode, let pipeline = participant.pipeline(for: source.content) else { return }
        let stream = participant.stream(of: source.content)
        let isUnseen = skipMode == .keyframes && recorder == nil && !forwarding.crossing.contains(source)
        // A stream that has begun since then counts as seen.
        guard skipMode != pipeline.skipMode || (isUnseen && !participant.peer.isUnseen(stream)) else { return }
        let needsKeyframe = pipeline.setSkipMode(skipMode)
        participant.peer.setUnseen(isUnseen, content: stream, needsKeyframe: needsKeyframe, now: now)
        // The request goes out now, not with the next packet that comes.
        if needsKeyframe { participant.carrier.wakeSoon(now: now) }
    }

    /// The tile of a source, for events; nil before its first tick.
    func tile(of source: SourceID, _ participant: Participant) -> RoomTile? {
        demands.layer(of: source).map {
            RoomTile(
                participant: participant.publicID, content: source.content, size: $0.requestedTile,
                bitRate: $0.price.rate)
        }
    }
}
