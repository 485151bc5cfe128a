/// The audio that a client sends.
public enum AudioInput: Hashable, Sendable {
    /// A tone whose pitch belongs to the name.
    case tone
    /// A WAV file.
    case file(path: String)
    /// No audio: the client only listens.
    case none

    /// Reads the value of an option: `tone`, `none` or a path.
    public init(argument: String) {
        switch argument {
        case "tone": self = .tone
        case "none": self = .none
        default: self = .file(path: argument)
        }
    }

    /// Opens the source; nil for `none`.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    func open(name: String) throws(ClientError) -> (any PCMSource)? {
        switch self {
        case .none: nil
        case .tone: ToneSource(name: name)
        case .file(let path): try LoopedSource(samples: LoopedSource.read(wavFile: path))
        }
    }
}
