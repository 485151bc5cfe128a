import Glibc
import MediaCore

/// The video rate that a sender is asked for: as much as the best of its receivers can show, and never so little that
/// the sender has to reduce its resolution.
///
/// A receiver shows a source with a part of its encoder's rate, in proportion to the tile's area. A source with a lower
/// rate limits the picture; a higher rate is lost in the encoder. A price rises at once. It falls when a lower one was
/// enough for `patience`, so that a varying rate does not move it.
struct UplinkPrice: Sendable {
    /// A source, as its price sees it.
    struct Source: Hashable, Sendable {
        /// The largest tile that shows it; zero by zero while nobody sees it.
        var tile: VideoDimensions
        /// The size that its sender sends; nil before the first picture.
        var size: VideoDimensions?
        /// Pictures a second of the room.
        var frameRate: Int
        var content: SourceContent
    }

    /// A receiver's picture that shows the source.
    struct View: Hashable, Sendable {
        /// The part of the picture that the source's tile takes, from 0 to 1.
        var share: Double
        /// The video rate of the receiver's encoder, or of its path if it has none.
        var rate: BitRate
        /// The QP of that encoder, averaged; nil while it is not known.
        var qp: Double?
        /// True if the receiver may get the source's own packets.
        var mayForward = false
    }

    // MARK: What a price follows from

    /// The rate at which video in a tile of this size looks good.
    ///
    /// Smaller pictures need more bits per sample: the exponent follows encoders' results at one quality.
    static func rate(ofTile tile: VideoDimensions, frameRate: Int, content: SourceContent) -> BitRate {
        guard tile.area > 0 else { return .zero }
        let pixels = Double(tile.area)
        let density = bitsPerPixel * (Double(referenceSize.area) / pixels).squareRoot().squareRoot()
        let rate = pixels * Double(min(max(frameRate, 1), 60)) * density
        let factor = content == .screenShare ? screenShareFactor : 1
        return max(BitRate(bitsPerSecond: (rate * factor).rounded()), least)
    }

    /// The rate below which a sender reduces pictures of this size, with no regard to their content.
    ///
    /// libwebrtc's `VideoStreamEncoder::DropDueToSize` (video/video_stream_encoder.cc) halves the size of a stream that
    /// begins, or changes its size, below 300 kbit/s if it is larger than 320x240, and below 500 kbit/s if it is larger
    /// than 640x480. The size comes back only when frames of the smaller size have a QP of at most 24 for seconds
    /// (`QualityScaler`), and 320x240 is sent with at most 600 kbit/s (`GetMaxDefaultVideoBitrateKbps`): a picture with
    /// many details never comes back.
    static func rateToKeep(_ size: VideoDimensions) -> BitRate {
        size.area > 640 * 480 ? .kilobits(500) : size.area > 320 * 240 ? .kilobits(300) : least
    }

    /// The source's rate beyond which this receiver's picture does not improve.
    ///
    /// An encoder that has reached a fine QP does not need its whole rate. A source's own packets are forwarded only if
    /// the path carries them with a margin (`ForwardingPolicy`), and forwarding is better than any encoder.
    static func shownRate(_ view: View) -> BitRate {
        let spare = view.qp.map { exp2(min(0, $0 - finestQP) / stepsToHalve) } ?? 1
        let rate = view.rate * min(max(view.share, 0), 1)
        return view.mayForward ? rate * (forwardableShare / headRoom) : rate * spare
    }

    /// The price of a source, of which its best receiver shows this much.
    static func rate(of source: Source, shown: BitRate) -> BitRate {
        guard source.tile.area > 0 else { return rateToKeep(source.size ?? referenceSize) }
        let sent = source.size.map { $0.area < source.tile.area ? $0 : source.tile } ?? source.tile
        let usual = rate(ofTile: source.tile, frameRate: source.frameRate, content: source.content)
        return max(usual, rateToKeep(sent), min(shown, usual * mostOfTile))
    }

    /// The lowest rate that a source is asked to send.
    private static let least = BitRate.kilobits(120)
    private static let referenceSize = VideoDimensions(width: 640, height: 360)
    /// The bits per sample of pictures of the reference size.
    private static let bitsPerPixel = 0.1
    /// Letters have to be sharp, and come all at once.
    private static let screenShareFactor = 2.0
    /// The most that is asked for a tile, by the rate at which it looks well: that is a QP finer by twelve.
    private static let mostOfTile = 4.0
    /// The QP below which nobody sees an improvement.
    private static let finestQP = 16.0
    /// The number of QP steps that halve the rate.
    private static let stepsToHalve = 6.0
    /// The part of a path's rate that a source may have to be forwarded on it: `ForwardingPolicy` asks for a fifth
    /// more.
    private static let forwardableShare = 0.8

    // MARK: Over time

    /// The time for which a lower price has to be sufficient.
    static let patience = Duration.seconds(3)
    /// The ratio by which another price has to differ to count.
    private static let notable = 1.15

    private(set) var rate: BitRate
    /// The highest of the lower prices, and since when they are lower.
    private var lower: (highest: BitRate, since: MonotonicInstant)?
    /// The time at which the source became visible or larger.
    private var grew: MonotonicInstant?

    init(rate: BitRate) {
        self.rate = rate
    }

    /// Records that the source has another largest tile, which has its own hysteresis. Returns true if the price has
    /// changed.
    mutating func tileChanged(isLarger: Bool, rate wanted: BitRate, now: MonotonicInstant) -> Bool {
        if isLarger { grew = now }
        lower = nil
        defer { rate = wanted }
        return rate != wanted
    }

    /// Takes the present price. Returns true if the price has changed.
    mutating func observe(_ wanted: BitRate, now: MonotonicInstant) -> Bool {
        if wanted > rate * Self.notable {
            rate = wanted
            lower = nil
            return true
        }
        guard wanted * Self.notable < rate else {
            lower = nil
            return false
        }
        let before = lower ?? (wanted, now)
        lower = (max(before.highest, wanted), before.since)
        guard now - before.since >= Self.patience else { return false }
        rate = max(before.highest, wanted)
        lower = nil
        return true
    }

    // MARK: The bound

    /// The limit that the sender is asked to keep. It exceeds the price, so that the sender does not reach it and
    /// continues to learn its path's capacity. For a while after the source became visible or larger it is higher
    /// still: libwebrtc probes its path with up to twice the rate that it needs next (`ProbeController`).
    func bound(now: MonotonicInstant) -> BitRate {
        let isProbing = grew.map { now - $0 < Self.probing.time } ?? false
        return rate * (isProbing ? Self.probing.headRoom : Self.headRoom)
    }

    private static let headRoom = 1.3
    private static let probing = (headRoom: 2.0, time: Duration.seconds(3))
}
