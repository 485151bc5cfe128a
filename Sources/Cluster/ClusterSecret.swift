import Foundation
import SecureTransport

/// Signs what relays of a cluster tell each other through clients.
public struct ClusterSecret: Sendable {
    private let hash: KeyedHash

    /// Bytes of a secret.
    public static let size = 32
    /// The life of a ticket, in seconds.
    public static let ticketLifetime = 10.0
    /// The largest difference between the clocks of two relays, in seconds.
    static let leeway = 5.0
    /// The longest grant of a ticket, in bytes: the claims of the longest token.
    public static let maximumGrantSize = 3072
    /// The longest telling of a former participant in a ticket, in bytes.
    public static let maximumFormerSize = 1024
    /// The longest ticket that is read. It is JSON in Base64: each byte of a text in it takes two at most, and the rest
    /// of the ticket, with its code, has names and numbers alone.
    static let maximumTicketSize = (2 * (maximumGrantSize + maximumFormerSize) + 1024) / 3 * 4
    /// The longest key or signature that is read.
    private static let maximumCodeSize = 4096

    public init(_ bytes: [UInt8]) { hash = KeyedHash(key: bytes) }

    /// Proves to a relay that another one of the cluster has sent the client to it.
    public struct Ticket: Hashable, Codable, Sendable {
        public var room: String
        /// The relay that it is for.
        public var node: NodeID
        /// Seconds since 1970 (UTC).
        public var expiry: Double
        /// The number of times that the client was sent on.
        public var hops: Int
        /// The client's rights, as the sending relay has found them out; nil if it knows of none.
        public var grant: String?
        /// The sending relay's knowledge of the participant that the client was until now; nil: none.
        public var former: String?
        /// True if the relay is to join the room's relays; nil: false.
        public var isFurther: Bool?
        /// The client's address, where the sending relay brings the join itself; nil: the client comes.
        public var client: String?

        public init(
            room: String, node: NodeID, expiry: Double, hops: Int, grant: String? = nil, former: String? = nil,
            isFurther: Bool? = nil, client: String? = nil
        ) {
            self.room = room
            self.node = node
            self.expiry = expiry
            self.hops = hops
            self.grant = grant
            self.former = former
            self.isFurther = isFurther
            self.client = client
        }
    }

    /// The text of a ticket, fit for a query; nil where the library refuses.
    public func sign(_ ticket: Ticket) -> String? {
        let text = Self.base64URL(DirectoryValue.encode(ticket))
        return code("ticket", text).map { "\(text).\($0)" }
    }

    /// Reads a ticket.
    ///
    /// - Parameters:
    ///   - room: Nil: of any room.
    ///   - time: Seconds since 1970 (UTC).
    /// - Returns: nil: it is not of this cluster, not for this relay and room, or too old.
    public func ticket(_ text: String, node: NodeID, room: String?, time: Double) -> Ticket? {
        guard let ticket = ticket(text), ticket.node == node, ticket.room == room ?? ticket.room,
            time < ticket.expiry + Self.leeway
        else { return nil }
        return ticket
    }

    /// The seconds since which a ticket of this cluster for this relay is too old; nil: it is not, or none.
    public func lateness(ofTicket text: String, node: NodeID, time: Double) -> Double? {
        guard let ticket = ticket(text), ticket.node == node, time >= ticket.expiry + Self.leeway else { return nil }
        return time - ticket.expiry
    }

    /// A ticket of this cluster.
    private func ticket(_ text: String) -> Ticket? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumTicketSize, parts.count == 2,
            matches(code("ticket", String(parts[0])), String(parts[1])), let bytes = Self.bytes(base64URL: parts[0])
        else { return nil }
        return DirectoryValue.decode(Ticket.self, from: bytes)
    }

    /// A participant's id with a key, by which its client can be the same participant at another relay; nil where
    /// the library refuses.
    ///
    /// - Parameter time: When the key is made, in seconds since 1970 (UTC): it is for the room that goes on then.
    public func rejoinKey(of participant: String, in room: String, time: Double) -> String? {
        rejoinKey(of: participant, in: room, second: Int64(time))
    }

    private func rejoinKey(of participant: String, in room: String, second: Int64) -> String? {
        code("rejoin", "\(room)/\(participant)/\(second)").map { "\(participant).\(second).\($0)" }
    }

    /// The participant of such a key, and when the key was made; nil for a wrong one.
    public func participant(ofRejoinKey text: String, in room: String) -> (id: String, time: Double)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumCodeSize, parts.count == 3, let second = Int64(parts[1]),
            matches(rejoinKey(of: String(parts[0]), in: room, second: second), text)
        else { return nil }
        return (String(parts[0]), Double(second))
    }

    // MARK: Requests of relays

    /// Signs a request of a relay to another one, for a header field; nil where the library refuses.
    ///
    /// - Parameters:
    ///   - request: The method and path.
    ///   - node: The relay that the request is for.
    ///   - time: Seconds since 1970 (UTC).
    public func signature(of request: String, body: [UInt8], to node: NodeID, time: Double) -> String? {
        signature(of: request, body: body, to: node, expiry: Int64(time) + Int64(Self.ticketLifetime))
    }

    private func signature(of request: String, body: [UInt8], to node: NodeID, expiry: Int64) -> String? {
        let head = Array("relay/\(expiry)/\(node)/\(request)\n".utf8)
        return hash.code(of: head + body).map { "\(expiry).\(Self.base64URL(Array($0.prefix(16))))" }
    }

    /// Returns true if a relay of the cluster has signed a request to this one, lately.
    public func isSignature(
        _ text: String, of request: String, body: [UInt8], node: NodeID, time: Double
    ) -> Bool {
        guard let expiry = Self.expiry(ofSignature: text, time: time) else { return false }
        return matches(signature(of: request, body: body, to: node, expiry: expiry), text)
    }

    /// Returns true if a text may be the signature of a request whose body is not there yet.
    public static func mayBeSignature(_ text: String, time: Double) -> Bool {
        expiry(ofSignature: text, time: time) != nil
    }

    /// Signs the head of a request of a relay to another one, for a header field: it shows before the body has come
    /// that a relay has made the request. Nil where the library refuses.
    ///
    /// - Parameters:
    ///   - signature: The signature of the whole request.
    ///   - size: The bytes of the body.
    public func headSignature(of request: String, signature: String, bodySize size: Int, to node: NodeID) -> String? {
        code("head", "\(size)/\(node)/\(signature)/\(request)").map { "\(size).\($0)" }
    }

    /// The bytes of the body of a request whose head a relay of the cluster has signed; nil: none has.
    public func bodySize(
        ofHeadSignature text: String, of request: String, signature: String, node: NodeID
    ) -> Int? {
        guard max(text.utf8.count, signature.utf8.count) <= Self.maximumCodeSize,
            let size = Int(text.prefix { $0 != "." }), size >= 0,
            matches(headSignature(of: request, signature: signature, bodySize: size, to: node), text)
        else { return nil }
        return size
    }

    /// When a signature expires; nil: it has, or it is none.
    private static func expiry(ofSignature text: String, time: Double) -> Int64? {
        guard text.utf8.count <= maximumCodeSize, let expiry = Int64(text.prefix { $0 != "." }),
            time < Double(expiry) + leeway, Double(expiry) < time + ticketLifetime + leeway
        else { return nil }
        return expiry
    }

    private func matches(_ expected: String?, _ text: String) -> Bool {
        expected.map { SecretComparison.areEqual(Array($0.utf8), Array(text.utf8)) } ?? false
    }

    /// 128 bits of the code of a text, for one purpose.
    private func code(_ purpose: String, _ text: String) -> String? {
        hash.code(of: "\(purpose)/\(text)").map { Self.base64URL(Array($0.prefix(16))) }
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    private static func bytes(base64URL text: Substring) -> [UInt8]? {
        var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text).map(Array.init)
    }
}
