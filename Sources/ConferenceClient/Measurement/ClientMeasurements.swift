import MediaCore
import PeerConnection

/// A client's counts and measurements of its session, besides those of its connection.
struct ClientMeasurements: Sendable {
    /// Counters of one second.
    struct Interval: Sendable {
        var frames = 0
        var videoSize = DataSize.zero
        var audioSize = DataSize.zero
        var sentVideoSize = DataSize.zero
        var sentAudioSize = DataSize.zero
        var sentFrames = 0
    }

    var start = MonotonicInstant.zero
    /// The time at which the offer was posted.
    var posted = MonotonicInstant.zero
    /// The time at which media could first flow.
    var connected: MonotonicInstant?
    /// The time at which the first picture was decoded.
    var firstPicture: MonotonicInstant?
    var freezes = FreezeMeter()
    var delays = DurationHistogram()
    var lastDelay: Duration?
    /// Delays by the tag of the picture's maker.
    var delaysByTag: [UInt16: DurationHistogram] = [:]
    /// The time at which counters were last read.
    var firstVideoFrame: MonotonicInstant?
    var dimensions: VideoDimensions?
    var picturesDecoded = 0
    var decodeFailures = 0
    var framesNotDecoded = 0
    var videoFrames = 0
    var keyframes = 0
    var videoSize = DataSize.zero
    var audioPackets = 0
    var audioSize = DataSize.zero
    var sentFrames = 0
    var sentKeyframes = 0
    /// The size of the last frame that was sent.
    var sentDimensions: VideoDimensions?
    /// The number of changes of the size.
    var sentSizeChanges = 0
    var skippedFrames = 0
    var sentVideoSize = DataSize.zero
    var sentAudioPackets = 0
    var sentAudioSize = DataSize.zero
    var current = Interval()

    /// The number of participants that are distinguished, which no room exceeds.
    private static let maximumTagCount = 64

    mutating func received(_ frame: ReceivedVideoFrame, now: MonotonicInstant) {
        let sample = frame.sample
        videoFrames += 1
        if sample.isSync { keyframes += 1 }
        if firstVideoFrame == nil { firstVideoFrame = now }
        dimensions = sample.format.dimensions
        let size = DataSize(bytes: sample.data.count)
        videoSize += size
        current.videoSize += size
        current.frames += 1
        if frame.followsLoss || frame.isRecovering { freezes.frameMissed() }
        if !frame.isRecovering { freezes.frameShown(now: now, made: sample.presentationTime) }
    }

    /// The longest time from the connection to the goodbye of a relay that has no seat left.
    private static let refusalTime = Duration.seconds(5)

    /// True if the client has just connected, and nothing came: seats are taken by who connects, not by who joins.
    func isUnserved(now: MonotonicInstant) -> Bool {
        firstVideoFrame == nil && audioPackets == 0 && now - (connected ?? now) < Self.refusalTime
    }

    mutating func receivedAudio(size: DataSize) {
        audioPackets += 1
        audioSize += size
        current.audioSize += size
    }

    mutating func sent(size: DataSize, isKeyframe: Bool, dimensions: VideoDimensions) {
        sentFrames += 1
        if let before = sentDimensions, before != dimensions { sentSizeChanges += 1 }
        sentDimensions = dimensions
        if isKeyframe { sentKeyframes += 1 }
        sentVideoSize += size
        current.sentVideoSize += size
        current.sentFrames += 1
    }

    mutating func sentAudio(size: DataSize) {
        sentAudioPackets += 1
        sentAudioSize += size
        current.sentAudioSize += size
    }

    mutating func decoded(_ output: VideoReceivePipeline.Output, now: MonotonicInstant) {
        if output.pictureCount > 0 { firstPicture = firstPicture ?? now }
        picturesDecoded += output.pictureCount
        decodeFailures += output.failureCount
        guard let readings = output.delays, !readings.isEmpty else { return }
        var sum = Duration.zero
        for (tag, delay) in readings {
            delays.record(delay)
            sum += delay
            if delaysByTag[tag] != nil || delaysByTag.count < Self.maximumTagCount {
                delaysByTag[tag, default: DurationHistogram()].record(delay)
            }
        }
        lastDelay = sum / readings.count
    }
}
