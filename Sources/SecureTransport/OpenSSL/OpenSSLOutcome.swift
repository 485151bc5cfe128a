internal import COpenSSL

/// The result of a call that reads or writes records.
enum OpenSSLOutcome {
    /// The handshake is complete, or data was read or written.
    case done
    /// More data has to come from the other side.
    case waiting
    /// The other side has sent `close_notify`.
    case closed
    case failed(OpenSSLFailure)

    /// Calls the library with an `SSL *`, whose function returns a positive number for success.
    static func of(_ ssl: OpaquePointer, _ body: () -> Int32) -> OpenSSLOutcome {
        ERR_clear_error()
        let result = body()
        guard result <= 0 else { return .done }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .waiting
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: return .failed(.take())
        }
    }
}
