import Conference
import Foundation
import HTTPTypes
import MediaCore
import RoomAPI
import RoomMedia
import SecureTransport

/// Makes members of pushed streams.
///
/// A publisher names the room, and proves itself by a key: on a relay with keys a token for the room, on an open one
/// the name on the tile.
struct StreamAdmission: StreamAdmitting {
    let access: AccessControl
    let driver: RelayDriver
    let quotas: RequestQuotas
    var now: @Sendable () -> MonotonicInstant = { .now() }

    /// Refuses a wrong key, a room that does not exist or takes nobody, and too many tries.
    func admit(
        _ stream: PushedStream, room text: String, key: String, from address: TransportAddress?
    ) async throws(StreamRefusal) {
        do throws(Problem) {
            try await join(stream, room: text, key: key, from: address)
        } catch {
            throw StreamRefusal(reason: error.detail)
        }
    }

    private func join(
        _ stream: PushedStream, room text: String, key: String, from address: TransportAddress?
    ) async throws(Problem) {
        let subject = address.map { RequestQuotas.Subject.network(ClientNetwork($0)) }
        if let subject {
            try quotas.admit(.join, of: subject, now: now())
            if let wait = quotas.secondsToWait(.wrongProof, of: subject, now: now()) {
                throw Problem.tooManyRequests(.wrongProof, retryAfter: wait)
            }
        }
        let room = try RoomName(text)
        do throws(Problem) {
            let (name, grants) = try await access.publisher(key: key, room: room)
            _ = try await driver.startPlayer(
                room: room.rawValue, name: name.rawValue, .pushed(stream), PlayerSettings(),
                publisher: StreamPublisher(grants: grants, client: address))
        } catch {
            if error.status == .unauthorized, let subject {
                _ = quotas.take(.wrongProof, of: subject, now: now())
            }
            throw error
        }
    }
}

extension AccessControl {
    /// The name, the role and the permissions of a publisher with this key.
    fileprivate func publisher(
        key: String, room: RoomName
    ) async throws(Problem) -> (name: ParticipantName, grants: MemberGrants) {
        guard keys != nil else {
            return (key.isEmpty ? .guest : try ParticipantName(key.removingPercentEncoding ?? key), .open)
        }
        let caller = try await tokenCaller(key, room: room)
        guard let claims = caller.claims, caller.may(.camera) || caller.may(.microphone) else {
            throw Self.forbidden("the token does not allow to send")
        }
        guard claims.isSingleUse != true else {
            throw Self.forbidden(
                "a stream's token cannot be for single use: an encoder comes again when its line breaks")
        }
        return (try ParticipantName(caller.name ?? ParticipantName.guest.rawValue), MemberGrants(claims))
    }
}
