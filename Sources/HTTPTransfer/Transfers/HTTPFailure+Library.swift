import CLibCURL
import Foundation

extension HTTPFailure {
    /// Reasons of the system for which a connection ends. libcurl keeps the last one it had, which may be of an address
    /// that it tried in vain before.
    private static let ends: Set<Int32> = [ECONNRESET, EPIPE, ETIMEDOUT, ECONNABORTED]

    /// What libcurl's result means; nil: the answer is complete.
    ///
    /// - Parameters:
    ///   - reason: The reason in libcurl's words.
    ///   - code: The last error of the system that it had; zero: none.
    init?(_ result: CURLcode, reason: String, code: Int32, url: String) {
        switch result {
        case CURLE_OK: return nil
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .nameNotFound(host: URLComponents(string: url)?.host ?? url)
        case CURLE_COULDNT_CONNECT where code != 0: self = .notConnected(code: code)
        case CURLE_SEND_ERROR where Self.ends.contains(code), CURLE_RECV_ERROR where Self.ends.contains(code):
            self = .connectionLost(code: code)
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: self = .connectionClosed
        case CURLE_FILESIZE_EXCEEDED: self = .answerTooLong
        case CURLE_PEER_FAILED_VERIFICATION: self = .notTrusted(reason: Self.words(result, reason))
        case CURLE_SSL_CONNECT_ERROR: self = .noTLS(reason: Self.words(result, reason))
        default: self = .failed(Self.words(result, reason))
        }
    }

    private static func words(_ result: CURLcode, _ reason: String) -> String {
        reason.isEmpty ? String(cString: curl_easy_strerror(result)) : reason
    }
}
