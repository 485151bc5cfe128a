internal import COpenSSL

/// The content of the calling thread's OpenSSL error queue, oldest first: the first error is the cause.
struct OpenSSLFailure {
    /// `ERR_GET_REASON` of the first error; zero when there is none.
    var reason: Int32
    /// The first error in words.
    var text: String

    /// Takes the queue, and leaves it empty.
    static func take() -> OpenSSLFailure {
        let error = ERR_get_error()
        defer { ERR_clear_error() }
        guard error != 0 else { return OpenSSLFailure(reason: 0, text: "no reason given") }
        let text = ERR_reason_error_string(error).map { String(cString: $0) }
        return OpenSSLFailure(reason: shim_ERR_GET_REASON(error), text: text ?? "error \(error)")
    }

    /// The alert of the other side, if it was the cause of the error (`SSL_AD_REASON_OFFSET` of ssl.h).
    var receivedAlert: Alert? {
        guard reason > SSL_AD_REASON_OFFSET, let code = UInt8(exactly: reason - SSL_AD_REASON_OFFSET) else {
            return nil
        }
        return Alert(code: code)
    }

    /// An alert of TLS and DTLS (RFC 8446, section 6).
    struct Alert {
        var code: UInt8

        var name: String { SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown" }
    }
}
