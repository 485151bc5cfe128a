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
    /// libavformat's own multiplexer of Matroska writes the time at which the film ends as its duration. That of a
    /// film whose times begin later than at zero, as of a part of a broadcast, would be hours too long.
    static func length(of context: UnsafePointer<AVFormatContext>) -> Duration? {
        let (duration, start) = (context.pointee.duration, context.pointee.start_time)
        guard duration > 0 else { return nil }
        let name = context.pointee.iformat.flatMap(\.pointee.name).map { String(cString: $0) }
        let entry = av_dict_get(context.pointee.metadata, "encoder", nil, 0)
        let encoder = entry.flatMap(\.pointee.value).map { String(cString: $0) }
        let isEnd = name == "matroska,webm" && encoder?.hasPrefix("Lavf") == true && (0..<duration).contains(start)
        // Microseconds: AV_TIME_BASE.
        return .microseconds(isEnd ? duration - start : duration)
    }

    /// Returns a URL that libavformat takes for a file whatever the path looks like, so that a name such as `http:x` or
    /// `concat:a|b` opens no other protocol.
    static func url(path: String) -> String { "file:\(path)" }
}
