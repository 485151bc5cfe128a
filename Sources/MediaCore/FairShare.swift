/// A number of places that clients share fairly: a client may hold as many as are free, which is half of them at most
/// for one client, a third each for two (the dynamic threshold of Choudhury and Hahne, IEEE/ACM Transactions on
/// Networking 6 (2), 1998). So there is always a place for a client that has none.
package struct FairShare<Client: Hashable & Sendable>: Sendable {
    package let capacity: Int
    package private(set) var count = 0
    private var counts: [Client: Int] = [:]

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Takes a place.
    ///
    /// - Parameter isTrusted: True if the client stands for many and may hold all places.
    /// - Returns: False if there is none for this client.
    package mutating func take(for client: Client, isTrusted: Bool = false) -> Bool {
        let free = capacity - count
        let own = counts[client, default: 0]
        guard free > 0, own < free || isTrusted else { return false }
        count += 1
        counts[client] = own + 1
        return true
    }

    package mutating func giveBack(_ client: Client) {
        guard let own = counts[client] else { return }
        count -= 1
        counts[client] = own > 1 ? own - 1 : nil
    }
}
