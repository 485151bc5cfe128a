import MediaCore
import RoomAPI
import SecureTransport
import Synchronization

@testable import Conference

/// The twin's answers about who may enter a room and act in it.
extension TwinRelay {
    func access(ofRoom id: String, participant: String?) -> RoomAccess? {
        script.state.withLock { state in
            var access = state.access[id]
            access?.member = participant.flatMap { state.grants[$0] }.map { RoomAccess.Member(name: "Ada", grants: $0) }
            return access
        }
    }

    func keepsOut(_ grants: MemberGrants, client: TransportAddress?, ofRoom id: String) -> Bool {
        script.state.withLock { state in grants.identity.map { state.keptOut.contains($0) } ?? false }
    }

    func holdsPlace(of publicID: String, inRoom room: String, now: MonotonicInstant) -> Bool {
        script.state.withLock { $0.participants.contains(publicID) }
    }

    func memberState(_ publicID: String, inRoom room: String) -> CascadeState.Member? { nil }

    func lobbyState(of ticket: String, room id: String, now: MonotonicInstant) -> LobbyState? {
        script.state.withLock { $0.lobby[ticket] }
    }

    func leaveLobby(_ ticket: String, room id: String) -> Bool {
        script.state.withLock { $0.lobby.removeValue(forKey: ticket) != nil }
    }

    func waiting(inRoom id: String) -> [WaitingPerson]? {
        script.state.withLock { state in
            state.access[id].map { _ in state.lobby.keys.sorted().map { WaitingPerson(id: $0, name: "Cy") } }
        }
    }
}
