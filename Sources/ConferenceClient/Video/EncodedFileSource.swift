import H264
public import MediaCore
import MediaFiles

/// Sends the H.264 stream of a file unchanged and repeatedly: nothing is decoded, and no bitrate can be followed.
public final class EncodedFileSource: VideoSource {
    public let dimensions: VideoDimensions
    public let frameRate: Double
    public let followsBitRate = false

    private let reader: MovieReader
    /// The interval of a file without times of its own: a raw H.264 stream.
    private let fixedInterval: Duration?
    private var upcoming: SampleBuffer

    /// The longest interval between two frames, so that a broken time cannot stop a client.
    private static let longestInterval: Duration = .seconds(2)

    /// Opens a file.
    ///
    /// - Parameter fixedFrameRate: Frames per second for a raw stream; nil for a container, which has times.
    /// - Throws: `ClientError.unreadableInput`, also for a file that cannot be sent unchanged.
    public init(path: String, fixedFrameRate: Double?) throws(ClientError) {
        do {
            reader = try Self.open(path)
            guard let first = try reader.nextSample() else {
                throw ClientError.unreadableInput(path: path, reason: "it has no frames")
            }
            upcoming = first
        } catch {
            throw ClientError(reading: path, error)
        }
        frameRate = fixedFrameRate ?? reader.nominalFrameRate ?? 30
        fixedInterval = fixedFrameRate.map { .nanoseconds(Int64(clamping: 1e9 / min(max($0, 1), 240))) }
        dimensions = upcoming.format.dimensions
        if !upcoming.isSync { skipToSyncFrame() }
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        let sample = upcoming
        do {
            if let next = try nextShownSample() {
                upcoming = next
                let interval = fixedInterval ?? (next.presentationTime - sample.presentationTime).duration
                return SourceFrame(
                    content: .encoded(sample), duration: min(max(interval, .milliseconds(1)), Self.longestInterval))
            }
            try startOver()
        } catch {
            throw ClientError(reading: reader.path, error)
        }
        return SourceFrame(
            content: .encoded(sample),
            duration: fixedInterval ?? sample.duration?.duration
                ?? .nanoseconds(Int64(clamping: 1e9 / max(frameRate, 1))))
    }

    /// Leaves frames out up to the next one that decoding can start at, from the file's start where none follows.
    public func skipToSyncFrame() {
        var hasStartedOver = false
        while !upcoming.isSync {
            // A file that cannot be read further says so at the next `nextFrame`.
            guard let next = try? nextShownSample() else {
                guard !hasStartedOver, (try? startOver()) != nil else { return }
                hasStartedOver = true
                continue
            }
            upcoming = next
        }
    }

    /// The next frame of those that the file's edit list has kept, and behind those that it has cut away, a sync frame.
    private func nextShownSample() throws(MediaFileError) -> SampleBuffer? {
        var isBehindCut = false
        while let sample = try reader.nextSample() {
            isBehindCut = !sample.isShown || (isBehindCut && !sample.isSync)
            if !isBehindCut { return sample }
        }
        return nil
    }

    /// Opens a file that can be sent unchanged.
    static func open(_ path: String) throws -> MovieReader {
        if let obstacle = try obstacle(path: path) {
            throw ClientError.unreadableInput(
                path: path, reason: "\(obstacle), so that it cannot be sent as it is; leave --no-reencode out")
        }
        return try MovieReader(path: path)
    }

    /// The reason for which a file cannot be sent unchanged; nil if it can. A call's receivers show each frame that
    /// comes, in this order, and do not turn it.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    static func obstacle(path: String) throws(ClientError) -> String? {
        do {
            let reader = try MovieReader(decodable: path)
            if reader.rotation != .none { return "its pictures have to be turned" }
            let reordering = "it has B-frames"
            guard reader.format.reorderDepth == 0 else { return reordering }
            // Some encoders deny in the SPS that frames are reordered.
            for number in 0..<inspectedSampleCount {
                guard let sample = try reader.nextSample() else { break }
                if sample.hasBipredictiveSlice { return reordering }
                if number == 0, !sample.isShown { return "its edit list has cut frames away in front of the others" }
            }
            return nil
        } catch {
            throw ClientError(reading: path, error)
        }
    }

    /// Two of the longest groups of B-frames that encoders make.
    private static let inspectedSampleCount = 34

    private func startOver() throws(MediaFileError) {
        try reader.rewind()
        guard let first = try reader.nextSample() else {
            throw .malformed(path: reader.path, reason: "it has no frames when read again")
        }
        upcoming = first
    }
}

extension SampleBuffer {
    fileprivate var hasBipredictiveSlice: Bool {
        guard let units = try? nalUnits() else { return false }
        var parameterSets = ParameterSetStore()
        for unit in format.parameterSets.compactMap(NALUnit.init) { _ = try? parameterSets.insert(unit) }
        return units.contains {
            (try? SliceHeader(parsing: $0, parameterSets: parameterSets))?.kind == .bipredictive
        }
    }
}
