import MediaCore

/// Decides when a group encodes a picture that stays the same: until it is sharp, and now and then from there on.
struct UnchangedPicture {
    /// A picture is encoded this many times more, until it is sharp.
    private static let refinementFrames = 15
    /// The time between two frames that keep the stream alive: at first, so that the loss of a frame shows soon, and
    /// for receivers that report no loss.
    static let shortestInterval = Duration.milliseconds(200)
    /// The same after `settlingTime`.
    private static let longestInterval = Duration.seconds(1)
    private static let settlingTime = Duration.seconds(3)
    /// Ticks at these intervals may come a little early.
    private static let earliness = Duration.milliseconds(10)

    /// False if receivers cannot report that a frame is lost.
    private let isLossReported: Bool
    private var picture: PixelBuffer?
    /// The tick at which the picture was encoded last.
    private var lastCapture: MonotonicInstant?
    /// The tick since which the picture is the same, and the number of ticks from there on.
    private var since: MonotonicInstant?
    private var repetitions = 0

    init(isLossReported: Bool) {
        self.isLossReported = isLossReported
    }

    /// True if the picture is as sharp as it gets.
    var isSharp: Bool { repetitions > Self.refinementFrames }

    /// The time from one frame to the next once the picture is sharp.
    var interval: Duration {
        guard isLossReported, let lastCapture, let since, lastCapture - since >= Self.settlingTime else {
            return Self.shortestInterval
        }
        return Self.longestInterval
    }

    /// The need for a frame of a tick's picture.
    enum Need {
        /// The picture is new, or not sharp yet: it is encoded as often as the frame rate says.
        case usual
        /// The picture is sharp, and a frame keeps the stream alive.
        case keepAlive
        /// The picture is sharp, and a frame was encoded a short time ago.
        case none
    }

    /// Compares a tick's picture with the one that was encoded last.
    mutating func need(of new: PixelBuffer, at captureTime: MonotonicInstant) -> Need {
        guard let picture, picture === new else {
            repetitions = 0
            since = captureTime
            return .usual
        }
        repetitions += 1
        guard isSharp else { return .usual }
        guard let lastCapture else { return .keepAlive }
        return captureTime - lastCapture >= interval - Self.earliness ? .keepAlive : .none
    }

    /// A picture is encoded.
    mutating func encoded(_ picture: PixelBuffer, at captureTime: MonotonicInstant) {
        self.picture = picture
        lastCapture = captureTime
    }

    /// The frame is coarser than those before, as a keyframe is: the picture has to get sharp again.
    mutating func becameCoarse(at captureTime: MonotonicInstant) {
        since = captureTime
        repetitions = 0
    }

    /// No frame came out: the picture is as new as before.
    mutating func leftOut() {
        picture = nil
        repetitions = 0
    }
}
