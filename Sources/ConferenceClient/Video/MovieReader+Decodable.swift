import MediaFiles
import VideoCoding

extension MovieReader {
    /// Opens a film of a format that decoders take: this program's, and the relay's of a call.
    ///
    /// - Throws: `ClientError.unreadableInput` with the reason, or a `MediaFileError`.
    convenience init(decodable path: String) throws {
        try self.init(path: path)
        guard let reason = DecodingLimits.default.reasonToReject(format) else { return }
        throw ClientError.unreadableInput(path: path, reason: reason)
    }
}
