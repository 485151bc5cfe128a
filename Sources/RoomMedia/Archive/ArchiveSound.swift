import AudioMixing
import Foundation
import MediaCore
import MediaFiles
import RoomAPI

/// The sound of a film: all audio tracks, mixed, at the loudness that broadcasters give a programme (EBU R 128).
///
/// One gain holds for the whole film, so quiet passages stay quieter than loud ones. Peaks beyond the ceiling are
/// limited.
final class ArchiveSound {
    /// A call in which somebody breathes is not made louder than this many decibels.
    private static let highestGain = 20.0
    /// The largest remaining distance of the loudness from its target, in decibels, and the largest number of readings
    /// that it may take to get there.
    private static let tolerance = 0.1
    private static let mostReadings = 4
    /// Samples stay below -2 dB of full scale: then the peaks between them, which a codec raises further, stay below
    /// the -1 dB that EBU R 128 allows.
    private static let ceiling: Float = 0.794
    /// The number of frames that are mixed between two questions whether to go on.
    private static let framesPerQuestion = 50

    private let files: [[RecordedFile]]
    private let folder: String
    private let start: Double
    private let frameCount: Int
    private var gain: Float = 1
    private var mix: Mix?

    /// - Parameter start: The time of the recording at which the film begins.
    init(_ files: [RecordedFile], folder: String, start: Double, duration: Duration) {
        let tracks = Dictionary(grouping: files.filter { $0.track.content == .audio }, by: \.track)
        self.files = tracks.sorted { $0.key.fileNamePrefix < $1.key.fileNamePrefix }.map(\.value)
        self.folder = folder
        self.start = start
        frameCount = Int(clamping: (duration.seconds / AudioFormat.frameDuration.seconds).rounded(.up))
    }

    /// Measures the loudness and settles the gain. Until then the sound is as loud as it was in the call.
    ///
    /// - Parameter onProgress: Told how much of a reading of all tracks is done.
    func prepare(isCancelled: () -> Bool, onProgress: (Double) -> Void) throws {
        guard let call = try measure(gain: nil, isCancelled, onProgress), let loudness = call.loudness else { return }
        var decibels = min(LoudnessMeter.programmeLoudness - loudness, Self.highestGain)
        let highestPeak = call.peak * Self.factor(decibels)
        // The limiter takes a little off where it works; what it takes is added and measured again.
        if highestPeak > Double(SoftLimiter.threshold * Self.ceiling) {
            for _ in 1..<Self.mostReadings {
                guard
                    let limited = try measure(gain: Float(Self.factor(decibels)), isCancelled, onProgress)?.loudness,
                    decibels < Self.highestGain
                else { break }
                let missing = LoudnessMeter.programmeLoudness - limited
                guard abs(missing) > Self.tolerance else { break }
                decibels = min(decibels + missing, Self.highestGain)
            }
        }
        gain = Float(Self.factor(decibels))
    }

    /// The next 20 ms; nil at the film's end, and if there is no audio.
    func next() throws -> [Float]? {
        guard !files.isEmpty else { return nil }
        let mix = try self.mix ?? makeMix()
        self.mix = mix
        return try mix.next(gain: gain)
    }

    private static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

    private func makeMix() throws -> Mix {
        Mix(try files.map { try TrackAudio($0, folder: folder, start: start) }, frameCount: frameCount)
    }

    /// - Parameter gain: Nil: the tracks are mixed and not limited.
    /// - Returns: Nil if there is no audio.
    private func measure(
        gain: Float?, _ isCancelled: () -> Bool, _ onProgress: (Double) -> Void
    ) throws -> (loudness: Double?, peak: Double)? {
        guard !files.isEmpty else { return nil }
        let mix = try makeMix()
        let meter = try LoudnessMeter(sampleRate: AudioFormat.sampleRate)
        while let samples = try mix.next(gain: gain) {
            meter.add(samples)
            guard mix.framesDone.isMultiple(of: Self.framesPerQuestion) else { continue }
            if isCancelled() { throw ExportError.cancelled }
            onProgress(Double(mix.framesDone) / Double(frameCount))
        }
        return (meter.integrated, meter.truePeak)
    }

    /// One reading of all tracks from the beginning.
    private final class Mix {
        private let tracks: [TrackAudio]
        private let frameCount: Int
        private var mixer = AudioMixer()
        private var limiter = SoftLimiter()
        private(set) var framesDone = 0

        init(_ tracks: [TrackAudio], frameCount: Int) {
            self.tracks = tracks
            self.frameCount = frameCount
        }

        func next(gain: Float?) throws -> [Float]? {
            guard framesDone < frameCount else { return nil }
            framesDone += 1
            mixer.begin()
            for track in tracks { mixer.add(try track.take(AudioFormat.frameSampleCount)) }
            var mixed = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
            guard mixer.mix(without: nil, into: &mixed) else { return mixed }
            guard let gain else { return mixed }
            for index in mixed.indices { mixed[index] *= gain / ArchiveSound.ceiling }
            limiter.process(&mixed)
            for index in mixed.indices { mixed[index] *= ArchiveSound.ceiling }
            return mixed
        }
    }
}
