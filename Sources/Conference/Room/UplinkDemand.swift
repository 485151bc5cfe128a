import Compositing
import MediaCore

/// What is wanted of a source: no more than is seen of it.
///
/// It follows the largest tile in which anybody sees the source: at once where that grows, and where it shrinks, only
/// when it has been smaller for `patience`, so that who speaks by turns does not make everyone's encoder change.
struct UplinkDemand: Sendable {
    /// How long a tile has to be smaller before less is asked for.
    static let patience = Duration.seconds(3)

    /// The tile that is reckoned with; zero by zero where nobody sees the source.
    private(set) var tile: VideoDimensions
    /// The largest tile since when it is smaller.
    private var smaller: (largest: VideoDimensions, since: MonotonicInstant)?

    init(tile: VideoDimensions) {
        self.tile = tile
    }

    var isSeen: Bool { tile.area > 0 }

    /// Takes in the largest tile at present. Returns whether another one is to be reckoned with.
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

    // MARK: Rate

    /// With what rate video of this size looks well.
    ///
    /// Smaller pictures need more bits for each sample: the exponent is about what encoders show at one quality.
    static func bitRate(of size: VideoDimensions, frameRate: Int, content: SourceContent) -> BitRate {
        guard size.area > 0 else { return unseenBitRate }
        let pixels = Double(size.area)
        let density = bitsPerPixel * (Double(referenceSize.area) / pixels).squareRoot().squareRoot()
        let rate = pixels * Double(min(max(frameRate, 1), 60)) * density
        let factor = content == .slides ? slidesFactor : 1
        return BitRate(bitsPerSecond: max(rate * factor, Double(minimumBitRate.bitsPerSecond)).rounded())
    }

    /// With what rate it looks well in its tile: what a sender that listens has its encoder make.
    func bitRate(frameRate: Int, content: SourceContent) -> BitRate {
        Self.bitRate(of: tile, frameRate: frameRate, content: content)
    }

    /// The most that a sender is asked to send. It has head-room: it is there to keep rates from being wasted, not to make
    /// the picture worse, nor to bind those who keep to `bitRate`, whose congestion control then learns nothing more.
    func maximumBitRate(frameRate: Int, content: SourceContent) -> BitRate {
        bitRate(frameRate: frameRate, content: content) * Self.headRoom
    }

    /// What a source sends that nobody sees: it is to have a picture as soon as somebody does.
    static let unseenBitRate = BitRate.kilobits(60)
    /// No tile is so small that its source is to send less.
    static let minimumBitRate = BitRate.kilobits(120)
    private static let referenceSize = VideoDimensions(width: 640, height: 360)
    /// Of pictures of the reference size.
    private static let bitsPerPixel = 0.1
    private static let headRoom = 1.3
    /// Letters have to be sharp, and come all at once.
    private static let slidesFactor = 2.0

    // MARK: Effort

    /// What decoding is worth for pictures of this size, upright.
    ///
    /// - Parameter canPause: Whether the sender can be asked for a keyframe when it is seen again.
    func effort(for source: VideoDimensions?, content: SourceContent, canPause: Bool) -> UplinkEffort {
        guard isSeen else { return canPause ? .keyFrames : .referenceFrames }
        // Letters suffer.
        guard content == .camera, let source else { return .full }
        // A tile that is filled shows a part of the picture as wide or as high as itself.
        let ratio = min(
            Double(source.width) / Double(max(tile.width, 1)), Double(source.height) / Double(max(tile.height, 1)))
        return ratio >= 4 ? .referenceFrames : ratio >= 2 ? .filteredReferences : .full
    }
}
