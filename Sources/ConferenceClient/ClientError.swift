import Glibc
import HTTPTransfer
public import MediaFiles

/// The reason for a client's failure, with an exit code for scripts.
public enum ClientError: Error, Equatable, Sendable {
    /// An option cannot be used.
    case usage(reason: String)
    /// A file to be sent cannot be read or understood.
    case unreadableInput(path: String, reason: String)
    /// The relay did not answer.
    case relayUnreachable(url: String, reason: String)
    /// The relay's certificate leads to none that is trusted, or is another host's.
    case relayNotTrusted(url: String, reason: String)
    /// The relay answered, but not with a session. The answer may state the time after which to ask again (RFC 9110,
    /// section 10.2.3).
    case relayRefused(url: String, status: Int, reason: String, retryAfter: Duration? = nil)
    /// A command was to end something, such as a recording, that the relay does not have.
    case nothingToEnd(reason: String)
    /// The relay ended the session or fell silent.
    case relayLeft(reason: String)
    /// A file that was asked for cannot be written.
    case outputNotWritable(path: String, reason: String)
    /// The session ran, but no picture and no audio arrived.
    case noMedia(reason: String)
    /// A codec or the system failed.
    case failed(reason: String)

    /// The exit code, after sysexits.h.
    public var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .unreadableInput: 66
        case .relayUnreachable, .relayNotTrusted, .relayRefused, .nothingToEnd, .relayLeft: 69
        case .failed: 70
        case .outputNotWritable: 74
        case .noMedia: 75
        }
    }

    /// The time after which the relay may be asked again; nil if it did not state one, or stated that waiting does not
    /// help.
    public var retryAfter: Duration? {
        guard case .relayRefused(_, 503, _, let time) = self else { return nil }
        return time
    }
}

extension ClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .usage(let reason): reason
        case .unreadableInput(let path, let reason): "cannot use \(path): \(reason)"
        case .relayUnreachable(let url, let reason): "no relay answers at \(url): \(reason)"
        case .relayNotTrusted(let url, let reason):
            "the certificate of \(url) is not trusted: \(reason); name its issuer's certificate with --ca, or use a "
                + "host name that it is for"
        case .relayRefused(let url, let status, let reason, _): "the relay at \(url) refused (\(status)): \(reason)"
        case .nothingToEnd(let reason): reason
        case .relayLeft(let reason): reason
        case .outputNotWritable(let path, let reason): "cannot write \(path): \(reason)"
        case .noMedia(let reason): reason
        case .failed(let reason): reason
        }
    }
}

extension ClientError {
    /// A file's error in a client's words.
    public init(_ error: MediaFileError) {
        switch error {
        case .cannotOpen(let path, let reason): self = .unreadableInput(path: path, reason: reason)
        case .noVideo(let path): self = .unreadableInput(path: path, reason: "it has no video stream")
        case .noAudio(let path): self = .unreadableInput(path: path, reason: "it has no audio stream")
        case .unsupportedCodec(let path, _), .unsupportedAudioCodec(let path, _):
            self = .unreadableInput(path: path, reason: "\(error)")
        case .malformed(let path, let reason): self = .unreadableInput(path: path, reason: "it is damaged: \(reason)")
        case .cannotCreate(let path, let reason), .cannotWrite(let path, let reason), .misuse(let path, let reason):
            self = .outputNotWritable(path: path, reason: reason)
        }
    }

    /// An error of a file that is read, in a client's words.
    init(reading path: String, _ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let error as MediaFileError: self = ClientError(error)
        default: self = .unreadableInput(path: path, reason: "\(error)")
        }
    }

    /// Why there is no answer, in a client's words.
    init(_ failure: HTTPFailure, at url: RoomURL) {
        switch failure {
        case .notTrusted(let reason): self = .relayNotTrusted(url: "\(url)", reason: reason)
        case .notConnected(ECONNREFUSED):
            self = .relayUnreachable(url: "\(url)", reason: "connection refused; is the relay running?")
        case .noTLS(let reason):
            self = .relayUnreachable(
                url: "\(url)", reason: "\(reason); a relay without a certificate is reached by http://")
        case .connectionLost where url.scheme == .http, .connectionClosed where url.scheme == .http:
            self = .relayUnreachable(
                url: "\(url)", reason: "\(failure); a relay with a certificate is reached by https://")
        default: self = .relayUnreachable(url: "\(url)", reason: failure.description)
        }
    }

    /// Reads or writes files, and throws a file's error as a client's.
    static func rethrowing<Result>(_ body: () throws(MediaFileError) -> Result) throws(ClientError) -> Result {
        do { return try body() } catch { throw ClientError(error) }
    }
}
