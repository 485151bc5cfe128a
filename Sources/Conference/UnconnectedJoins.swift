import MediaCore
import SecureTransport

/// The participants that have joined over HTTP and have not connected: their client has not proved over the media port
/// that it is there and has the keys.
///
/// A join costs a client one HTTP request, so such participants hold no seat. This type bounds how many there are, from
/// each network and in all, and with them the memory and the places in rooms that they use. Each ends after `deadline`.
struct UnconnectedJoins {
    /// The time from joining to keys. A handshake takes a few round trips; a person does not wait longer.
    static let deadline = Duration.seconds(10)
    /// The limit for one network. Many people may share the address of a router or of a proxy in front of the relay.
    static let limitPerNetwork = 32
    static let limit = 256

    private struct Entry {
        /// Nil if the address is not known. Only the limit of all joins holds for these.
        var network: ClientNetwork?
        var joined: MonotonicInstant
    }

    private var entries: [ParticipantID: Entry] = [:]

    var count: Int { entries.count }

    /// Returns the reason for which no further join from this address is admitted now; nil if one is.
    func refusal(for address: TransportAddress?, now: MonotonicInstant) -> JoinError? {
        let network = address.map(ClientNetwork.init)
        let own = entries.values.filter { network != nil && $0.network == network }
        if own.count >= Self.limitPerNetwork {
            return .tooManyUnconnectedFromAddress(
                limit: Self.limitPerNetwork, retryAfter: Self.wait(for: own.map(\.joined), now: now))
        }
        guard entries.count >= Self.limit else { return nil }
        return .tooManyUnconnected(
            limit: Self.limit, retryAfter: Self.wait(for: entries.values.map(\.joined), now: now))
    }

    mutating func add(_ participant: ParticipantID, from address: TransportAddress?, now: MonotonicInstant) {
        entries[participant] = Entry(network: address.map(ClientNetwork.init), joined: now)
    }

    /// Removes a participant that has connected or left. It has no effect on others.
    mutating func remove(_ participant: ParticipantID) { entries[participant] = nil }

    /// Whole seconds until the oldest join reaches its deadline, at least one.
    private static func wait(for joins: [MonotonicInstant], now: MonotonicInstant) -> Int {
        let left = (joins.min() ?? now) + deadline - now
        return max(1, Int(min(left, deadline).seconds.rounded(.up)))
    }
}
