import MediaCore

/// Decides how much video each sender is asked for: as much as receivers see of it, and no more than is decoded.
///
/// It owns the requested layer of each source. At each video tick the room gives it a source's state as a value and the
/// time, and passes its decision to the connection, the decoder and the room's subscribers.
final class DemandPlane {
    /// A source at a tick.
    struct Source {
        var id: SourceID
        /// The largest tile that shows it; nil if its size makes no difference at present.
        var tile: VideoDimensions?
        /// The tile that it has to fill at least, because it is recorded, or shown at other relays.
        var leastTile = VideoDimensions.nothing
        /// The coded size of its pictures; nil before the first.
        var codedSize: VideoDimensions?
        /// The rate at which its best receiver shows it.
        var shownRate = BitRate.zero
        /// The time since its sender joined.
        var age: Duration
        /// Its decoding; nil before the first picture.
        var decoding: Decoding?
    }

    /// The decoding of a source at a tick.
    struct Decoding {
        /// The upright size of the newest picture; nil before the first.
        var size: VideoDimensions?
        /// True if the sender can be asked for a keyframe when the source is seen again.
        var canRequestKeyframes = true
        /// The source's excess over the decode budget; nil if it has none.
        var excess: Excess?
    }

    /// A source's excess over the decode budget.
    struct Excess {
        /// The part of the source that the budget allows, from 0 to 1.
        var allowedShare: Double
        /// The rate at which the source is sent now.
        var rate: BitRate
    }

    /// A decision for one source.
    struct Decision: Equatable {
        /// True if the requested size or rate is new.
        var isNew: Bool
        /// The rate to ask of the sender; nil while it is asked for none.
        var limit: BitRate?
        /// The decode mode; nil before the first picture.
        var skipMode: DecodeSkipMode?
    }

    /// The time for a sender's congestion control to find the capacity of its path, before it is asked for less.
    static let timeToFindThePath = Duration.seconds(5)
    /// The least rate that a sender is asked for when it exceeds the decode budget.
    static let leastDecodable = BitRate.kilobits(60)

    private let frameRate: Int
    private var layers: [SourceID: RequestedLayer] = [:]

    /// - Parameter frameRate: The room's pictures a second.
    init(frameRate: Int) {
        self.frameRate = frameRate
    }

    /// The requested layer of a source; nil before its first tick.
    func layer(of source: SourceID) -> RequestedLayer? { layers[source] }

    /// Forgets a source that has ended.
    func remove(_ source: SourceID) { layers[source] = nil }

    /// Forgets a participant's sources.
    func remove(_ participant: ParticipantID) {
        for content in SourceContent.allCases { remove(SourceID(participant: participant, content: content)) }
    }

    /// Decides for a source at a tick.
    ///
    /// - Parameter ratesAreNew: True if receivers may show more or less than before in the same tile.
    func update(_ source: Source, ratesAreNew: Bool, now: MonotonicInstant) -> Decision {
        let known = layers[source.id]
        var layer = known ?? RequestedLayer(tile: source.tile ?? .nothing)
        let tileHasChanged = layer.observe(source.tile, leastTile: source.leastTile, now: now)
        var isNew = known == nil || tileHasChanged
        if isNew || ratesAreNew {
            let price = price(layer, of: source)
            if known != nil, !tileHasChanged {
                isNew = layer.price.observe(price, now: now)
            } else {
                _ = layer.price.tileChanged(
                    isLarger: known.map { layer.requestedTile.area > $0.requestedTile.area } ?? false, rate: price,
                    now: now)
            }
        }
        let limit =
            source.age < Self.timeToFindThePath
            ? nil : Self.decodable(layer.price.bound(now: now), of: source, &layer)
        layers[source.id] = layer
        return Decision(isNew: isNew, limit: limit, skipMode: skipMode(layer, of: source))
    }

    private func price(_ layer: RequestedLayer, of source: Source) -> BitRate {
        UplinkPrice.rate(
            of: UplinkPrice.Source(
                tile: layer.requestedTile, size: source.codedSize, frameRate: frameRate, content: source.id.content),
            shown: source.shownRate)
    }

    /// Lowers a bound for a sender that sends more than the decode budget allows.
    private static func decodable(_ bound: BitRate, of source: Source, _ layer: inout RequestedLayer) -> BitRate {
        guard let excess = source.decoding?.excess else {
            layer.rateOverBudget = nil
            return bound
        }
        // The rate of now would fall with each request that the sender follows, and the next request with it.
        let rate = layer.rateOverBudget ?? excess.rate
        layer.rateOverBudget = rate
        return max(min(bound, rate * excess.allowedShare), leastDecodable)
    }

    private func skipMode(_ layer: RequestedLayer, of source: Source) -> DecodeSkipMode? {
        source.decoding.map {
            layer.skipMode(for: $0.size, content: source.id.content, canPause: $0.canRequestKeyframes)
        }
    }
}

extension VideoDimensions {
    /// The size of a tile that is not shown.
    static let nothing = VideoDimensions(width: 0, height: 0)

    /// The smallest size that is as wide and as high as both.
    func covering(_ other: VideoDimensions) -> VideoDimensions {
        VideoDimensions(width: max(width, other.width), height: max(height, other.height))
    }
}
