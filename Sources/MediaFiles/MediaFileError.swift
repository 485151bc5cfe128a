/// The reason for which a media file could not be read or written. Every case names the file.
public enum MediaFileError: Error, Equatable, Sendable {
    /// The file is missing, unreadable or of another kind.
    case cannotOpen(path: String, reason: String)
    /// The file has no video stream.
    case noVideo(path: String)
    /// The video stream is not H.264.
    case unsupportedCodec(path: String, codec: String)
    /// The file has no audio stream.
    case noAudio(path: String)
    /// The audio stream is not Opus.
    case unsupportedAudioCodec(path: String, codec: String)
    /// The stream's parameter sets or samples are broken.
    case malformed(path: String, reason: String)
    /// The file could not be created.
    case cannotCreate(path: String, reason: String)
    /// A sample or the end of the file could not be written.
    case cannotWrite(path: String, reason: String)
    /// Audio was given to a movie without an audio track, a sample without a time that is a number or with one that is
    /// too long after the sample before, or anything to a finished movie.
    case misuse(path: String, reason: String)
}

extension MediaFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "cannot read \(path): \(reason)"
        case .noVideo(let path): "\(path) has no video stream"
        case .unsupportedCodec(let path, let codec):
            "the video of \(path) is \(codec), not H.264; convert it, for example with ffmpeg -i \(path) -c:v libx264"
        case .noAudio(let path): "\(path) has no audio stream"
        case .unsupportedAudioCodec(let path, let codec): "the audio of \(path) is \(codec), not Opus"
        case .malformed(let path, let reason): "\(path) is damaged: \(reason)"
        case .cannotCreate(let path, let reason): "cannot create \(path): \(reason)"
        case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
        case .misuse(let path, let reason): "cannot write \(path): \(reason)"
        }
    }
}
