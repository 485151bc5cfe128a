import MediaCore
import VideoCoding

/// Decides when a group encodes a picture that stays the same: until it is sharp, and now and then from there on.
struct UnchangedPicture {
    /// A picture is encoded at least this many times more, until it is sharp.
    private static let refinementFrames = 15
    /// The QP of a sharp picture. At a low rate a page of text takes seconds to come so far.
    private static let sharpQP = 26
    /// The longest time for which a picture is refined.
    private static let longestRefinement = Duration.seconds(10)
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
    /// The last tick, encoded or not.
    private var lastTick: MonotonicInstant?
    /// The tick since which the picture is the same, and the number of ticks from there on.
    private var since: MonotonicInstant?
    private var repetitions = 0
    /// True from the first frame on that shows the picture as fine as a sharp one.
    private var isFine = false

    init(isLossReported: Bool) {
        self.isLossReported = isLossReported
    }

    /// True if the picture is as sharp as it gets.
    var isSharp: Bool {
        guard repetitions > Self.refinementFrames else { return false }
        guard !isFine, let lastTick, let since else { return true }
        return lastTick - since >= Self.longestRefinement
    }

    /// True while a picture that stays the same gets sharp. Its frames take all the bits that there are, so that they
    /// say nothing of the bits that the content takes.
    var isBeingRefined: Bool {
        guard !isFine, let lastTick, let since else { return false }
        return lastTick - since >= Self.shortestInterval
    }

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
        lastTick = captureTime
        guard let picture, picture === new else {
            begin(at: captureTime)
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

    /// A frame came out.
    mutating func cameOut(_ frame: EncodeStatistics) {
        // Receivers with a keyframe every two seconds get frames often enough to sharpen it. Frames of upper layers do
        // not improve those that follow.
        guard isLossReported, frame.temporalLayer == 0 else { return }
        if frame.type == .idr { isFine = false }
        isFine = isFine || frame.averageQP.map { $0 <= Self.sharpQP } ?? true
    }

    /// A picture has to get sharp: it is new, or comes as a keyframe, which is coarser than the frames before.
    mutating func begin(at captureTime: MonotonicInstant) {
        since = captureTime
        repetitions = 0
        isFine = !isLossReported
    }

    /// No frame came out: the picture is as new as before.
    mutating func leftOut() {
        picture = nil
        repetitions = 0
    }
}
