internal import COpenSSL
public import MediaCore
public import NIOCore

/// One side of a DTLS association that makes keys for SRTP (RFC 5764), without sockets and clocks: it takes arriving
/// datagrams and the time, and returns datagrams to send, events, and its next wake-up.
///
/// After each call take `pollTransmit` and `pollEvent` until they are empty, and call `advance` at `nextDeadline`. A
/// client has its first flight ready at once.
///
/// The versions are DTLS 1.2 and newer ones in the library (1.3 is in OpenSSL from version 4). Nothing counts as the
/// other side's before its certificate has one of the fingerprints of the session description: otherwise the handshake
/// ends with `bad_certificate`, and no key is ever handed out. The extended master secret (RFC 7627) and a common
/// protection profile are required as well.
///
/// A connection relies on ICE to have chosen the datagrams' address (RFC 8445): otherwise it would answer with flights
/// four times as large as the datagrams that cause them, and repeat them. There is no cookie exchange, which ICE's
/// check makes superfluous.
///
/// The memory that a hostile peer can use is limited: the size of a handshake message (17 kB) times the number that the
/// library keeps out of order (10), the early protected records (16, 17 kB each), and 32 datagrams to send. Its
/// computation is limited to 100 datagrams a second and bursts of 128.
///
/// A connection belongs to one thread at a time.
public final class DTLSConnection {
    /// An event of a connection.
    public enum Event: Hashable, Sendable {
        /// The handshake is complete and the other side is the one that was meant.
        case established(keys: SRTPKeyPair)
        /// The association could not be made, or was broken off. Nothing comes after this.
        case failed(DTLSError)
        /// The other side ended the association (`close_notify`). Nothing comes after this.
        case closed
    }

    /// The state of a connection.
    public enum State: Hashable, Sendable {
        case handshaking
        case established
        case closed
        case failed(DTLSError)
    }

    public let role: DTLSRole
    public private(set) var state = State.handshaking
    public private(set) var counters = DTLSCounters()

    /// A handshake that has not come to its end in this time has failed.
    public static let handshakeTimeout: Duration = .seconds(30)

    /// The time of the next call to `advance`; nil if only a datagram can change anything.
    public private(set) var nextDeadline: MonotonicInstant?

    private let session: DTLSSession
    private let verification: PeerVerification
    private let handshakeDeadline: MonotonicInstant
    private var filter = DTLSRecordFilter()
    /// The limit of examined datagrams: as many as any handshake needs, and no more of a flood.
    private var budget: TokenBucket
    private var events: [Event] = []

    /// Begins an association.
    /// - Parameters:
    ///   - role: This side's role, from `a=setup`.
    ///   - certificate: This side's certificate.
    ///   - remoteFingerprints: The other side's certificate must have one of these; without any it could be anyone's.
    ///   - maximumDatagramSize: The largest UDP payload that is sent, at least 256; larger flights are cut.
    public init(
        role: DTLSRole, certificate: DTLSCertificate, remoteFingerprints: [CertificateFingerprint],
        maximumDatagramSize: Int = 1200, now: MonotonicInstant
    ) throws(DTLSError) {
        guard !remoteFingerprints.isEmpty else { throw .missingFingerprint }
        ERR_clear_error()
        let verification = PeerVerification(fingerprints: remoteFingerprints)
        guard
            let session = DTLSSession(
                context: certificate.context, role: role, maximumDatagramSize: maximumDatagramSize),
            session.attach(verification)
        else { throw .library(reason: OpenSSLFailure.take().text) }
        self.role = role
        self.session = session
        self.verification = verification
        handshakeDeadline = now + Self.handshakeTimeout
        budget = TokenBucket(rate: 100, capacity: 128, now: now)
        if role == .client { shakeHands(now: now) }
        updateDeadline(now: now)
    }

    /// Takes an arrived datagram of any content.
    /// - Returns: True if it was useful, as far as can be seen from outside: false for those that `counters.refused`
    ///   counts.
    @discardableResult
    public func receive(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
        let refused = counters.refused
        counters.received += 1
        if isAcceptable(datagram, now: now) {
            session.bio.incoming = datagram
            if state == .handshaking { shakeHands(now: now) }
            if state == .established { read(now: now) }
            session.bio.incoming = nil
            updateDeadline(now: now)
        }
        return counters.refused == refused
    }

    /// Returns true if the library may see a datagram; otherwise counts the reason.
    private func isAcceptable(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
        guard isOpen else {
            counters.late += 1
            return false
        }
        guard budget.take(now: now) else {
            counters.excessive += 1
            return false
        }
        switch filter.inspect(
            datagram, isEstablished: state == .established, protection: session.protectionSize)
        {
        case .acceptable: return true
        case .replayed:
            counters.replayed += 1
            return true
        case .malformed: counters.malformed += 1
        case .unexpected: counters.unexpected += 1
        }
        return false
    }

    /// Performs due work: sends a flight again, or ends the handshake.
    public func advance(now: MonotonicInstant) {
        guard isOpen, let nextDeadline, nextDeadline <= now else { return }
        if state == .handshaking, now >= handshakeDeadline {
            end(.timedOut)
        } else {
            counters.timeouts += 1
            if case .failed(let failure) = session.handleTimeout(now: now) { end(error(for: failure)) }
        }
        updateDeadline(now: now)
    }

    /// The next datagram to send; nil when there is none.
    public func pollTransmit() -> ByteBuffer? {
        guard let datagram = session.bio.takeOutgoing() else { return nil }
        counters.sent += 1
        return datagram
    }

    /// The next event; nil when there is none.
    public func pollEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Ends the association, with a `close_notify` to the other side if the handshake is complete. It makes no event.
    public func close(now: MonotonicInstant) {
        guard isOpen else { return }
        session.close(now: now)
        state = .closed
        updateDeadline(now: now)
    }

    private var isOpen: Bool { state == .handshaking || state == .established }

    private func shakeHands(now: MonotonicInstant) {
        switch session.advanceHandshake(now: now) {
        case .done: establish(now: now)
        case .waiting: break
        case .closed: finish()
        case .failed(let failure): end(error(for: failure))
        }
    }

    /// Hands the keys out, once all is as it was agreed on.
    private func establish(now: MonotonicInstant) {
        let refusal: DTLSError
        if verification.isAccepted != true {
            refusal = .fingerprintMismatch
        } else if !session.hasExtendedMasterSecret {
            refusal = .noExtendedMasterSecret
        } else if let profile = session.profile {
            if let keys = session.exportKeys(profile, role: role) {
                state = .established
                return events.append(.established(keys: keys))
            }
            refusal = .library(reason: OpenSSLFailure.take().text)
        } else {
            refusal = .noCommonProfile
        }
        session.close(now: now)
        end(refusal)
    }

    private func read(now: MonotonicInstant) {
        switch session.read(now: now) {
        case .done, .waiting: break
        case .closed:
            session.close(now: now)
            finish()
        case .failed(let failure): end(error(for: failure))
        }
    }

    private func finish() {
        state = .closed
        events.append(.closed)
    }

    private func end(_ error: DTLSError) {
        state = .failed(error)
        events.append(.failed(error))
    }

    private func error(for failure: OpenSSLFailure) -> DTLSError {
        if verification.isAccepted == false { return .fingerprintMismatch }
        if let alert = failure.receivedAlert { return .alertReceived(code: alert.code, name: alert.name) }
        if failure.reason == SSL_R_READ_TIMEOUT_EXPIRED { return .timedOut }
        return .handshakeFailed(reason: failure.text)
    }

    private func updateDeadline(now: MonotonicInstant) {
        guard isOpen else {
            nextDeadline = nil
            return
        }
        let retransmission = session.timeoutLeft(now: now).map { now + $0 }
        let limit = state == .handshaking ? handshakeDeadline : nil
        nextDeadline = [retransmission, limit].compactMap(\.self).min()
    }
}

/// A DTLS connection's received, refused and sent datagrams.
public struct DTLSCounters: Hashable, Sendable {
    /// All datagrams that came in.
    public var received: UInt64 = 0
    /// Refused datagrams that are not made of whole DTLS records.
    public var malformed: UInt64 = 0
    /// Datagrams without effect: all of their records had come before.
    public var replayed: UInt64 = 0
    /// Refused: data, which DTLS-SRTP does not carry, or more protected records than a handshake can need.
    public var unexpected: UInt64 = 0
    /// Refused datagrams beyond the number that a connection examines.
    public var excessive: UInt64 = 0
    /// Refused datagrams that came after the connection had ended.
    public var late: UInt64 = 0
    /// All datagrams that went out.
    public var sent: UInt64 = 0
    /// Flights that went out again because no answer had come.
    public var timeouts: UInt64 = 0

    /// All datagrams that were refused or had no effect.
    public var refused: UInt64 { malformed + replayed + unexpected + excessive + late }
}
