internal import NIOCore

extension STUNMessageBuilder {
    /// Returns the answer with its MESSAGE-INTEGRITY and FINGERPRINT, if it is not larger than the request: without a
    /// FINGERPRINT if that helps, else nil. A check as in RFC 8445, section 7.1 has 88 bytes or more, the largest
    /// success 76.
    mutating func finish(answering request: STUNMessage, key: [UInt8]) -> ByteBuffer? {
        appendIntegrity(key: key)
        let spare = request.byteCount - buffer.readableBytes
        if spare >= Self.fingerprintSize { return finish() }
        return spare >= 0 ? finishWithoutFingerprint() : nil
    }
}
