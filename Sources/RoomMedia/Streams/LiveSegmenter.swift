import Foundation
import MediaCore
import MediaFiles
import RoomAPI

/// Makes the parts of a live stream of a composite's frames, which are not encoded again, and of its sound, which
/// becomes AAC.
///
/// Belongs to one thread.
final class LiveSegmenter {
    private let stream: LiveStream
    private let limits: LiveWindow.Limits
    private let frameRate: Int
    private let longestFrame: Duration
    private let bitRate: BitRate
    /// The wall clock at time zero, by what the system's clock shows now.
    private let clock: () -> Date
    /// The same, as the last segment has it.
    private var origin: Date
    private let audio: CompositeAudio
    private var writer: FragmentWriter?
    private var format: VideoFormatDescription?
    /// A frame whose duration the next one tells.
    private var held: SampleBuffer?
    private var part: (duration: Duration, isIndependent: Bool)?
    private var segmentDuration = Duration.zero
    /// Where the last frame ended; nil before the first.
    private var end: MediaTime?

    /// Segments may end from then on.
    private static let shortestSegment = Duration.seconds(1)
    /// A longer frame leaves a gap. An unchanged picture comes again after 200 ms.
    private static let longestUsualFrame = Duration.milliseconds(600)
    /// The same in frames of the stream, of which overload control may leave out every other one.
    private static let longestFrameInFrames = 2.5
    /// Audio is left out that comes so long after the last picture.
    private static let longestAudioAlone = Duration.seconds(10)
    /// A smaller change of the wall clock is the error of a reading, which takes two clocks one after the other.
    private static let clockError = 0.1
    /// The largest ratio of a second's rate to the bitrate.
    private static let peak = 1.5

    /// - Throws: `OpusError` or `MediaFileError`: there is no decoder or encoder.
    init(
        stream: LiveStream, limits: LiveWindow.Limits = LiveWindow.Limits(), frameRate: Int, bitRate: BitRate,
        clock: @escaping () -> Date
    ) throws {
        self.stream = stream
        self.limits = limits
        self.frameRate = frameRate
        longestFrame = max(
            Self.longestUsualFrame, .seconds(Self.longestFrameInFrames / Double(max(1, frameRate))))
        self.bitRate = bitRate
        self.clock = clock
        origin = clock()
        audio = try CompositeAudio()
    }

    /// Takes a sample of the composite.
    ///
    /// - Throws: `MediaFileError`.
    func take(_ item: RecordingItem) throws {
        switch item.content {
        case .video(let sample, _):
            if let held { try write(held, until: sample.presentationTime) }
            held = sample
        case .audio(let packet, let time, _):
            // Pictures alone end parts: without them, a part would grow without end.
            guard let end, (time - end).duration <= Self.longestAudioAlone else { return }
            for packet in try audio.encode(packet, at: time) where packet.time >= .zero {
                try writer?.append(packet)
            }
        case .trackEnded, .anchored: return
        }
    }

    /// Completes what was begun.
    func finish() {
        if let held {
            try? write(held, until: held.presentationTime + MediaTime(value: 1, timescale: Int32(max(1, frameRate))))
        }
        held = nil
        try? endPart()
        stream.update { $0.end() }
    }

    private func write(_ frame: SampleBuffer, until next: MediaTime) throws {
        let duration = min(max((next - frame.presentationTime).duration, .milliseconds(1)), longestFrame)
        try prepare(for: frame, duration: duration)
        guard let writer else { return }
        try writer.append(frame, duration: MediaTime(duration, timescale: 90_000))
        let known = part ?? (.zero, frame.isSync)
        part = (known.duration + duration, known.isIndependent)
        segmentDuration += duration
        end = frame.presentationTime + MediaTime(duration, timescale: 90_000)
    }

    /// Ends the part, the segment or the format where the frame does not belong to it.
    private func prepare(for frame: SampleBuffer, duration: Duration) throws {
        let isGap = end.map { (frame.presentationTime - $0).duration > longestFrame } ?? false
        if frame.isSync, writer == nil || frame.format != format || isGap {
            try endPart()
            if frame.format != format || writer == nil { try begin(frame.format) }
            return beginSegment(at: frame.presentationTime, isGap: isGap)
        }
        if frame.isSync, segmentDuration >= Self.shortestSegment {
            try endPart()
            return beginSegment(at: frame.presentationTime)
        }
        guard let part, part.duration + duration > limits.part else { return }
        try endPart()
        if segmentDuration + limits.part > limits.segment { beginSegment(at: frame.presentationTime) }
    }

    private func begin(_ format: VideoFormatDescription) throws {
        let writer = try FragmentWriter(video: format, audio: audio.configuration)
        self.writer = writer
        self.format = format
        let level = format.properties.profileLevel
        stream.describe(
            LiveStream.Description(
                codecs: "avc1.\(level),mp4a.40.2", dimensions: format.dimensions,
                bitRate: bitRate * Self.peak + CompositeAudio.bitRate, frameRate: frameRate))
        stream.update { $0.setInitialization(writer.initialization) }
    }

    private func beginSegment(at time: MediaTime, isGap: Bool = false) {
        segmentDuration = .zero
        let shown = clock()
        if abs(shown.timeIntervalSince(origin)) > Self.clockError { origin = shown }
        let start = origin.addingTimeInterval(time.seconds)
        stream.update { $0.beginSegment(at: start, isGap: isGap) }
    }

    private func endPart() throws {
        guard let part, let writer else { return }
        let bytes = try writer.endFragment()
        self.part = nil
        stream.update {
            $0.append(LiveWindow.Part(bytes: bytes, duration: part.duration, isIndependent: part.isIndependent))
        }
    }
}
