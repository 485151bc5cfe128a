import MediaCore

/// A member at another relay: the link by which its sources come, and what that relay tells of it.
struct RemoteOrigin {
    /// The link holds the member too, and lets go of it when it ends.
    let link: CascadeLink
    var told: CascadeState.Member
    /// The lines of the link that bring the member's video.
    var lines: [SourceContent: Int] = [:]
    /// The line that brings its audio; nil while none does.
    var audioLine: Int?
}

extension Relay {
    /// This relay's knowledge of a member, for another relay to which the member's client goes; nil: no such member.
    public func memberState(_ publicID: String, inRoom room: String) -> CascadeState.Member? {
        rooms[room]?.participant(publicID: publicID).map { $0.remote?.told ?? CascadeState.Member($0) }
    }
}

extension CascadeSource.Content {
    init(_ content: SourceContent) {
        self =
            switch content {
            case .camera: .camera
            case .screenShare: .screen
            }
    }

    /// The content of a picture; nil for audio.
    var picture: SourceContent? {
        switch self {
        case .audio: nil
        case .camera: .camera
        case .screen: .screenShare
        }
    }
}

extension CascadeState.Member {
    /// True if the values are such as a relay takes from its own clients.
    var isPlausible: Bool {
        (1...64).contains(id.utf8.count) && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x2f }
            && name.utf8.count <= 1024 && avatar?.utf8.count ?? 0 <= 64
    }
}
