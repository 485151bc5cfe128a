import Compositing
import MediaCore
import PeerConnection
import RoomAPI
import SecureTransport

/// Asks senders for as much video as receivers see of it.
extension Room {
    /// The time for a sender's congestion control to find the capacity of its path, before it is asked for less.
    private static let timeToFindThePath = Duration.seconds(5)

    /// Follows the visible size of every source: sends events with the size of its tile, requests the useful rate from
    /// its sender, and sets its decode mode.
    func updateDemands(_ plan: ViewPlan, now: MonotonicInstant) {
        let ratesAreNew = updateShownRates(plan, now: now)
        for participant in participants {
            for content in SourceContent.allCases where participant.sends(content) {
                let source = SourceID(participant: participant.id, content: content)
                // A source that glides or fades out is seen until it is gone.
                let isLeaving = composition.wantedTiles[source] == nil && plan.requiredSources.contains(source)
                let demand = follow(
                    isLeaving ? nil : composition.wantedTiles[source] ?? .nothing, content, of: participant,
                    ratesAreNew: ratesAreNew, now: now)
                limitUplink(demand, content, of: participant, now: now)
                setSkipMode(demand, content, of: participant, now: now)
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

    /// - Parameters:
    ///   - wanted: The largest tile; nil if that makes no difference at present.
    ///   - ratesAreNew: True if receivers may show more or less than before in the same tile.
    private func follow(
        _ wanted: VideoDimensions?, _ content: SourceContent, of participant: Participant, ratesAreNew: Bool,
        now: MonotonicInstant
    ) -> RequestedLayer {
        let known = participant.demands[content]
        var demand = known ?? RequestedLayer(tile: wanted ?? .nothing)
        let tileHasChanged = wanted.map { demand.observe($0, now: now) } ?? false
        defer { participant.demands[content] = demand }
        guard tileHasChanged || known == nil || ratesAreNew else { return demand }
        let price = price(demand, content, of: participant)
        let priceHasChanged =
            if known != nil, !tileHasChanged {
                demand.price.observe(price, now: now)
            } else {
                demand.price.tileChanged(
                    isLarger: known.map { demand.tile.area > $0.tile.area } ?? false, rate: price, now: now)
            }
        if tileHasChanged || known == nil || priceHasChanged {
            emit(.tileChanged(tile(demand, content, of: participant)))
        }
        return demand
    }

    private func price(_ demand: RequestedLayer, _ content: SourceContent, of participant: Participant) -> BitRate {
        let source = SourceID(participant: participant.id, content: content)
        return UplinkPrice.rate(
            of: UplinkPrice.Source(
                tile: recorder == nil ? demand.tile : recordedTile(demand.tile),
                size: forwarding.format(of: source)?.dimensions,
                frameRate: configuration.frameRate, content: content),
            shown: shownRates[source])
    }

    /// The tile of a source, for events.
    func tile(_ demand: RequestedLayer, _ content: SourceContent, of participant: Participant) -> RoomTile {
        RoomTile(
            participant: participant.publicID, content: content, size: demand.tile, bitRate: demand.price.rate)
    }

    private func limitUplink(
        _ demand: RequestedLayer, _ content: SourceContent, of participant: Participant, now: MonotonicInstant
    ) {
        guard now - participant.joined >= Self.timeToFindThePath else { return }
        let bound = demand.price.bound(now: now)
        participant.peer.limitReceivedVideo(
            to: decodable(bound, content, of: participant, now: now), content: content.negotiated)
        if participant.peer.limitsAreDue { participant.nextWakeUp = min(participant.nextWakeUp, now) }
    }

    /// The least that a sender is asked to send when it exceeds the decode budget.
    private static let leastDecodable = BitRate.kilobits(60)

    /// Lowers a bound for a sender that sends more than the decode budget allows.
    private func decodable(
        _ limit: BitRate, _ content: SourceContent, of participant: Participant, now: MonotonicInstant
    ) -> BitRate {
        let share = decoding.sustainableShare(of: participant.id, now: now)
        guard share < 1, let pipeline = participant.pipeline(for: content) else {
            participant.demands[content]?.rateOverBudget = nil
            return limit
        }
        // The rate of now would fall with each request that the sender follows, and the next request with it.
        let rate = participant.demands[content]?.rateOverBudget ?? forwarding.rate(of: pipeline.source, now: now)
        participant.demands[content]?.rateOverBudget = rate
        return max(min(limit, rate * share), Self.leastDecodable)
    }

    private func setSkipMode(
        _ demand: RequestedLayer, _ content: SourceContent, of participant: Participant, now: MonotonicInstant
    ) {
        guard let pipeline = participant.pipeline(for: content) else { return }
        let size = pipeline.newest.map { pipeline.rotation.upright($0.dimensions) }
        let skipMode = demand.skipMode(
            for: size, content: content, canPause: participant.peer.canRequestKeyframes(content.negotiated))
        guard skipMode != pipeline.skipMode else { return }
        let needsKeyframe = pipeline.setSkipMode(skipMode)
        participant.peer.setUnseen(
            skipMode == .keyframes && recorder == nil, content: content.negotiated, needsKeyframe: needsKeyframe,
            now: now)
        // The request goes out now, not with the next packet that comes.
        if needsKeyframe { participant.nextWakeUp = min(participant.nextWakeUp, now) }
    }
}

extension VideoDimensions {
    fileprivate static let nothing = VideoDimensions(width: 0, height: 0)
}
