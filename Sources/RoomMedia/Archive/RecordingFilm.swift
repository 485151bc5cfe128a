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
    /// A higher rate than this cannot be heard in the audio of a call.
    private static let audioRate = BitRate.kilobits(96)
    /// The number of pictures of which the one is chosen that stands for the film.
    private static let posterCandidates = 12
    /// The most renderings of a picture until it is whole: each has two labels more.
    private static let mostRenderings = 64

    public let duration: Duration
    public let identity: String
    public let chapters: [MovieChapter]
    public let captions: [WebVTTCue]
    private let recording: RecordingReader
    private let canvas: VideoDimensions
    private let frameRate: Int
    private let layout: LayoutMode?
    private let start: Double
    private var scene: ArchiveScene
    private var lastFrame = -1
    private var pictures: [RecordingTrack: TrackPictures] = [:]
    private let renderer = CompositionRenderer()
    private let sound: ArchiveSound
    private let encoder: OpusEncoder

    /// - Parameters:
    ///   - layout: How the film is laid out; nil: as the room was.
    /// - Throws: `RecordingReadError`, `OpusError`.
    public init(path: String, canvas: VideoDimensions, frameRate: Int, layout: LayoutMode?) throws {
        let recording = try RecordingReader(path: path)
        self.recording = recording
        self.canvas = canvas
        self.frameRate = frameRate
        self.layout = layout
        let start = recording.files.first { $0.track.content.isVideo }?.start ?? 0
        self.start = start
        duration = .seconds(clamping: max(0, recording.end - start))
        identity =
            "recording \(recording.manifest.id), \(recording.entries.count) entries, \(recording.files.count) files, "
            + "\(duration.nanoseconds) ns, layout \(layout.map { "\($0)" } ?? "of the room")"
        let story = ArchiveStory(recording.entries, start: start, duration: duration.seconds)
        chapters = story.chapters
        captions = story.captions
        scene = ArchiveScene(recording, canvas: canvas, frameRate: frameRate, layout: layout, start: start)
        sound = ArchiveSound(recording.files, folder: path, start: start, duration: duration)
        encoder = try OpusEncoder(
            settings: AudioEncoderSettings(bitRate: Self.audioRate, complexity: 10, usesInBandFEC: false))
        rewind()
    }

    /// Goes back to the beginning: the next picture may be any.
    private func rewind() {
        scene = ArchiveScene(recording, canvas: canvas, frameRate: frameRate, layout: layout, start: start)
        lastFrame = -1
        pictures = Dictionary(grouping: recording.files.filter { $0.track.content.isVideo }, by: \.track).mapValues {
            TrackPictures($0, folder: recording.path, start: start)
        }
    }

    public func picture(at time: MediaTime) throws -> PixelBuffer { try frame(at: time).picture }

    /// The picture at a time, and of how many sources there is a picture in it.
    private func frame(at time: MediaTime) throws -> (picture: PixelBuffer, sourceCount: Int) {
        let frame = Int(clamping: time.converted(toTimescale: Int32(clamping: frameRate)).value)
        if frame <= lastFrame {
            scene = ArchiveScene(recording, canvas: canvas, frameRate: frameRate, layout: layout, start: start)
        }
        lastFrame = frame
        scene.advance(to: frame)
        let instruction = scene.instruction(at: time)
        var inputs = CompositionInputs(sources: [:])
        var sourceCount = 0
        for id in instruction.requiredSources {
            inputs.sources[id] = scene.source(id) { track in
                // The source's picture at the middle of this frame is nearest to the audio that plays with the frame.
                let picture = pictures[track]?.picture(at: time.seconds + 0.5 / Double(frameRate))
                if picture != nil { sourceCount += 1 }
                return picture
            }
        }
        let request = CompositionRequest(canvas: canvas, instruction: instruction)
        guard let picture = wholePicture(request, inputs, at: time) else { throw ExportError.empty }
        return (picture, sourceCount)
    }

    /// A picture with all its labels. The renderer leaves out those that would keep a call waiting, and makes the
    /// picture anew until it has them.
    private func wholePicture(
        _ request: CompositionRequest, _ inputs: CompositionInputs, at time: MediaTime
    ) -> PixelBuffer? {
        var picture: PixelBuffer?
        for _ in 0..<Self.mostRenderings {
            guard let composed = renderer.render([request], inputs: inputs, at: time).first else { break }
            picture = composed.picture
            guard composed.origin == .rendered else { break }
        }
        return picture
    }

    public func prepareAudio(isCancelled: () -> Bool, onProgress: (Double) -> Void) throws {
        try sound.prepare(isCancelled: isCancelled, onProgress: onProgress)
    }

    public func nextAudio() throws -> ByteBuffer? { try sound.next().map { try encoder.encode($0) } }

    // MARK: The poster

    /// Chooses among pictures throughout the film the first one with the most people in it, and of these the one with
    /// the most to see.
    public func writePoster(to path: String) throws {
        var best: (picture: PixelBuffer, sourceCount: Int, variance: Double)?
        for index in 0..<Self.posterCandidates {
            let seconds = duration.seconds * (Double(index) + 0.5) / Double(Self.posterCandidates)
            // Tracks go to the next picture through all between, but begin anywhere.
            rewind()
            let frame = try frame(
                at: MediaTime(
                    value: Int64(clamping: (seconds * Double(frameRate)).rounded(.down)),
                    timescale: Int32(clamping: frameRate)))
            let variance = Self.variance(of: frame.picture)
            if best.map({ ($0.sourceCount, $0.variance) < (frame.sourceCount, variance) }) ?? true {
                best = (frame.picture, frame.sourceCount, variance)
            }
        }
        rewind()
        try best?.picture.writePNG(to: path)
    }

    /// The variance of the brightness of a picture's samples.
    private static func variance(of picture: PixelBuffer) -> Double {
        picture.withPlane(0) { bytes, stride in
            let (width, height) = (picture.dimensions.width, picture.dimensions.height)
            var (sum, squares) = (0, 0)
            for row in 0..<height {
                for sample in bytes[(row * stride)..<(row * stride + width)] {
                    sum += Int(sample)
                    squares += Int(sample) * Int(sample)
                }
            }
            let count = Double(max(1, width * height))
            let mean = Double(sum) / count
            return Double(squares) / count - mean * mean
        }
    }
}
