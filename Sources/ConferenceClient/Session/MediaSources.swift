import MediaCore

/// A client's opened inputs.
struct MediaSources {
    var video: (any VideoSource)?
    var audio: (any OpusSource)?
}

extension MediaSources {
    /// Opens the inputs that the options name.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    init(_ options: JoinOptions) throws(ClientError) {
        video = try options.video.open(name: options.name, settings: options.videoSettings)
        audio = if let source = try options.audio.open(name: options.name) { try EncodedPCMSource(source) } else { nil }
    }
}
