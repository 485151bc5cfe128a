public import MediaCore

/// The participants that a viewer can be shown, as a layout sees them.
public struct LayoutScene: Hashable, Sendable {
    /// The participants with a camera's tile, in the order in which they stand: usually that of joining.
    public var cameras: [ParticipantID]
    /// The participants who share a screen, the newest last.
    public var presenters: [ParticipantID]
    /// The participants who spoke, the latest first. Participants without a tile do not count.
    public var speakers: [ParticipantID]
    /// The participants' names, for layouts that ask for someone by name.
    public var names: [ParticipantID: String]

    public init(
        cameras: [ParticipantID], presenters: [ParticipantID] = [], speakers: [ParticipantID] = [],
        names: [ParticipantID: String] = [:]
    ) {
        self.cameras = cameras
        self.presenters = presenters
        self.speakers = speakers
        self.names = names
    }

    /// The cameras, the latest speakers first.
    var camerasByImportance: [ParticipantID] {
        let spoke = speakers.filter(cameras.contains)
        return spoke + cameras.filter { !spoke.contains($0) }
    }

    /// A participant's main source: the screen share, or else the camera.
    func principalSource(of participant: ParticipantID) -> SourceID? {
        if presenters.contains(participant) { return .screenShare(participant) }
        return cameras.contains(participant) ? .camera(participant) : nil
    }
}
