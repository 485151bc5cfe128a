import AudioMixing
import Compositing
import EncoderSharing
import MediaCore
import RoomAPI
import VideoCoding

/// One picture of a room that no member is sent: a receiver without a network in the room's planes. Its frames and the
/// mix of all go to recordings and streams. Those that want the same share it, so that nothing is encoded twice.
final class RoomComposite {
    /// Its number among the receivers of the room's planes.
    let receiver: ParticipantID
    /// Its own choice of layout; nil: the room's.
    private(set) var layout: ParticipantLayout?
    let format: EncodeFormat
    let bitRate: BitRate
    private let asked: MonotonicInstant
    /// True if pictures are composed.
    private(set) var hasBegun = false
    private(set) var takers: [CompositeTaker] = []

    /// The longest wait for the first picture of a camera or screen that is sent.
    private static let patience = Duration.seconds(2)

    init(receiver: ParticipantID, settings: CompositeSettings, configuration: RelayConfiguration, now: MonotonicInstant)
    {
        self.receiver = receiver
        layout = settings.layout.isEmpty ? nil : settings.layout
        format = Self.format(settings, configuration: configuration)
        bitRate = Self.bitRate(settings, configuration: configuration)
        asked = now
    }

    /// True if it is what these settings ask for.
    func suits(_ settings: CompositeSettings, configuration: RelayConfiguration) -> Bool {
        layout ?? ParticipantLayout() == settings.layout
            && format == Self.format(settings, configuration: configuration)
            && bitRate == Self.bitRate(settings, configuration: configuration)
    }

    private static func bitRate(_ settings: CompositeSettings, configuration: RelayConfiguration) -> BitRate {
        settings.bitRate ?? configuration.maximumBitRate
    }

    private static func format(_ settings: CompositeSettings, configuration: RelayConfiguration) -> EncodeFormat {
        var properties = CompressionProperties()
        properties.profileLevel = H264ProfileLevel(.high)
        properties.preset = configuration.encoderPreset
        properties.expectedFrameRate = Double(configuration.frameRate)
        properties.colour = CompositionRenderer.canvasColour
        return EncodeFormat(
            dimensions: settings.size ?? configuration.canvas, properties: properties, repeatsKeyframes: true,
            isStored: true)
    }

    /// A participant has left: a layout that names it is the room's again.
    func forget(_ publicID: String) {
        if layout?.mode?.participant == publicID { layout?.mode = nil }
        layout?.hidden.removeAll { $0 == publicID }
    }

    /// Begins when there is something to see: films do not begin with an empty picture.
    ///
    /// - Parameter hasPicture: Whether there is a picture of a source, or none is to be expected.
    /// - Returns: Whether it begins now.
    func begin(hasPicture: Bool, now: MonotonicInstant) -> Bool {
        guard !hasBegun, hasPicture || now - asked >= Self.patience else { return false }
        hasBegun = true
        return true
    }

    // MARK: Takers

    func add(_ taker: CompositeTaker) { takers.append(taker) }

    /// Returns false if there is no such taker.
    func remove(_ id: String) -> Bool {
        guard let index = takers.firstIndex(where: { $0.id == id }) else { return false }
        takers.remove(at: index)
        return true
    }

    /// A taker could not take frames: it goes on with a keyframe. Returns false if there is no such taker.
    func lostFrames(of id: String) -> Bool {
        guard let index = takers.firstIndex(where: { $0.id == id }) else { return false }
        takers[index].lostFrames()
        return true
    }

    /// - Parameter lag: The time by which the mix is behind it.
    func take(_ frame: EncodedFrame, at time: MonotonicInstant, lag: Duration) {
        for index in takers.indices { takers[index].take(frame, at: time, lag: lag) }
    }

    func take(_ mix: EncodedAudio, at time: MonotonicInstant) {
        for index in takers.indices { takers[index].take(mix, at: time) }
    }
}

/// A recording or stream of a composite, on a clock of its own. Pictures and sound begin with a keyframe.
struct CompositeTaker {
    let id: String
    let began: MonotonicInstant
    private let log: RecordingLog
    private var awaitsKeyframe = true
    /// Where the sound goes on; nil before the first keyframe.
    private var audioEnd: MonotonicInstant?

    private static let packet = Duration.milliseconds(20)
    /// A longer gap in the sound stays one.
    private static let longestSilence = Duration.seconds(5)

    init(id: String, log: RecordingLog, now: MonotonicInstant) {
        self.id = id
        self.log = log
        began = now
    }

    mutating func lostFrames() { awaitsKeyframe = true }

    mutating func take(_ frame: EncodedFrame, at captureTime: MonotonicInstant, lag: Duration) {
        guard !awaitsKeyframe || frame.isKeyframe else { return }
        // The first tick may be one that was left out just before: without its keyframe, two seconds would be lost.
        let time = max(captureTime + lag, began)
        awaitsKeyframe = false
        if audioEnd == nil { audioEnd = time }
        var sample = frame.sample
        sample.presentationTime = MediaTime(time - began, timescale: 90_000)
        append(.video(sample, .none), at: time)
    }

    mutating func take(_ mix: EncodedAudio, at time: MonotonicInstant) {
        guard var end = audioEnd, time + Self.packet / 2 >= end else { return }
        // Where the mixer was late, the sound goes on without a hole: players stop at one.
        if time - end <= Self.longestSilence {
            while time - end >= Self.packet {
                append(BlockBuffer(OpusEncoder.silence), at: end)
                end += Self.packet
            }
        }
        append(BlockBuffer(mix.payload), at: time)
        audioEnd = time + Self.packet
    }

    private func append(_ packet: BlockBuffer, at time: MonotonicInstant) {
        append(
            .audio(
                packet, time: MediaTime(time - began, timescale: 48_000),
                duration: MediaTime(value: Int64(AudioFormat.frameSampleCount), timescale: 48_000)), at: time)
    }

    private func append(_ content: RecordingItem.Content, at time: MonotonicInstant) {
        log.append(RecordingItem(recording: id, track: .composite, at: time - began, content: content))
    }
}
