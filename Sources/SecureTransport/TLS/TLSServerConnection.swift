internal import COpenSSL
public import NIOCore

/// The server's side of a TLS connection, without sockets: it takes arriving bytes and plaintext to send, and returns
/// plaintext and bytes to send.
///
/// Call `takeOutgoing` after each other call. The memory that a hostile client can use is limited. Before the handshake
/// is complete it is 235 kB: a message that the client has begun and said to be of the greatest length (131 kB, with
/// the library's reserve 175 kB), an incomplete record (17 kB), and the library's state. The answers to 64 messages
/// without data come later; more end the connection. The caller limits the time of a handshake.
///
/// A connection belongs to one thread at a time.
public final class TLSServerConnection {
    /// The state of a connection.
    public enum State: Hashable, Sendable {
        case handshaking
        case established
        /// The client will send nothing more (`close_notify`). It may still receive.
        case inputClosed
        case failed(TLSError)
    }

    public private(set) var state = State.handshaking
    /// True once `close_notify` was sent.
    public private(set) var isOutputClosed = false

    private let bio = StreamBIO()
    private let ssl: OpaquePointer

    /// Waits for the client's first message.
    public init(context: TLSServerContext) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = SSL_new(context.context) else { throw .library(reason: OpenSSLFailure.take().text) }
        self.ssl = ssl
        guard let stream = bio.makeBIO() else { throw .library(reason: OpenSSLFailure.take().text) }
        // The session owns the BIO from here on, for reading and writing.
        SSL_set_bio(ssl, stream, stream)
        bio.countMessages(of: ssl)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
    }

    /// Takes arrived bytes of any content, and appends what they say to `plaintext`.
    ///
    /// What the client says after its `close_notify` is ignored. After a failure there may be an alert to send, and
    /// `plaintext` has what was sound before it.
    public func receive(_ bytes: ByteBuffer, into plaintext: inout ByteBuffer) throws(TLSError) {
        guard state == .handshaking || state == .established else { return }
        bio.incoming = bytes
        defer { bio.incoming = ByteBuffer() }
        if state == .handshaking {
            try check(OpenSSLOutcome.of(ssl) { SSL_do_handshake(ssl) })
            guard SSL_is_init_finished(ssl) == 1 else { return }
            state = .established
            bio.isEstablished = true
        }
        var count = 1
        while count > 0 { count = try read(into: &plaintext) }
    }

    /// Protects data to send, in records of up to 16 KiB.
    public func write(_ plaintext: ByteBuffer) throws(TLSError) {
        guard state == .established || state == .inputClosed, !isOutputClosed else { throw .notEstablished }
        guard plaintext.readableBytes > 0 else { return }
        let (records, rest) = plaintext.readableBytes.quotientAndRemainder(dividingBy: Self.recordSize)
        bio.reserve(plaintext.readableBytes + (records + (rest > 0 ? 1 : 0)) * Self.recordOverhead)
        let outcome = plaintext.withUnsafeReadableBytes { bytes in
            OpenSSLOutcome.of(ssl) {
                var written = 0
                return SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
            }
        }
        try check(outcome)
        // The library has taken nothing: it waits for the rest of the client's message first.
        if case .waiting = outcome { throw fail(.incompleteMessage) }
    }

    /// Ends the sending direction with `close_notify`, once there are keys; before, there is nothing to end.
    public func closeOutput() {
        guard state == .established || state == .inputClosed, !isOutputClosed else { return }
        isOutputClosed = true
        _ = OpenSSLOutcome.of(ssl) { SSL_shutdown(ssl) }
    }

    /// The bytes to send; nil when there are none.
    public func takeOutgoing() -> ByteBuffer? { bio.takeOutgoing() }

    /// Bytes of plaintext in a record (RFC 8446, section 5.1).
    private static let recordSize = 1 << 14
    /// Bytes that a record takes beyond its plaintext: header, nonce or type, tag.
    private static let recordOverhead = 5 + 8 + 16

    /// Appends the plaintext of a record, or of a part of one.
    /// - Returns: Its size; zero when nothing more can be read.
    private func read(into plaintext: inout ByteBuffer) throws(TLSError) -> Int {
        // No more than there can be, which is less than a record at the end of what arrived.
        let room = min(Self.recordSize, max(64, bio.incoming.readableBytes, Int(SSL_pending(ssl))))
        var outcome = OpenSSLOutcome.waiting
        let count = plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
            var count = 0
            outcome = OpenSSLOutcome.of(ssl) { SSL_read_ex(ssl, bytes.baseAddress, bytes.count, &count) }
            return count
        }
        try check(outcome)
        return count
    }

    private func check(_ outcome: OpenSSLOutcome) throws(TLSError) {
        guard !bio.isFlooded else { throw fail(.excessiveMessages) }
        switch outcome {
        case .done, .waiting: break
        case .closed: state = .inputClosed
        case .failed(let failure):
            throw fail(
                failure.receivedAlert.map { .alertReceived(code: $0.code, name: $0.name) }
                    ?? .failed(reason: failure.text))
        }
    }

    private func fail(_ error: TLSError) -> TLSError {
        state = .failed(error)
        return error
    }
}
