import CLibAVFormat
import Glibc

/// A server that takes a live stream.
public struct StreamDestination: Sendable {
    /// The form of the stream, by libavformat's names.
    public enum Container: String, Sendable {
        /// For RTMP.
        case flv
        /// For SRT.
        case mpegTS = "mpegts"
    }

    /// As libavformat takes it. It may have secrets in it.
    public var url: String
    /// The options of libavformat's protocol, which may be secrets.
    public var options: [String: String]
    public var container: Container
    /// As errors name it: without secrets.
    public var name: String

    public init(url: String, options: [String: String] = [:], container: Container, name: String) {
        self.url = url
        self.options = options
        self.container = container
        self.name = name
    }
}

/// The reason for which a stream cannot be sent, or not any more.
public enum StreamFailure: Error, Hashable, Sendable {
    /// Nobody listens there, or the server does not want the stream.
    case refused
    case unreachable
    /// It took longer than the caller would wait.
    case timedOut
    /// The connection broke.
    case connectionLost
    /// Anything else, in libavformat's words.
    case failed(String)

    /// - Parameter status: libavformat's error; zero if the failure is not libavformat's.
    init(_ error: MediaFileError, status: Int32) {
        self = status < 0 ? StreamFailure(status: status, isOpen: true) : .failed("\(error)")
    }

    /// - Parameter isOpen: Whether the server had accepted the stream.
    init(status: Int32, isOpen: Bool) {
        switch status {
        case LibAVFormat.interrupted, -ETIMEDOUT: self = .timedOut
        case -ECONNREFUSED: self = .refused
        case -EHOSTUNREACH, -ENETUNREACH, -EADDRNOTAVAIL, -EACCES, -EPERM: self = .unreachable
        case LibAVFormat.endOfFile, LibAVFormat.unknownError, LibAVFormat.inputOutputError, -EPIPE, -ECONNRESET,
            -ECONNABORTED, -ENOTCONN:
            self = isOpen ? .connectionLost : .refused
        default: self = .failed(LibAVFormat.message(status))
        }
    }
}
