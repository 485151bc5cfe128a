import CLibAVFormat
import MediaCore

/// The few things of libavformat that its C macros hide from Swift.
enum LibAVFormat {
    /// `AVERROR_EOF`: `-MKTAG('E', 'O', 'F', ' ')`.
    static let endOfFile: Int32 = -0x2046_4F45
    /// `AVERROR(ENOMEM)`.
    static let outOfMemory: Int32 = -12
    /// `AVERROR(EIO)`.
    static let inputOutputError: Int32 = -5
    /// `AVERROR_EXIT`, the error of a wait that was interrupted: `-MKTAG('E', 'X', 'I', 'T')`.
    static let interrupted: Int32 = -0x5449_5845
    /// `AVERROR_INVALIDDATA`: `-MKTAG('I', 'N', 'D', 'A')`.
    static let invalidData: Int32 = -0x4144_4E49
    /// `AVERROR_UNKNOWN`: `-MKTAG('U', 'N', 'K', 'N')`.
    static let unknownError: Int32 = -0x4E4B_4E55
    /// `AV_NOPTS_VALUE`.
    static let noTimestamp = Int64.min

    /// Silences libav's own log: failures are reported by `MediaFileError`. It runs once.
    static let prepare: Void = av_log_set_level(AV_LOG_QUIET)

    /// The library's text for an error code.
    static func message(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            buffer.initialize(repeating: 0)
            av_strerror(code, base, buffer.count)
            return String(cString: base)
        }
    }

    /// The length of a film; nil if it does not tell.
    ///
    /// Some films have the time at which they end as their duration. That of a film whose times begin later than at
    /// zero, as of a part of a broadcast, would be hours too long.
    static func length(of context: UnsafePointer<AVFormatContext>) -> Duration? {
        let (duration, start) = (context.pointee.duration, context.pointee.start_time)
        guard duration > 0 else { return nil }
        // Microseconds: AV_TIME_BASE.
        guard (1..<duration).contains(start), let end = end(of: context), end > start else {
            return .microseconds(duration)
        }
        return .microseconds(end - start)
    }

    /// Where a film ends, in microseconds; nil if its duration does not come from there.
    private static func end(of context: UnsafePointer<AVFormatContext>) -> Int64? {
        let duration = context.pointee.duration
        let streams = UnsafeBufferPointer(start: context.pointee.streams, count: Int(context.pointee.nb_streams))
            .compactMap(\.self).filter(isTrack)
        switch context.pointee.iformat.flatMap(\.pointee.name).map({ String(cString: $0) }) {
        case "matroska,webm":
            // So does libavformat's own multiplexer.
            let entry = av_dict_get(context.pointee.metadata, "encoder", nil, 0)
            let encoder = entry.flatMap(\.pointee.value).map { String(cString: $0) }
            return encoder?.hasPrefix("Lavf") == true ? duration : nil
        case "mov,mp4,m4a,3gp,3g2,mj2":
            let ends = streams.compactMap { end(of: $0.pointee) }
            guard ends.count == streams.count, let last = ends.max() else { return nil }
            if streams.allSatisfy({ $0.pointee.nb_frames == 0 }) {
                // Fragments alone: libavformat has the end of each track as its duration, and adds the beginning once
                // more, unless the file's header has a duration.
                let ends = streams.compactMap { microseconds($0.pointee.duration, $0.pointee.time_base) }
                let isAdded = (duration &+ context.pointee.start_time &- last).magnitude <= endTolerance
                return isAdded ? ends.max() : nil
            }
            // The header counts empty edits, by which tracks begin later.
            return last &- endTolerance <= duration ? duration : nil
        case "ogg":
            // libavformat takes the beginning off the duration of any other codec's stream.
            return streams.contains { $0.pointee.codecpar?.pointee.codec_id == AV_CODEC_ID_OPUS } ? duration : nil
        default: return nil
        }
    }

    /// True for pictures and audio, but for a cover.
    private static func isTrack(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        let type = stream.pointee.codecpar?.pointee.codec_type
        return (type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO)
            && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }

    /// Durations in the header and in the tracks are rounded differently; microseconds.
    private static let endTolerance: Int64 = 20_000

    /// Where a stream ends by its start and its duration, in microseconds; nil if it does not tell.
    private static func end(of stream: AVStream) -> Int64? {
        let (end, overflow) = stream.start_time.addingReportingOverflow(stream.duration)
        guard stream.start_time != noTimestamp, stream.duration != noTimestamp, !overflow else { return nil }
        return microseconds(end, stream.time_base)
    }

    private static func microseconds(_ count: Int64, _ timeBase: AVRational) -> Int64? {
        guard timeBase.num > 0, timeBase.den > 0 else { return nil }
        return av_rescale_q(count, timeBase, AVRational(num: 1, den: 1_000_000))
    }

    /// Returns a URL that libavformat takes for a file whatever the path looks like, so that a name such as `http:x` or
    /// `concat:a|b` opens no other protocol.
    static func url(path: String) -> String { "file:\(path)" }

    /// The same for the first bytes of a file.
    static func url(path: String, upTo end: Int) -> String { "subfile,,start,0,end,\(end),,:\(url(path: path))" }
}
