import Foundation
import MediaCore
import NIOCore
import Synchronization
import VideoCoding

/// Encodes a film in several passes, and writes it as MP4 with its audio and chapters; beside it, captions and a
/// poster.
///
/// All that is not done lies in a folder beside the film: an export that was cancelled or killed goes on there when the
/// same is exported again. Not thread-safe: one caller at a time.
public final class ExportSession {
    private static let leastRate = BitRate.kilobits(10)
    private static let audioFrameDuration = MediaTime(value: 960, timescale: 48_000)

    private let source: any ExportSource
    private let settings: ExportSettings
    private let path: String
    private var pace = ExportPace()
    private let began = ContinuousClock.now

    /// - Parameter path: The film; a file that is there is replaced when the export is done, and so are those beside
    ///   it.
    public init(source: any ExportSource, settings: ExportSettings, path: String) {
        self.source = source
        self.settings = settings
        self.path = path
    }

    /// The folder that is there while the export is not done.
    public var workFolder: String { Self.workFolder(of: path) }

    /// The folder that is there while the export of a film is not done.
    public static func workFolder(of film: String) -> String { film + ".export" }

    /// The files that an export of a film makes: the film itself, its captions, its poster.
    public static func files(of film: String) -> (film: String, captions: String, poster: String) {
        let url = URL(fileURLWithPath: film)
        let stem = url.pathExtension.isEmpty ? film : String(film.dropLast(url.pathExtension.count + 1))
        return (film, "\(stem).\(WebVTT.fileExtension)", "\(stem).png")
    }

    /// Does it all.
    ///
    /// - Parameters:
    ///   - isCancelled: Asked after each frame. It may wait, if others need the machine.
    ///   - onProgress: Told after each frame.
    /// - Throws: `ExportError`, `VideoCodingError`, `MultiPassError`, `MediaFileError`, or what the source throws.
    public func run(isCancelled: () -> Bool = { false }, onProgress: (ExportProgress) -> Void = { _ in }) throws {
        let frameCount = Int(clamping: (source.duration.seconds * Double(settings.frameRate)).rounded(.down))
        guard frameCount > 0 else { throw ExportError.empty }
        try checkNames()
        try prepareWorkFolder()
        let audio = try audio(isCancelled: isCancelled, onProgress: onProgress)
        let overhead =
            audio.reduce(0) { $0 + $1.readableBytes }
            + MovieIndexSize.estimate(
                frameCount: frameCount, frameRate: settings.frameRate, packetCount: audio.count,
                packetDuration: Self.audioFrameDuration)
            + MovieChapter.size(of: source.chapters)
        func encodeFrames() throws -> (silo: FrameSilo, storage: MultiPassStorage?) {
            let silo = try FrameSilo(path: workFolder + "/frames")
            let storage: MultiPassStorage? =
                if case .quality = settings.target {
                    nil
                } else {
                    try MultiPassStorage(path: workFolder + "/passes")
                }
            try encode(
                frameCount: frameCount, into: silo, storage: storage, overhead: overhead, isCancelled: isCancelled,
                onProgress: onProgress)
            return (silo, storage)
        }
        var (silo, storage) = try encodeFrames()
        if silo.count < frameCount {
            // The file of the passes may reach the disk before the frames: after a power failure, frames are missing.
            try storage?.remove()
            try silo.remove()
            (silo, storage) = try encodeFrames()
        }
        try write(silo, audio: audio, isCancelled: isCancelled)
        // Without the passes, frames that are left are made anew.
        try storage?.remove()
        try silo.remove()
        try FileManager.default.removeItem(atPath: workFolder)
    }

    /// Sees before the work that its files can get their names at the end.
    private func checkNames() throws(MediaFileError) {
        guard !path.isEmpty, !path.hasSuffix("/") else {
            throw .cannotCreate(path: path, reason: "this is no file's name")
        }
        let files = Self.files(of: path)
        for name in [files.film, files.captions, files.poster] {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            throw .cannotCreate(path: name, reason: "it is a folder")
        }
    }

    /// Makes the folder. What an export of something else left there is of no use.
    private func prepareWorkFolder() throws(MediaFileError) {
        let identity = Data("\(source.identity)\n\(settings)\n".utf8)
        let file = workFolder + "/of"
        if FileManager.default.contents(atPath: file) != identity {
            try? FileManager.default.removeItem(atPath: workFolder)
        }
        do {
            try FileManager.default.createDirectory(atPath: workFolder, withIntermediateDirectories: true)
            try identity.write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw .cannotCreate(path: workFolder, reason: OutputFile.reason(error))
        }
    }

    private func audio(
        isCancelled: () -> Bool, onProgress: (ExportProgress) -> Void
    ) throws -> [ByteBuffer] {
        try source.prepareAudio(isCancelled: isCancelled) { fraction in
            onProgress(progress(pass: 0, fraction: fraction, estimate: nil))
        }
        let expected = max(1, source.duration.seconds / Self.audioFrameDuration.seconds)
        var audio: [ByteBuffer] = []
        while let packet = try source.nextAudio() {
            if isCancelled() { throw ExportError.cancelled }
            audio.append(packet)
            onProgress(progress(pass: 0, fraction: min(1, Double(audio.count) / expected), estimate: nil))
        }
        return audio
    }

    private func progress(pass: Int, fraction: Double, estimate: DataSize?) -> ExportProgress {
        ExportProgress(
            pass: pass, fraction: fraction,
            remaining: pace.remaining(pass: pass, fraction: fraction, at: ContinuousClock.now - began),
            estimatedOutputSize: estimate)
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
                // The same export never gets further: there is nothing to go on with.
                try? FileManager.default.removeItem(atPath: workFolder)
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
        // An estimate from the film's part that an earlier process made, if it came as far as that.
        var estimate = pass > 1 ? DataSize(bytes: silo.size.bytes + overhead) : nil
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
                    progress(pass: pass, fraction: Double(done + 1) / Double(frames.count), estimate: estimate))
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

    /// Writes all files into the folder, and gives them their names when all are there, the film's last.
    private func write(_ silo: FrameSilo, audio: [ByteBuffer], isCancelled: () -> Bool) throws {
        let files = Self.files(of: path)
        let unfinished = Self.files(of: workFolder + "/film.mp4")
        try writeFilm(silo, audio: audio, to: unfinished.film, isCancelled: isCancelled)
        try source.writePoster(to: unfinished.poster)
        try Self.move(unfinished.poster, to: files.poster)
        if !source.captions.isEmpty {
            try OutputFile.write(Data(WebVTT.file(source.captions).utf8), to: unfinished.captions)
            try Self.move(unfinished.captions, to: files.captions)
        }
        try Self.move(unfinished.film, to: files.film)
    }

    private static func move(_ file: String, to name: String) throws {
        guard rename(file, name) == 0 else {
            throw MediaFileError.cannotCreate(path: name, reason: String(cString: strerror(errno)))
        }
    }

    private func writeFilm(
        _ silo: FrameSilo, audio: [ByteBuffer], to path: String, isCancelled: () -> Bool
    ) throws {
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
            if isCancelled() { throw ExportError.cancelled }
            if writer == nil {
                writer = try MovieWriter(
                    path: path, video: sample.format, audio: audio.isEmpty ? nil : .init(), layout: .indexAtEnd,
                    chapters: source.chapters, duration: source.duration)
            }
            try writeAudio(until: sample.decodeTime ?? sample.presentationTime)
            try writer?.append(sample)
        }
        guard let writer else { throw ExportError.empty }
        try writeAudio(until: .positiveInfinity)
        try writer.finish()
    }
}
