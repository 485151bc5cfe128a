import CLibAVFormat
import H264
public import MediaCore
import NIOCore

/// Reads the H.264 video of a movie file (MP4, Matroska, MPEG-TS, raw H.264: whatever libavformat demultiplexes) as
/// sample buffers in decoding order. Other streams are skipped.
///
/// Parameter sets inside the samples are taken out and become part of the format, as do those that the container has
/// beside them, so a change of size mid-file shows as a sample with another `format`. Frames that an edit list has cut
/// away come too, those before its beginning at times below zero: they are decoded, but not shown. Not thread-safe: one
/// caller at a time.
public final class MovieReader {
    public let path: String
    /// The format of the sample that `nextSample` returned last; before that, of the first one.
    public private(set) var format: VideoFormatDescription
    /// Frames per second as the container states or guesses them; nil if it does not know.
    public let nominalFrameRate: Double?
    /// The duration of the file, if the container states it.
    public let duration: Duration?
    /// The turn that makes pictures upright: phones write them turned.
    public let rotation: VideoRotation
    /// True if the container has times. A raw stream has none: its samples follow each other at the nominal frame rate,
    /// in decoding order, so that the times of reordered frames are wrong.
    public let hasPresentationTimes: Bool

    private let demuxer: Demuxer
    private var parameterSets: FormatTracker
    /// The parameter sets at the file's beginning. Samples behind a jump need them if they bring none of their own.
    private let initialParameterSets: FormatTracker
    private var pending: SampleBuffer?
    private var untimedCount: Int64 = 0

    /// Opens `path` and reads up to the first frame.
    ///
    /// - Throws: `MediaFileError` when the file cannot be opened, has no H.264 video or its first frames are broken.
    public init(path: String) throws(MediaFileError) {
        self.path = path
        demuxer = try Demuxer(path: path)
        nominalFrameRate = demuxer.nominalFrameRate
        duration = demuxer.duration
        rotation = demuxer.rotation
        hasPresentationTimes = !demuxer.isElementaryStream
        var tracker = FormatTracker()
        do {
            for nalUnit in try demuxer.initialParameterSets() { tracker.add(nalUnit) }
        } catch {
            throw .malformed(path: path, reason: "\(error)")
        }
        var first: SampleBuffer?
        var skipped = 0
        while first == nil {
            guard let packet = try demuxer.nextPacket(), skipped < Self.maximumLeadingPackets else {
                throw .malformed(path: path, reason: "no frame that can be decoded was found")
            }
            first = try Self.sample(
                from: packet, demuxer: demuxer, tracker: &tracker, untimedCount: &untimedCount,
                frameRate: demuxer.nominalFrameRate, path: path)
            skipped += 1
        }
        guard let first else { throw .malformed(path: path, reason: "no frame that can be decoded was found") }
        parameterSets = tracker
        initialParameterSets = tracker
        format = first.format
        pending = first
    }

    /// The largest number of packets without usable frames at the start.
    private static let maximumLeadingPackets = 10_000

    /// The next frame in decoding order, or nil at the end of the file.
    ///
    /// - Throws: `MediaFileError.malformed` for a frame whose NAL units are broken.
    public func nextSample() throws(MediaFileError) -> SampleBuffer? {
        if let sample = pending {
            pending = nil
            format = sample.format
            return sample
        }
        while let packet = try demuxer.nextPacket() {
            let sample = try Self.sample(
                from: packet, demuxer: demuxer, tracker: &parameterSets, untimedCount: &untimedCount,
                frameRate: nominalFrameRate, path: path)
            if let sample {
                format = sample.format
                return sample
            }
        }
        return nil
    }

    /// Goes back to the first frame.
    ///
    /// - Throws: `MediaFileError.cannotOpen` when the file cannot be read again.
    public func rewind() throws(MediaFileError) {
        pending = nil
        untimedCount = 0
        parameterSets = initialParameterSets
        try demuxer.rewind()
    }

    /// Goes to a sync sample from which all pictures from `time` on can be decoded: the last one before it, as far as
    /// the container knows, or the first of the file.
    ///
    /// - Throws: `MediaFileError` when the file cannot be read there.
    public func seek(to time: MediaTime) throws(MediaFileError) {
        if hasPresentationTimes {
            // Containers are sought by decoding times, which are earlier than presentation times where frames are
            // reordered: the frame found may be shown too late.
            for margin in Self.seekMargins {
                pending = nil
                parameterSets = initialParameterSets
                guard demuxer.seek(to: time - MediaTime(value: margin, timescale: 1)) else { break }
                guard let sample = try nextSample() else { continue }
                if sample.isSync, sample.presentationTime <= time {
                    pending = sample
                    return
                }
            }
        }
        try rewind()
    }

    /// The margins in seconds.
    private static let seekMargins: [Int64] = [0, 1, 4, 16, 64]

    /// Makes a sample buffer of a packet; nil if it holds no slice, or one without its parameter sets.
    private static func sample(
        from packet: Demuxer.Packet, demuxer: Demuxer, tracker: inout FormatTracker, untimedCount: inout Int64,
        frameRate: Double?, path: String
    ) throws(MediaFileError) -> SampleBuffer? {
        let nalUnits: [NALUnit]
        do {
            nalUnits = try demuxer.nalUnits(in: packet.data)
        } catch {
            throw .malformed(path: path, reason: "\(error)")
        }
        for nalUnit in packet.parameterSets + nalUnits where nalUnit.isParameterSet { tracker.add(nalUnit) }
        guard let slice = nalUnits.first(where: \.isVCL), let format = tracker.format(of: slice) else { return nil }
        let time: MediaTime
        if let stamped = packet.presentationTime {
            time = stamped
        } else {
            // A raw stream has no times: frames follow each other at the nominal rate.
            let timescale: Int32 = 90_000
            let interval = Int64(clamping: (Double(timescale) / max(frameRate ?? 30, 0.01)).rounded())
            time = MediaTime(value: untimedCount &* interval, timescale: timescale)
        }
        untimedCount += 1
        var sample = SampleBuffer(
            nalUnits: nalUnits, format: format, presentationTime: time, decodeTime: packet.decodeTime,
            duration: packet.duration)
        sample.isShown = packet.isShown
        return sample
    }
}
