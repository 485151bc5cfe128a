import MediaCore
import PeerConnection
import SecureTransport

/// Finds the owners of datagrams on paths that ICE found: of connectivity checks by their user name, and of others by
/// their source address, once a check from there was authentic.
///
/// Any participant can make a check that seems to come from another's address. So an address may have several owners,
/// if several sessions were checked from there; the last checked one comes last.
struct PathDirectory {
    /// Sessions for one address.
    private static let maximumOwners = 4
    /// Addresses of one participant; as many as an agent remembers.
    private static let maximumAddresses = ICELiteAgent.pathLimit

    private struct Memory {
        /// Our parts of the valid user names: the one in use and, until the first check with it, that of the last ICE
        /// restart.
        var fragments: [String] = []
        var addresses: [TransportAddress] = []
    }

    private var members: [String: Endpoint] = [:]
    private var owners: [TransportAddress: [Endpoint]] = [:]
    private var memories: [ParticipantID: Memory] = [:]

    /// Adds a participant, or the user name that an ICE restart gave one.
    mutating func add(_ participant: Endpoint, usernameFragment: String) {
        var fragments = memories[participant.id]?.fragments ?? []
        // The answer to the restart before may be lost: the client still uses what it had before that one.
        if fragments.count > 1 { members[fragments.removeLast()] = nil }
        fragments.append(usernameFragment)
        memories[participant.id, default: Memory()].fragments = fragments
        members[usernameFragment] = participant
    }

    /// Records an authentic check with this user name: the first one with a new name ends the former name.
    mutating func confirmed(_ usernameFragment: String, of participant: Endpoint) {
        guard let fragments = memories[participant.id]?.fragments, fragments.count > 1,
            fragments.last == usernameFragment
        else { return }
        members[fragments[0]] = nil
        memories[participant.id]?.fragments = [usernameFragment]
    }

    mutating func remove(_ participant: Endpoint) {
        guard let memory = memories.removeValue(forKey: participant.id) else { return }
        for fragment in memory.fragments { members[fragment] = nil }
        for address in memory.addresses { forget(address, of: participant) }
    }

    /// The participant to which a check with our part of this user name is addressed.
    func endpoint(usernameFragment: String) -> Endpoint? { members[usernameFragment] }

    /// Participants whose paths lead to this address, the one checked last at the end.
    func owners(of address: TransportAddress) -> [Endpoint] { owners[address.unmapped] ?? [] }

    /// Records an authentic check of a participant from an address. If there are too many addresses, the oldest is
    /// forgotten, but never the one in use.
    mutating func checked(_ participant: Endpoint, source: TransportAddress) {
        let address = source.unmapped
        if owners[address]?.last === participant { return }
        if owners[address]?.contains(where: { $0 === participant }) ?? false {
            owners[address]?.removeAll { $0 === participant }
            owners[address]?.append(participant)
            return
        }
        owners[address, default: []].append(participant)
        // All links to one relay have one address. Only relays of the cluster can make them.
        if !(participant is CascadeLink), let list = owners[address]?.filter({ !($0 is CascadeLink) }),
            list.count > Self.maximumOwners
        {
            abandon(address, by: list[0])
        }
        memories[participant.id]?.addresses.append(address)
        if let addresses = memories[participant.id]?.addresses, addresses.count > Self.maximumAddresses,
            let oldest = addresses.first(where: { $0 != participant.peer.selectedAddress })
        {
            abandon(oldest, by: participant)
        }
    }

    private mutating func abandon(_ address: TransportAddress, by participant: Endpoint) {
        memories[participant.id]?.addresses.removeAll { $0 == address }
        forget(address, of: participant)
    }

    private mutating func forget(_ address: TransportAddress, of participant: Endpoint) {
        owners[address]?.removeAll { $0 === participant }
        if owners[address]?.isEmpty ?? false { owners[address] = nil }
    }
}
