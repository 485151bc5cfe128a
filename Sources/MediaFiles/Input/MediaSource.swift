/// A film or a live stream, as libavformat opens it.
public struct MediaSource: Sendable {
    /// The URL as libavformat takes it. It may have secrets in it.
    public var url: String
    /// The options of libavformat's protocol, which may be secrets.
    public var options: [String: String]
    /// The protocols that libavformat may use by itself, with commas between them. Empty: none, and `opener` opens all.
    public var protocols: String
    /// True if the protocol and the form of the stream are one, as with RTSP: then libavformat opens no file.
    public var isSession: Bool
    /// Opens the source and the files that it names, such as the segments of HLS. Nil: it may name none.
    public var opener: (any MediaOpener)?
    /// True if it goes on by itself: it cannot be sought, paused without loss, or read ahead.
    public var isLive: Bool

    public init(
        url: String, options: [String: String] = [:], protocols: String = "", isSession: Bool = false,
        opener: (any MediaOpener)? = nil, isLive: Bool = false
    ) {
        self.url = url
        self.options = options
        self.protocols = protocols
        self.isSession = isSession
        self.opener = opener
        self.isLive = isLive
    }

    /// The whole fragments of a file; nil if it has none, or if the source is no file.
    ///
    /// - Parameter isAbandoned: Is asked whether to give up.
    func wholeFragments(isAbandoned: () -> Bool) -> MediaSource? {
        let prefix = LibAVFormat.url(path: "")
        guard protocols == "file", url.hasPrefix(prefix),
            let part = WholeFragments.url(path: String(url.dropFirst(prefix.count)), isAbandoned: isAbandoned)
        else { return nil }
        var source = self
        (source.url, source.protocols) = (part, "file,subfile")
        return source
    }
}

/// Opens files of a source, on the thread that reads it.
public protocol MediaOpener: AnyObject, Sendable {
    /// - Parameter url: The URL of the source, or one that a file of the source names.
    func open(_ url: String) throws(StreamFailure) -> any MediaBytes
}

/// The bytes of an opened file. They belong to the thread that reads them.
public protocol MediaBytes: AnyObject {
    /// The size of the file; nil if it is not known.
    var count: Int64? { get }
    /// The URL of the file, from which those that it names start; nil: the one by which it was opened.
    var location: String? { get }

    /// Reads bytes from `offset` on, into all or the first part of `buffer`.
    ///
    /// - Returns: The number of bytes; zero at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StreamFailure) -> Int
}

extension MediaBytes {
    public var location: String? { nil }
}
