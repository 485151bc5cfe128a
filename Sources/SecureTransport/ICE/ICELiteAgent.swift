public import MediaCore
public import NIOCore

/// The relay's side of ICE for one session: a lite, controlled agent, which has host candidates only, sends no checks
/// and answers received ones (RFC 8445, sections 2.5 and 7.3; RFC 8489).
///
/// - A datagram that does not authenticate gets no answer at all. RFC 8489, section 9.1.3 demands an error answer, but
///   then anyone could make us send to anybody's address.
/// - An answer is never larger than its request: the FINGERPRINT is left out if that helps, or nothing is sent.
/// - A check is valid once: the same transaction on another path is a replay, which could direct media there. On the
///   same path it is answered again, and validates and nominates nothing: the client may have left that path.
/// - A path is validated by an authentic check, and nothing is sent to other addresses. Addresses that were not
///   signalled are as good as signalled ones (peer-reflexive, RFC 8445, section 7.3.1.3), and so is a new one during a
///   call. At most `pathLimit` paths are remembered, each for as long as consent lasts after its last check or
///   authentic packet.
/// - Each of the other side's checks renews the consent to send to its source (RFC 7675; a lite agent cannot ask for it
///   itself). So does each authentic packet on the selected path: it proves as much as a check does, and there are
///   publishers that check only at the start.
public struct ICELiteAgent: Sendable {
    /// The fate of a datagram.
    public enum Outcome: Hashable, Sendable {
        /// An authentic check. Send `response` to its source, from the address at which it arrived; nil if the answer
        /// would be larger than the request.
        /// - isNew: The path was not validated before.
        case answered(response: ByteBuffer?, isNew: Bool)
        /// Authentic, but refused with the error answer `response` (RFC 8489, section 6.3.4): 487 if the sender takes
        /// our role (RFC 8445, section 7.3.1.1), 420 if it demands an unknown attribute. It validates nothing.
        case refused(code: UInt16, response: ByteBuffer?)
        /// A wrong USERNAME or MESSAGE-INTEGRITY, or none.
        case unauthenticated
        /// An authentic check that came before, on another path.
        case replayed
        /// The agent failed: no check is good any more before a restart.
        case expired
        /// A binding indication, which keeps a NAT's mapping alive, or an answer to a request that was not sent.
        case ignored
        /// The datagram is not a STUN message that ICE accepts.
        case malformed(STUNError)
    }

    /// The most paths that are remembered for one session.
    public static let pathLimit = 16

    /// The state of the path.
    public private(set) var state = ICEState.new
    /// The path to send on: the last nominated one; before a nomination, the last validated one. One on which nothing
    /// can be sent is the last choice. A restart keeps it until one is nominated with the new credentials (RFC 8445,
    /// section 9). Nil without consent to send.
    public private(set) var selectedPath: NetworkPath?
    /// The time of the next call to `advance(now:)`, if nothing comes before.
    public private(set) var nextDeadline: MonotonicInstant

    private var key: ICECheckKey
    /// The key before a restart, good until the first check with the new one.
    private var previousKey: ICECheckKey?
    private var paths: [CheckedPath] = []
    private var history = ICECheckHistory()
    private var nominationCount: UInt64 = 0
    /// The time since which a first check is awaited.
    private var waitingSince: MonotonicInstant
    /// The time of the last packet from the other side on the selected path.
    private var lastSign: MonotonicInstant

    /// A path on which authentic checks came. `lastProof` is the time of the last one, or of an authentic packet.
    private struct CheckedPath: Sendable {
        var path: NetworkPath
        var lastProof: MonotonicInstant
        /// The order of the nomination, larger for later ones; 0 without a nomination.
        var nomination: UInt64 = 0
        /// False if nothing could be sent on it since its last check.
        var isOpen = true
    }

    /// Makes a session's agent, which waits for a first check as long as consent lasts.
    /// - Parameters:
    ///   - local: The credentials in our description.
    ///   - remote: The credentials in the other side's description.
    public init(local: ICECredentials, remote: ICECredentials, now: MonotonicInstant) {
        key = ICECheckKey(receiver: local, sender: remote)
        waitingSince = now
        lastSign = now
        nextDeadline = now + ICETiming.consentLifetime
    }

    /// The other side's address on that path.
    public var selectedAddress: TransportAddress? { selectedPath?.remote }

    /// Returns true if consent lasts since an authentic check from this address: datagrams from there may be examined
    /// and answered.
    public func isValidated(_ address: TransportAddress) -> Bool {
        let address = address.unmapped
        return selectedAddress == address || paths.contains { $0.path.remote == address }
    }

    /// Takes a STUN datagram that came from `source`.
    ///
    /// - Parameter local: Our address at which it came; nil if the socket has one.
    public mutating func receive(
        _ datagram: ByteBuffer, from source: TransportAddress, at local: TransportAddress? = nil,
        now: MonotonicInstant
    ) -> Outcome {
        advance(now: now)
        let request: STUNMessage
        do {
            request = try STUNMessage(parsing: datagram)
        } catch {
            return .malformed(error)
        }
        guard request.hasFingerprint else { return .malformed(.missingFingerprint) }
        guard request.messageClass == .request, request.method == STUNMessage.bindingMethod else { return .ignored }
        guard let key = authenticate(request) else { return .unauthenticated }
        guard state != .failed else { return .expired }
        let path = NetworkPath(remote: source.unmapped, local: local)
        let appearance = history.record(request.transactionID, on: path)
        guard appearance != .elsewhere else { return .replayed }
        if request.unknownAttributes.count > 0 {
            return refuse(request, code: STUNErrorCode.unknownAttribute, key: key)
        }
        if case .controlled = request.role { return refuse(request, code: STUNErrorCode.roleConflict, key: key) }

        let isNew = appearance == .first && validate(path, nominated: request.nominates, now: now)
        var response = STUNMessageBuilder(.successResponse, transactionID: request.transactionID)
        response.append(mappedAddress: path.remote)
        return .answered(response: response.finish(answering: request, key: key.password), isNew: isNew)
    }

    /// Records authentic media, or another datagram that only the other side can have made, from a validated address:
    /// the other side is not silent then. On the selected path it renews the consent as a check does.
    public mutating func recordLiveness(from source: TransportAddress, now: MonotonicInstant) {
        guard source.unmapped == selectedAddress, state != .failed else { return }
        lastSign = max(lastSign, now)
        if let index = paths.firstIndex(where: { $0.path == selectedPath }) {
            paths[index].lastProof = max(paths[index].lastProof, now)
        }
        if state == .disconnected { update(now: now) }
    }

    /// Records that nothing can be sent on a path, since our address or the route is gone: another one takes its place,
    /// until a check comes on this one.
    public mutating func sendingFailed(on path: NetworkPath, now: MonotonicInstant) {
        guard let index = paths.firstIndex(where: { $0.path == path && $0.isOpen }) else { return }
        paths[index].isOpen = false
        update(now: now)
    }

    /// Sets new credentials for both sides (RFC 8445, section 9). The old ones stay valid until the first check with
    /// the new ones, and the present path stays in use until another one is nominated, or this one ends.
    ///
    /// A second restart before that check replaces the first one.
    public mutating func restart(local: ICECredentials, remote: ICECredentials, now: MonotonicInstant) {
        if previousKey == nil { previousKey = key }
        key = ICECheckKey(receiver: local, sender: remote)
        waitingSince = now
        if state == .failed {
            state = .disconnected
            previousKey = nil
        }
        update(now: now)
    }

    /// Advances the time: silence makes the agent disconnected, and ends consent.
    public mutating func advance(now: MonotonicInstant) {
        if now >= nextDeadline { update(now: now) }
    }

    /// The key with which the request was made; nil when with none of ours.
    private mutating func authenticate(_ request: STUNMessage) -> ICECheckKey? {
        if request.hasUsername(key.username), request.isAuthentic(key: key.password) {
            previousKey = nil
            return key
        }
        guard let previousKey, request.hasUsername(previousKey.username),
            request.isAuthentic(key: previousKey.password)
        else { return nil }
        return previousKey
    }

    private func refuse(_ request: STUNMessage, code: UInt16, key: ICECheckKey) -> Outcome {
        var response = STUNMessageBuilder(.errorResponse, transactionID: request.transactionID)
        response.append(errorCode: code)
        if code == STUNErrorCode.unknownAttribute { response.append(unknownAttributes: request.unknownAttributes) }
        return .refused(code: code, response: response.finish(answering: request, key: key.password))
    }

    /// Remembers the path of an authentic check.
    /// - Returns: True if it is new.
    private mutating func validate(_ path: NetworkPath, nominated: Bool, now: MonotonicInstant) -> Bool {
        let known = paths.firstIndex { $0.path == path }
        var checked = known.map { paths.remove(at: $0) } ?? CheckedPath(path: path, lastProof: now)
        checked.lastProof = now
        checked.isOpen = true
        if nominated {
            nominationCount += 1
            checked.nomination = nominationCount
        }
        if paths.count >= Self.pathLimit { forgetStalest() }
        // A known path keeps its place, for the last one is the one that was validated last.
        paths.insert(checked, at: known.map { min($0, paths.count) } ?? paths.count)
        if selectedPath == path || selectedPath == nil { lastSign = now }
        update(now: now)
        return known == nil
    }

    /// Makes room for a new path at the expense of the one, not selected, that was checked longest ago.
    private mutating func forgetStalest() {
        let stalest = paths.indices.filter { paths[$0].path != selectedPath }
            .min { paths[$0].lastProof < paths[$1].lastProof }
        if let stalest { paths.remove(at: stalest) }
    }

    private mutating func update(now: MonotonicInstant) {
        paths.removeAll { now >= $0.lastProof + ICETiming.consentLifetime }
        let selected = bestPath
        if selected?.path != selectedPath {
            selectedPath = selected?.path
            // Packets on another path say nothing about this one.
            if let selected { lastSign = selected.lastProof }
        }
        guard selected != nil else {
            let end = waitingSince + ICETiming.consentLifetime
            guard now < end else {
                state = .failed
                nextDeadline = .distantFuture
                return
            }
            if state == .connected { state = .disconnected }
            nextDeadline = end
            return
        }
        let silent = lastSign + ICETiming.silenceLimit
        state = now < silent ? .connected : .disconnected
        nextDeadline = paths.reduce(now < silent ? silent : .distantFuture) { deadline, path in
            min(deadline, path.lastProof + ICETiming.consentLifetime)
        }
    }

    private var bestPath: CheckedPath? {
        let open = paths.filter(\.isOpen)
        return (open.isEmpty ? paths : open).reduce(nil) { selected, path in
            path.nomination >= selected?.nomination ?? 0 ? path : selected
        }
    }
}

/// The transactions of the last checks with the paths on which they came, by which one that is sent again from or to
/// elsewhere is known. Its memory is bounded: it keeps 32 bits of each transaction and of its path.
struct ICECheckHistory: Sendable {
    /// A client that has chosen its path takes hours for as many checks. An attacker who has caught a check that is
    /// forgotten could have media sent to any address with it.
    static let limit = 4096

    private var transactions: [UInt32] = []
    private var paths: [UInt32] = []
    private var next = 0

    enum Appearance {
        case first, repeated
        /// It was seen on another path.
        case elsewhere
    }

    /// Records a transaction.
    mutating func record(_ id: STUNTransactionID, on path: NetworkPath) -> Appearance {
        let transaction = UInt32(truncatingIfNeeded: id.low)
        let path = UInt32(truncatingIfNeeded: path.hashValue)
        if let known = transactions.firstIndex(of: transaction) { return paths[known] == path ? .repeated : .elsewhere }
        if transactions.count < Self.limit {
            transactions.append(transaction)
            paths.append(path)
        } else {
            transactions[next] = transaction
            paths[next] = path
            next = (next + 1) % Self.limit
        }
        return .first
    }
}
