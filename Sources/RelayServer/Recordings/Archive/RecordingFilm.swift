import AudioMixing
import Compositing
public import MediaCore
public import MediaFiles
public import NIOCore
public import RoomAPI

/// A recording as a film: its timeline is played on a virtual clock, its tracks are decoded, composed and mixed.
///
/// The film begins with the first picture of the recording.
public final class RecordingFilm: ExportSource {
    /// What cannot be heard above the audio of a call takes no more than this.
    private static let audioRate = BitRate.kilobits(96)

    public let duration: Duration
    private let recording: RecordingReader
    private let canvas: VideoDimensions
    private let frameRate: Int
    private let layout: LayoutMode?
    private let start: Double
    private var scene: ArchiveScene
    private var lastFrame = -1
    private let pictures: [RecordingTrack: TrackPictures]
    private let renderer = CompositionRenderer()
    private let audio: [TrackAudio]
    private let encoder: OpusEncoder
    private var mixer = AudioMixer()
    private var limiter = SoftLimiter()
    private var mixed = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    private var audioFrames = 0

    /// - Parameters:
    ///   - layout: How the film is laid out; nil: as the room was.
    /// - Throws: `RecordingReadError`, `OpusError`.
    public init(path: String, canvas: VideoDimensions, frameRate: Int, layout: LayoutMode?) throws {
        let recording = try RecordingReader(path: path)
        self.recording = recording
        self.canvas = canvas
        self.frameRate = frameRate
        self.layout = layout
        let video = recording.files.filter { $0.track.content.isVideo }
        let start = video.first?.start ?? 0
        self.start = start
        let ends = recording.files.map { $0.start + ($0.duration ?? 0) } + recording.entries.map(\.at)
        duration = .seconds(clamping: max(0, (ends.max() ?? 0) - start))
        scene = ArchiveScene(recording, canvas: canvas, frameRate: frameRate, layout: layout, start: start)
        pictures = Dictionary(grouping: video, by: \.track).mapValues {
            TrackPictures($0, folder: path, start: start)
        }
        let tracks = Dictionary(grouping: recording.files.filter { $0.track.content == .audio }, by: \.track)
        audio = try tracks.sorted { $0.key.fileNamePrefix < $1.key.fileNamePrefix }.map {
            try TrackAudio($0.value, folder: path, start: start)
        }
        encoder = try OpusEncoder(
            settings: AudioEncoderSettings(bitRate: Self.audioRate, complexity: 10, usesInBandFEC: false))
    }

    public func picture(at time: MediaTime) throws -> PixelBuffer {
        let frame = Int(time.converted(toTimescale: Int32(clamping: frameRate)).value)
        if frame <= lastFrame {
            scene = ArchiveScene(recording, canvas: canvas, frameRate: frameRate, layout: layout, start: start)
        }
        lastFrame = frame
        scene.advance(to: frame)
        let instruction = scene.instruction(at: time)
        var inputs = CompositionInputs(sources: [:])
        for id in instruction.requiredSources {
            inputs.sources[id] = try scene.source(id) { track in try pictures[track]?.picture(at: time.seconds) }
        }
        let composed = renderer.render(
            [CompositionRequest(canvas: canvas, instruction: instruction)], inputs: inputs, at: time)
        guard let picture = composed.first?.picture else { throw ExportError.empty }
        return picture
    }

    public func nextAudio() throws -> ByteBuffer? {
        guard .milliseconds(20) * audioFrames < duration, !audio.isEmpty else { return nil }
        audioFrames += 1
        mixer.begin()
        for track in audio { mixer.add(try track.take(AudioFormat.frameSampleCount)) }
        if mixer.mix(without: nil, into: &mixed) { limiter.process(&mixed) }
        return try encoder.encode(mixed)
    }
}
