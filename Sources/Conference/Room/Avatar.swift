public import Compositing
public import MediaCore
import OrderedCollections

/// A picture in place of a participant's video while there is none.
public struct Avatar: Sendable {
    public let image: ImageAsset
    /// The file of which it was made, for the other relays of the room.
    public let png: [UInt8]
    /// Tells the file from all others: by it relays know which avatars they lack.
    public let digest: String

    public init(image: ImageAsset, png: [UInt8], digest: String) {
        self.image = image
        self.png = png
        self.digest = digest
    }
}

/// The avatars of participants at other relays.
extension Relay {
    /// An avatar that a participant at another relay has, and this relay lacks.
    public struct MissingAvatar: Hashable, Sendable {
        public var participant: String
        public var digest: String
    }

    /// The avatars that a room's participants at another relay have, and this relay lacks.
    public func missingAvatars(inRoom id: String, from node: String) -> [MissingAvatar] {
        let members = rooms[id]?.links[node]?.members.values.map { $0 } ?? []
        return members.compactMap { member in
            guard let digest = member.remote?.told.avatar, digest != member.avatar?.digest else { return nil }
            return MissingAvatar(participant: member.publicID, digest: digest)
        }
    }

    /// Gives a participant at another relay an avatar, unless that one has another by now.
    public func receive(
        _ avatar: Avatar, ofParticipant publicID: String, inRoom id: String, from node: String, now: MonotonicInstant
    ) {
        guard let room = rooms[id], let member = room.links[node]?.members[publicID],
            member.remote?.told.avatar == avatar.digest
        else { return }
        room.setAvatar(avatar, of: member)
    }

    /// The file of a participant's avatar, for the other side of a link; nil: there is no such link or avatar.
    public func avatarFile(ofParticipant publicID: String, forLink name: String) -> [UInt8]? {
        guard let link = links.values.first(where: { $0.name == name }) else { return nil }
        return rooms[link.room]?.localParticipant(publicID: publicID)?.avatar?.png
    }
}
