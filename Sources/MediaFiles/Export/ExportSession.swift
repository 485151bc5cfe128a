import Foundation
public import MediaCore
import NIOCore
import Synchronization
public import VideoCoding

/// Encodes a film in several passes, and writes it as MP4 with its audio.
///
/// Frames and analysis lie in a folder beside the film until it is done: an export that was cancelled or killed goes on
/// there when the same is exported again. Not thread-safe: one caller at a time.
public final class ExportSession {
    /// Bytes of a movie's index: for each frame its size, its presentation offset and its chunk, for each Opus packet
    /// its size, for each chunk of packets its place and length (ISO/IEC 14496-12, 8.6 and 8.7).
    private static let indexBytes = (frame: 16, packet: 4, chunk: 16)
    /// The index of an empty movie.
    private static let emptyMovieSize = 1200
    private static let leastRate = BitRate.kilobits(10)
    private static let audioFrameDuration = MediaTime(value: 960, timescale: 48_000)

    private let source: any ExportSource
    private let settings: ExportSettings
    private let path: String

    /// - Parameter path: The film; a file that is there is replaced when the export is done.
    public init(source: any ExportSource, settings: ExportSettings, path: String) {
        self.source = source
        self.settings = settings
        self.path = path
    }

    /// The folder that is there while the export is not done.
    public var workFolder: String { path + ".export" }

    /// Does it all.
    ///
    /// - Parameters:
    ///   - isCancelled: Asked after each frame.
    ///   - onProgress: Told after each frame.
    /// - Throws: `ExportError`, `VideoCodingError`, `MultiPassError`, `MediaFileError`, or what the source throws.
    public func run(isCancelled: () -> Bool = { false }, onProgress: (ExportProgress) -> Void = { _ in }) throws {
        let frameCount = Int(clamping: (source.duration.seconds * Double(settings.frameRate)).rounded(.down))
        guard frameCount > 0 else { throw ExportError.empty }
        var audio: [ByteBuffer] = []
        while let packet = try source.nextAudio() { audio.append(packet) }
        try FileManager.default.createDirectory(atPath: workFolder, withIntermediateDirectories: true)
        let silo = try FrameSilo(path: workFolder + "/frames")
        let overhead =
            audio.reduce(0) { $0 + $1.readableBytes }
            + frameCount * Self.indexBytes.frame + audio.count * Self.indexBytes.packet
            + min(audio.count, frameCount) * Self.indexBytes.chunk + Self.emptyMovieSize
        let storage: MultiPassStorage? =
            if case .quality = settings.target {
                nil
            } else {
                try MultiPassStorage(path: workFolder + "/passes")
            }
        try encode(
            frameCount: frameCount, into: silo, storage: storage, overhead: overhead, isCancelled: isCancelled,
            onProgress: onProgress)
        try write(silo, audio: audio)
        try silo.remove()
        try storage?.remove()
        try FileManager.default.removeItem(atPath: workFolder)
    }

    // MARK: Passes

    private func properties(frameCount: Int, overhead: Int) throws -> CompressionProperties {
        var properties = CompressionProperties(averageBitRate: .megabits(1), profileLevel: H264ProfileLevel(.high))
        properties.realTime = false
        properties.expectedFrameRate = Double(settings.frameRate)
        properties.preset = settings.preset
        properties.colour = .bt601
        properties.maxKeyframeIntervalDuration = .seconds(10)
        properties.rateControlMode = .average
        switch settings.target {
        case .bitRate(let rate): properties.averageBitRate = rate
        case .quality(let quality):
            properties.rateControlMode = .quality
            properties.quality = quality
        case .size(let size):
            let seconds = Double(frameCount) / Double(settings.frameRate)
            let rate = BitRate(bitsPerSecond: Double(size.bytes - overhead) * 8 / seconds)
            guard rate >= Self.leastRate else {
                let least = overhead + Int(clamping: Double(Self.leastRate.bitsPerSecond) / 8 * seconds) + 1
                throw ExportError.tooSmall(size, least: DataSize(bytes: least))
            }
            properties.averageBitRate = rate
        }
        return properties
    }

    private func encode(
        frameCount: Int, into silo: FrameSilo, storage: MultiPassStorage?, overhead: Int, isCancelled: () -> Bool,
        onProgress: (ExportProgress) -> Void
    ) throws {
        var properties = try properties(frameCount: frameCount, overhead: overhead)
        properties.allowFrameReordering = storage != nil
        properties.multiPassStorage = storage
        let failure = Mutex<(any Error)?>(nil)
        let encoder = try CompressionSession(dimensions: settings.dimensions, backEnd: .x264, properties: properties) {
            output in
            do {
                if let frame = output.frame { try silo.add(frame.sample) }
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        defer { encoder.invalidate() }
        var pass = (storage?.completedPasses ?? 0) + 1
        var estimate: DataSize?
        while true {
            let ranges = storage == nil ? [.all] : encoder.timeRangesForNextPass
            guard !ranges.isEmpty else { return }
            if storage != nil {
                try silo.setTimeRangesForNextPass(ranges)
                try encoder.beginPass()
            }
            let frames = (0..<frameCount).filter { frame in ranges.contains { $0.contains(time(of: frame)) } }
            for (done, frame) in frames.enumerated() {
                if isCancelled() { throw ExportError.cancelled }
                try encoder.encode(
                    try source.picture(at: time(of: frame)), presentationTime: time(of: frame),
                    duration: MediaTime(value: 1, timescale: Int32(clamping: settings.frameRate)))
                if let error = failure.withLock({ $0 }) { throw error }
                onProgress(
                    ExportProgress(
                        pass: pass, fraction: Double(done + 1) / Double(frames.count), frameCount: frames.count,
                        framesDone: done + 1, estimatedOutputSize: estimate))
            }
            guard storage != nil else {
                encoder.completeFrames()
                if let error = failure.withLock({ $0 }) { throw error }
                return
            }
            let result = try encoder.endPass()
            if let error = failure.withLock({ $0 }) { throw error }
            estimate = DataSize(bytes: result.size.bytes + overhead)
            pass += 1
        }
    }

    private func time(of frame: Int) -> MediaTime {
        MediaTime(value: Int64(frame), timescale: Int32(clamping: settings.frameRate))
    }

    // MARK: The film

    private func write(_ silo: FrameSilo, audio: [ByteBuffer]) throws {
        let unfinished = path + ".new"
        var writer: MovieWriter?
        var nextAudio = 0
        func writeAudio(until time: MediaTime) throws {
            while nextAudio < audio.count {
                let start = MediaTime(value: Int64(nextAudio) * 960, timescale: 48_000)
                guard start < time else { return }
                try writer?.append(opus: audio[nextAudio], presentationTime: start, duration: Self.audioFrameDuration)
                nextAudio += 1
            }
        }
        try silo.forEachSample { sample in
            if writer == nil {
                writer = try MovieWriter(
                    path: unfinished, video: sample.format, audio: audio.isEmpty ? nil : .init(), layout: .indexAtEnd)
            }
            try writeAudio(until: sample.decodeTime ?? sample.presentationTime)
            try writer?.append(sample)
        }
        guard let writer else { throw ExportError.empty }
        try writeAudio(until: .positiveInfinity)
        try writer.finish()
        guard rename(unfinished, path) == 0 else {
            throw MediaFileError.cannotCreate(path: path, reason: "the finished film cannot be given its name")
        }
    }
}
