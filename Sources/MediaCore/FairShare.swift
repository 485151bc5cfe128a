/// A number of places that clients share fairly: a client may hold as many as are free, which is half of them at most
/// for one client, a third each for two (the dynamic threshold of Choudhury and Hahne, IEEE/ACM Transactions on
/// Networking 6 (2), 1998). So there is always a place for a client that has none.
public struct FairShare<Client: Hashable & Sendable>: Sendable {
    public let capacity: Int
    public private(set) var count = 0
    private var counts: [Client: Int] = [:]

    public init(capacity: Int) {
        self.capacity = capacity
    }

    /// Takes a place.
    ///
    /// - Parameter isTrusted: Whether the client stands for many and may hold all places.
    /// - Returns: False if there is none for this client.
    public mutating func take(for client: Client, isTrusted: Bool = false) -> Bool {
        let free = capacity - count
        let own = counts[client, default: 0]
        guard free > 0, own < free || isTrusted else { return false }
        count += 1
        counts[client] = own + 1
        return true
    }

    public mutating func giveBack(_ client: Client) {
        guard let own = counts[client] else { return }
        count -= 1
        counts[client] = own > 1 ? own - 1 : nil
    }
}
