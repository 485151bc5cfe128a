internal import COpenSSL
internal import MediaCore
internal import NIOCore

/// One `SSL *` over a memory BIO: the library's part of a connection. Each call states the time.
final class DTLSSession {
    let bio = DatagramBIO()
    private let ssl: OpaquePointer

    /// The time from a flight to its first retransmission. RFC 6347 (4.2.4.1) recommends a second without knowledge of
    /// the path; here a person waits for the call, and paths with a longer round trip cost an additional flight.
    static let firstTimeout: Duration = .milliseconds(200)
    /// The longest timeout, up to which timeouts double. The library ends the handshake after 12 of them.
    static let longestTimeout: Duration = .seconds(3)

    init?(context: OpaquePointer, role: DTLSRole, maximumDatagramSize: Int) {
        guard let ssl = SSL_new(context) else { return nil }
        self.ssl = ssl
        guard let bio = bio.makeBIO() else { return nil }
        // The session owns the BIO from here on, for reading and writing.
        SSL_set_bio(ssl, bio, bio)
        guard shim_SSL_set_mtu(ssl, maximumDatagramSize) else { return nil }
        DTLS_set_timer_cb(ssl) { _, microseconds in
            let first = UInt32(DTLSSession.firstTimeout.nanoseconds / 1000)
            let longest = UInt32(DTLSSession.longestTimeout.nanoseconds / 1000)
            return microseconds == 0 ? first : min(longest, min(longest, microseconds) * 2)
        }
        if role == .client { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit {
        SSL_free(ssl)
    }

    func attach(_ verification: PeerVerification) -> Bool { verification.attach(to: ssl) }

    var isHandshakeComplete: Bool { SSL_is_init_finished(ssl) == 1 }

    /// Reads the received part of the handshake and writes the next one.
    @discardableResult
    func advanceHandshake(now: MonotonicInstant) -> OpenSSLOutcome {
        call(now: now) { SSL_do_handshake(ssl) }
    }

    /// Reads after the handshake: repeated flights (which the library answers), alerts, data (which is discarded,
    /// because DTLS-SRTP has none).
    func read(now: MonotonicInstant) -> OpenSSLOutcome {
        withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 1) { bytes in
            while true {
                let outcome = call(now: now) { SSL_read(ssl, bytes.baseAddress, Int32(bytes.count)) }
                guard case .done = outcome else { return outcome }
            }
        }
    }

    /// Sends the last flight again when its time has come.
    func handleTimeout(now: MonotonicInstant) -> OpenSSLOutcome {
        call(now: now) { shim_DTLSv1_handle_timeout(ssl) < 0 ? -1 : 1 }
    }

    /// Sends `close_notify`. In the middle of a handshake there is nothing to close, and nothing is sent.
    func close(now: MonotonicInstant) {
        guard isHandshakeComplete else { return }
        call(now: now) { SSL_shutdown(ssl) }
    }

    /// The time until the last flight is sent again; nil if nothing is awaited.
    func timeoutLeft(now: MonotonicInstant) -> Duration? {
        let left = DTLSClock.with(now: now) { shim_DTLSv1_get_timeout(ssl) }
        return left < 0 ? nil : .microseconds(left)
    }

    @discardableResult
    private func call(now: MonotonicInstant, _ body: () -> Int32) -> OpenSSLOutcome {
        OpenSSLOutcome.of(ssl) { DTLSClock.with(now: now, body) }
    }

    /// True if the keys of the session are bound to its handshake (RFC 7627).
    var hasExtendedMasterSecret: Bool { shim_SSL_get_extms_support(ssl) == 1 }

    /// Bytes that a protected record has beyond its content, with the cipher that was agreed on or, before that, any.
    var protectionSize: Int {
        let (nonce, tag) = (8, 16)
        guard let cipher = SSL_get_current_cipher(ssl) ?? SSL_get_pending_cipher(ssl) else { return nonce + tag }
        // Ciphers with ChaCha20 make the nonce from the record's number (RFC 7905); with AES-GCM a part is sent (RFC
        // 5288).
        return SSL_CIPHER_get_cipher_nid(cipher) == NID_chacha20_poly1305 ? tag : nonce + tag
    }

    /// The protection profile that the sides agreed on; nil when they did not.
    var profile: SRTPProfile? {
        SSL_get_selected_srtp_profile(ssl).flatMap { SRTPProfile(useSRTPIdentifier: UInt($0.pointee.id)) }
    }

    /// The keys that the handshake made, from the side of `role` (RFC 5764, section 4.2): the client's key, the
    /// server's key, the client's salt, the server's salt.
    func exportKeys(_ profile: SRTPProfile, role: DTLSRole) -> SRTPKeyPair? {
        var material = [UInt8](repeating: 0, count: 2 * profile.masterKeyMaterialLength)
        let label = "EXTRACTOR-dtls_srtp"
        ERR_clear_error()
        guard SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        let (key, salt) = (profile.keyLength, profile.saltLength)
        let client = material[..<key] + material[(2 * key)..<(2 * key + salt)]
        let server = material[key..<(2 * key)] + material[(2 * key + salt)...]
        guard let clientKeys = SRTPKeyMaterial(profile: profile, masterKeyAndSalt: Array(client)),
            let serverKeys = SRTPKeyMaterial(profile: profile, masterKeyAndSalt: Array(server))
        else { return nil }
        return role == .client
            ? SRTPKeyPair(inbound: serverKeys, outbound: clientKeys)
            : SRTPKeyPair(inbound: clientKeys, outbound: serverKeys)
    }
}

/// The time that libssl's retransmission timers go by: the machine's in programs, and the time of the call in tests,
/// which link `CDTLSClock`.
enum DTLSClock {
    /// Runs a call into libssl with `now` as the time, if the program has a clock that can be held.
    static func with<Result: ~Copyable>(now: MonotonicInstant, _ body: () -> Result) -> Result {
        // Never zero: for libssl a time of zero means a stopped timer. And far from overflowing.
        shim_dtls_clock_hold(max(0, now.nanoseconds) / 1000 + 1_000_000)
        defer { shim_dtls_clock_release() }
        return body()
    }
}
