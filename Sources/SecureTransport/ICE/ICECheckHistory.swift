/// The transactions of the last checks with the addresses that they came from, by which one that is sent again from
/// elsewhere is known. Its memory is bounded.
struct ICECheckHistory: Sendable {
    /// Some minutes of a client's checks once it has chosen its path.
    static let limit = 64

    private var transactions: [(id: STUNTransactionID, source: TransportAddress)] = []
    private var next = 0

    /// Records a transaction.
    /// - Returns: False if it was seen from another address.
    mutating func admit(_ id: STUNTransactionID, from source: TransportAddress) -> Bool {
        if let known = transactions.first(where: { $0.id == id }) { return known.source == source }
        if transactions.count < Self.limit {
            transactions.append((id, source))
        } else {
            transactions[next] = (id, source)
            next = (next + 1) % Self.limit
        }
        return true
    }
}
