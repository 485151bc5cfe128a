/// The options of playing a file.
public struct PlayOptions: Sendable {
    public var path: String
    /// The speed: 1 is as recorded.
    public var rate = 1.0
    /// The start of the played part.
    public var start: Duration = .zero
    /// The duration of the played part, in the file's time; nil for all of it.
    public var duration: Duration?
    /// True to start again at the end.
    public var loops = false
    /// True to continue as soon as a picture is written, rather than at its time; then no picture is late.
    public var isAsFastAsPossible = false
    /// Frames per second of a raw H.264 stream; nil for the stream's own rate, or 30.
    public var frameRate: Double?
    public var output = PlayOutput.none

    public init(path: String) {
        self.path = path
    }
}

/// The destination of the pictures.
public enum PlayOutput: Hashable, Sendable {
    /// The pictures are only counted.
    case none
    /// A YUV4MPEG2 file; pictures of another size than the file's first are scaled to it.
    case y4m(path: String)
    /// Numbered PNG files, from 1 on; the path has a place for a number, such as `frames/%05d.png`.
    case png(pattern: String)

    /// Reads the value of an option: `none` or a path.
    ///
    /// - Throws: `ClientError.usage`.
    public init(argument: String) throws(ClientError) {
        let name = argument.lowercased()
        if argument == "none" {
            self = .none
        } else if name.hasSuffix(".y4m") {
            self = .y4m(path: argument)
        } else if name.hasSuffix(".png") {
            guard NumberedPath(argument) != nil else {
                throw .usage(
                    reason: "\(argument) has no place for the picture's number; write it as %d or %05d, such as"
                        + " frames/%05d.png")
            }
            self = .png(pattern: argument)
        } else {
            throw .usage(
                reason: "cannot tell what to write to \(argument); use a name such as out.y4m or frames/%05d.png")
        }
    }

    /// The name in reports.
    var name: String? {
        switch self {
        case .none: nil
        case .y4m(let path): path
        case .png(let pattern): pattern
        }
    }
}
