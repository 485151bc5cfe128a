import MediaCore

/// The size and rate that a sender is asked for: no more than receivers see.
///
/// It follows the largest tile of the source: growth at once, and a reduction only after `patience`, so that
/// alternating speakers do not change everyone's encoder.
struct RequestedLayer: Sendable {
    /// The time for which a tile has to be smaller before less is requested.
    static let patience = Duration.seconds(3)

    /// The effective tile; zero by zero if nobody sees the source.
    private(set) var tile: VideoDimensions
    /// The size that the source has to fill besides: it is recorded, or shown at other relays.
    private(set) var leastTile = VideoDimensions.nothing
    /// The rate that is asked for.
    var price = UplinkPrice(rate: .zero)
    /// The rate that the sender had when its frames first exceeded the decode budget; nil while they fit.
    var rateOverBudget: BitRate?
    /// The largest tile since when it is smaller.
    private var smaller: (largest: VideoDimensions, since: MonotonicInstant)?

    init(tile: VideoDimensions) {
        self.tile = tile
    }

    var isSeen: Bool { tile.area > 0 }

    /// The size that the sender is asked to fill.
    var requestedTile: VideoDimensions { tile.covering(leastTile) }

    /// Takes the largest tile here, nil if it makes no difference, and the size that the source has to fill besides.
    /// Returns true if the requested tile has changed.
    mutating func observe(_ wanted: VideoDimensions?, leastTile: VideoDimensions, now: MonotonicInstant) -> Bool {
        let before = requestedTile
        self.leastTile = leastTile
        if let wanted { _ = observe(wanted, now: now) }
        return requestedTile != before
    }

    /// Takes the present largest tile. Returns true if the effective tile has changed.
    mutating func observe(_ wanted: VideoDimensions, now: MonotonicInstant) -> Bool {
        guard wanted != tile else {
            smaller = nil
            return false
        }
        guard wanted.width <= tile.width, wanted.height <= tile.height else {
            tile = wanted
            smaller = nil
            return true
        }
        guard let before = smaller else {
            smaller = (wanted, now)
            return false
        }
        let largest = wanted.area > before.largest.area ? wanted : before.largest
        smaller?.largest = largest
        guard now - before.since >= Self.patience else { return false }
        tile = largest
        smaller = largest == wanted ? nil : (wanted, now)
        return true
    }

    // MARK: Effort

    /// Returns the decode mode of upright pictures of this size.
    ///
    /// - Parameter canPause: True if the sender can be asked for a keyframe when it is seen again.
    func skipMode(for source: VideoDimensions?, content: SourceContent, canPause: Bool) -> DecodeSkipMode {
        guard isSeen else { return canPause ? .keyframes : .referenceFrames }
        // Letters suffer.
        guard content == .camera, let source else { return .full }
        // A tile that is filled shows a part of the picture as wide or as high as itself.
        let ratio = min(
            Double(source.width) / Double(max(tile.width, 1)), Double(source.height) / Double(max(tile.height, 1)))
        return ratio >= 4 ? .referenceFrames : ratio >= 2 ? .filteredReferences : .full
    }
}
