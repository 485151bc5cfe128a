public import CongestionControl
public import MediaCore

/// What a recording begins with: which controller it is of, and whose.
public struct FlightHeader: Hashable, Sendable {
    /// A constant of the controller that was multiplied.
    public struct Scaling: Hashable, Sendable {
        public var name: String
        public var factor: Double

        public init(name: String, factor: Double) {
            self.name = name
            self.factor = factor
        }
    }

    /// The controller's name, as command lines have it.
    public var controller: String
    /// What it was made with.
    public var limits: RateLimits
    public var scaling: [Scaling]
    /// When it was made, on the clock of all times in the recording.
    public var start: MonotonicInstant
    /// The wall clock then: milliseconds since 1970, UTC.
    public var wallClockMilliseconds: Int64
    /// What the network adds to each packet's size as the sender counts it: the headers of IP and UDP.
    public var packetOverhead: DataSize
    /// The program that recorded, with its version.
    public var program: String
    public var room: String
    /// Who receives what is sent, or sends it: the name, and what tells it from others of that name.
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
