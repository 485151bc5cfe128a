public import CongestionControl
public import MediaCore

/// The header of a recording: the controller, and the participant whose media it controls.
public struct FlightHeader: Hashable, Sendable {
    /// A constant of the controller that was scaled.
    public struct Scaling: Hashable, Sendable {
        public var name: String
        public var factor: Double

        public init(name: String, factor: Double) {
            self.name = name
            self.factor = factor
        }
    }

    /// The controller's name, as on command lines.
    public var controller: String
    /// The limits that the controller was created with.
    public var limits: RateLimits
    public var scaling: [Scaling]
    /// The time at which the controller was created, on the clock of all times in the recording.
    public var start: MonotonicInstant
    /// The wall clock at `start`: milliseconds since 1970, UTC.
    public var wallClockMilliseconds: Int64
    /// The size that the headers of IP and UDP add to each packet; the sender's packet sizes do not include it.
    public var packetOverhead: DataSize
    /// The program that recorded, with its version.
    public var program: String
    public var room: String
    /// The participant at the other end of the flow: the name, and the identifier that distinguishes participants of
    /// the same name.
    public var participant: String
    public var participantID: String

    public init(
        controller: String, limits: RateLimits, scaling: [Scaling] = [], start: MonotonicInstant,
        wallClockMilliseconds: Int64 = 0, packetOverhead: DataSize = .zero, program: String = "", room: String = "",
        participant: String = "", participantID: String = ""
    ) {
        self.controller = controller
        self.limits = limits
        self.scaling = scaling
        self.start = start
        self.wallClockMilliseconds = wallClockMilliseconds
        self.packetOverhead = packetOverhead
        self.program = program
        self.room = room
        self.participant = participant
        self.participantID = participantID
    }
}
