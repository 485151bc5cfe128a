/// A player of a room, for those who may begin and end players.
public struct PlayerDescription: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    /// The file, or the scheme and the host: what follows may have a key in it, and is not told.
    public var url: String
    public var state: PlayerStatus.State
    /// The reason for the state; nil while the player opens or plays.
    public var reason: PlayerStatus.Reason?
    /// The reason in words; nil if there is no more to say.
    public var detail: String?
    /// Seconds from the beginning of the film, or of the stream since it was opened.
    public var position: Double
    /// The length of the film in seconds; nil if it has none, or it is not known.
    public var duration: Double?
    /// True if it can be played from another place.
    public var seekable: Bool
    /// Seconds of the film that pass in one second.
    public var rate: Double
    /// 1: as it is.
    public var volume: Double
    public var loop: Bool
    public var video: Bool
    public var audio: Bool
    /// Pictures that were shown so far.
    public var framesShown: Int
    /// Pictures that were left out, because they came too late.
    public var framesDropped: Int

    public init(
        _ status: PlayerStatus, url: String, settings: PlayerSettings, detail: String? = nil, position: Double = 0,
        duration: Double? = nil, seekable: Bool = false, framesShown: Int = 0, framesDropped: Int = 0
    ) {
        id = status.id
        name = status.name
        state = status.state
        reason = status.reason
        video = status.video
        audio = status.audio
        self.url = url
        self.detail = detail
        self.position = position
        self.duration = duration
        self.seekable = seekable
        rate = settings.rate
        volume = settings.volume
        loop = settings.loop
        self.framesShown = framesShown
        self.framesDropped = framesDropped
    }
}

/// The players of a room: those that go on, and the last ones that have ended.
public struct PlayerList: Codable, Hashable, Sendable {
    public var players: [PlayerDescription]

    public init(_ players: [PlayerDescription]) {
        self.players = players
    }
}
