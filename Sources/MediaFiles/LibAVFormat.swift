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
        let isEnd = (1..<duration).contains(start) && durationIsEnd(of: context)
        // Microseconds: AV_TIME_BASE.
        return .microseconds(isEnd ? duration - start : duration)
    }

    private static func durationIsEnd(of context: UnsafePointer<AVFormatContext>) -> Bool {
        let streams = UnsafeBufferPointer(start: context.pointee.streams, count: Int(context.pointee.nb_streams))
            .compactMap(\.self).filter(isTrack)
        switch context.pointee.iformat.flatMap(\.pointee.name).map({ String(cString: $0) }) {
        case "matroska,webm":
            // So does libavformat's own multiplexer.
            let entry = av_dict_get(context.pointee.metadata, "encoder", nil, 0)
            return entry.flatMap(\.pointee.value).map { String(cString: $0) }?.hasPrefix("Lavf") ?? false
        case "mov,mp4,m4a,3gp,3g2,mj2":
            // The header counts empty edits, by which tracks begin later. Other tracks that begin later, such as those
            // of fragments, end behind the duration.
            return streams.allSatisfy { stream in
                guard let end = end(of: stream.pointee) else { return false }
                return end <= context.pointee.duration + Self.endTolerance
            }
        case "ogg":
            // libavformat takes the beginning off the duration of any other codec's stream.
            return streams.contains { $0.pointee.codecpar?.pointee.codec_id == AV_CODEC_ID_OPUS }
        default: return false
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

    /// Where a stream ends, in microseconds; nil if it does not tell.
    private static func end(of stream: AVStream) -> Int64? {
        let (end, overflow) = stream.start_time.addingReportingOverflow(stream.duration)
        guard stream.start_time != noTimestamp, stream.duration != noTimestamp, !overflow,
            stream.time_base.num > 0, stream.time_base.den > 0
        else { return nil }
        return av_rescale_q(end, stream.time_base, AVRational(num: 1, den: 1_000_000))
    }

    /// Returns a URL that libavformat takes for a file whatever the path looks like, so that a name such as `http:x` or
    /// `concat:a|b` opens no other protocol.
    static func url(path: String) -> String { "file:\(path)" }
}
