import Foundation
public import MediaCore

/// The video that a client sends.
public enum VideoInput: Hashable, Sendable {
    /// The test camera.
    case synthetic
    /// An H.264, MP4 (or any other container with H.264) or Y4M file.
    case file(path: String)
    /// No video: the client only receives.
    case none

    /// Reads the value of an option: `synthetic`, `none` or a path.
    public init(argument: String) {
        switch argument {
        case "synthetic": self = .synthetic
        case "none": self = .none
        default: self = .file(path: argument)
        }
    }
}

/// The settings of the test camera and of files.
public struct VideoInputSettings: Hashable, Sendable {
    /// The size to send; nil for the file's own, or 640x360.
    public var dimensions: VideoDimensions?
    /// Frames per second of the test camera and of raw H.264 streams.
    public var frameRate: Double
    /// True if files are decoded and encoded again; nil: unless they are raw H.264 without B-frames.
    public var reencodes: Bool?

    public init(dimensions: VideoDimensions? = nil, frameRate: Double = 30, reencodes: Bool? = nil) {
        self.dimensions = dimensions
        self.frameRate = frameRate
        self.reencodes = reencodes
    }

    /// The default size of the test camera.
    public static let defaultDimensions = VideoDimensions(width: 640, height: 360)
}

extension VideoInput {
    /// Opens the source.
    ///
    /// - Parameter name: The participant's name, for the test camera.
    /// - Returns: Nil for `none`.
    /// - Throws: `ClientError.unreadableInput`.
    public func open(name: String, settings: VideoInputSettings) throws(ClientError) -> (any VideoSource)? {
        switch self {
        case .none:
            return nil
        case .synthetic:
            return SyntheticVideoSource(
                name: name, dimensions: settings.dimensions ?? VideoInputSettings.defaultDimensions,
                frameRate: settings.frameRate)
        case .file(let path):
            let kind = URL(fileURLWithPath: path).pathExtension.lowercased()
            if kind == "y4m" {
                return Self.fitted(try Y4MVideoSource(path: path), settings)
            }
            guard let format = try format(settings: settings) else { return nil }
            guard format.isEncodedAnew else {
                return try EncodedFileSource(path: path, fixedFrameRate: format.fixedFrameRate)
            }
            return Self.fitted(try DecodedFileSource(path: path, fixedFrameRate: format.fixedFrameRate), settings)
        }
    }

    /// The way in which a compressed file is sent.
    struct FileFormat {
        /// True if the file is decoded and encoded again, rather than sent unchanged.
        var isEncodedAnew: Bool
        /// Frames per second of a raw stream, which has no times of its own.
        var fixedFrameRate: Double?
    }

    /// Returns the way in which the file is sent; nil if it is none, or not compressed.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    func format(settings: VideoInputSettings) throws(ClientError) -> FileFormat? {
        guard case .file(let path) = self else { return nil }
        let kind = URL(fileURLWithPath: path).pathExtension.lowercased()
        guard kind != "y4m" else { return nil }
        let isRaw = ["h264", "264", "avc", "jsv"].contains(kind)
        var isEncodedAnew = settings.reencodes ?? !isRaw
        if settings.reencodes == nil, isRaw { isEncodedAnew = try EncodedFileSource.obstacle(path: path) != nil }
        return FileFormat(isEncodedAnew: isEncodedAnew, fixedFrameRate: isRaw ? settings.frameRate : nil)
    }

    /// Scales a source if a size is requested, or if its own is odd and so cannot be encoded.
    private static func fitted(_ source: any VideoSource, _ settings: VideoInputSettings) -> any VideoSource {
        let size = settings.dimensions ?? source.dimensions
        guard size != source.dimensions || size.width % 2 != 0 || size.height % 2 != 0 else { return source }
        return ScaledSource(source, dimensions: size)
    }
}
