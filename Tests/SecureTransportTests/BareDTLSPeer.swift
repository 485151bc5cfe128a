import COpenSSL
import MediaCore
import NIOCore
import OpenSSLClient
import SecureTransport

/// OpenSSL as another peer may use it, with the settings that a test wants. Each record goes in a datagram of its own.
final class BareDTLSPeer {
    struct Options {
        var role = DTLSRole.client
        /// As `SSL_CTX_set_tlsext_use_srtp` takes them; nil to ask for no SRTP.
        var profiles: String? = "SRTP_AES128_CM_SHA1_80"
        var hasCertificate = true
        var usesRSA = false
        /// Bits of `SSL_CTX_set_options`.
        var libraryOptions: UInt64 = 0
        var ciphers = "DEFAULT"
        var maximumVersion = DTLS1_2_VERSION
    }

    /// `SSL_OP_NO_EXTENDED_MASTER_SECRET`, which is a macro.
    static let noExtendedMasterSecret: UInt64 = 1

    let fingerprint: CertificateFingerprint
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    init(_ options: Options = Options()) throws {
        context = try BareCertificate.require(SSL_CTX_new(DTLS_method()), "context")
        SSL_CTX_set_security_level(context, 0)
        let own = try BareCertificate(rsaBits: options.usesRSA ? 2048 : nil)
        fingerprint = own.fingerprint
        if options.hasCertificate {
            SSL_CTX_use_certificate(context, own.certificate)
            SSL_CTX_use_PrivateKey(context, own.key)
        }
        if let profiles = options.profiles { SSL_CTX_set_tlsext_use_srtp(context, profiles) }
        SSL_CTX_set_options(context, options.libraryOptions)
        SSL_CTX_set_cipher_list(context, options.ciphers)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.maximumVersion), nil)
        SSL_CTX_set_verify(context, options.role == .server ? SSL_VERIFY_PEER : SSL_VERIFY_NONE) { _, _ in 1 }
        ssl = try BareCertificate.require(SSL_new(context), "session")
        incoming = try BareCertificate.require(BIO_new(BIO_s_mem()), "BIO")
        outgoing = try BareCertificate.require(BIO_new(BIO_s_mem()), "BIO")
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        if options.role == .client { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }

    /// The keys as RFC 5764 has them: both keys, then both salts.
    func exportedKeys(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        SSL_export_keying_material(ssl, &bytes, count, "EXTRACTOR-dtls_srtp", 19, nil, 0, 0)
        return bytes
    }

    /// Shakes hands with `connection` until nothing is left to say; gives back its events.
    func shakeHands(with connection: DTLSConnection, now: MonotonicInstant = .zero) -> [DTLSConnection.Event] {
        for _ in 0..<20 {
            SSL_do_handshake(ssl)
            for datagram in takeRecords() { connection.receive(datagram, now: now) }
            while let datagram = connection.pollTransmit() { receive(datagram) }
        }
        var events: [DTLSConnection.Event] = []
        while let event = connection.pollEvent() { events.append(event) }
        return events
    }

    /// Protects data of the application, which nobody has use for.
    func write(_ bytes: [UInt8]) -> [ByteBuffer] {
        SSL_write(ssl, bytes, Int32(bytes.count))
        return takeRecords()
    }

    /// Ends the association.
    func close() -> [ByteBuffer] {
        SSL_shutdown(ssl)
        return takeRecords()
    }

    func receive(_ datagram: ByteBuffer) {
        datagram.withUnsafeReadableBytes { bytes in
            _ = BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
        }
        SSL_do_handshake(ssl)
    }

    /// Takes the waiting output, record by record.
    func takeRecords() -> [ByteBuffer] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = BIO_read(outgoing, &bytes, Int32(bytes.count))
        guard count > 0 else { return [] }
        return DTLSRecords.split(ByteBuffer(bytes: bytes.prefix(Int(count))))
    }
}
