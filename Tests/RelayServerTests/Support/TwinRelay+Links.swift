import MediaCore
import RelayServer
import Synchronization

@testable import Conference

/// The twin's links to other relays.
extension TwinRelay {
    func offerLink(room id: String) throws(CascadeError) -> CascadeOffer {
        guard let offer = script.state.withLock({ $0.linkOffer }) else { throw .noSuchRoom }
        return offer
    }

    func answerLink(
        room id: String, from node: String, offer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError) -> CascadeOffer {
        throw .noSuchRoom
    }

    func openLink(
        room id: String, to node: String, offer: CascadeOffer, answer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError) {
        script.state.withLock {
            $0.updates.append(CascadeUpdate(room: id, node: node, link: offer.link, state: CascadeState()))
            $0.onLink(id)
        }
    }

    func endLink(room: String, to node: String, now: MonotonicInstant) { script.state.withLock { $0.onLinkEnd() } }

    func pollCascade(now: MonotonicInstant) -> CascadeUpdate? {
        script.state.withLock { $0.updates.isEmpty ? nil : $0.updates.removeFirst() }
    }

    func cascadeEnded(_ update: CascadeUpdate, isDelivered: Bool, now: MonotonicInstant) {}

    func receive(
        _ state: CascadeState, room id: String, from node: String, link name: String, now: MonotonicInstant
    ) throws(CascadeError) {
        throw .noSuchLink
    }

    func missingAvatars(inRoom id: String, from node: String) -> [Relay.MissingAvatar] { [] }

    func receive(
        _ avatar: Avatar, ofParticipant publicID: String, inRoom id: String, from node: String, now: MonotonicInstant
    ) {}

    func avatarFile(ofParticipant publicID: String, forLink name: String) -> [UInt8]? { nil }

    func setConductedRooms(_ epochs: [String: Int64]) {}
    func setOtherRelays(_ relays: [String: Set<String>]) {}

    func linkSnapshots(now: MonotonicInstant) -> [CascadeLinkSnapshot] {
        script.state.withLock {
            $0.onLinkSnapshots()
            return $0.links
        }
    }

    var cascadeCounters: CascadeCounters { CascadeCounters() }
}
