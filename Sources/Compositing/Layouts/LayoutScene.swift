public import MediaCore

/// Who can be shown to a viewer, as a layout is told of it.
public struct LayoutScene: Hashable, Sendable {
    /// Those who have a camera's tile, in the order in which they stand: usually that of joining.
    public var cameras: [ParticipantID]
    /// Those who present a screen, the newest last.
    public var presenters: [ParticipantID]
    /// Those who spoke, the newest first. Who has no tile does not count.
    public var speakers: [ParticipantID]
    /// What participants are called, for layouts that ask for someone by name.
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

    /// The cameras, of those who spoke last first.
    var camerasByImportance: [ParticipantID] {
        let spoke = speakers.filter(cameras.contains)
        return spoke + cameras.filter { !spoke.contains($0) }
    }

    /// What shows most of a participant: the screen they present, or else their camera.
    func principalSource(of participant: ParticipantID) -> SourceID? {
        if presenters.contains(participant) { return .screenShare(participant) }
        return cameras.contains(participant) ? .camera(participant) : nil
    }
}
