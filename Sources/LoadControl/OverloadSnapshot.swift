/// The state of overload control at one moment.
public struct OverloadSnapshot: Encodable, Sendable {
    public var level = OverloadLevel.normal
    /// The number of further participants that fit, with all measures active; nil until the machine has been measured.
    public var seatsLeft: Int?
    /// The total number of participants that fit; nil until the machine has been measured.
    public var seats: Seats?
    /// The load that 95 % of the last second's ticks stayed below, as a share of the time to the next tick.
    public var load = 0.0
    /// The share of the workers' time that went into jobs over the last second.
    public var busy = 0.0
    /// The share of its time that a device worked over the last second; nil without one.
    public var deviceBusy: Double?
    /// Changes of level.
    public var transitions: UInt64 = 0
    public var joinsRefused: UInt64 = 0
    /// The active measures, in a sentence; nil for none.
    public var measures: String?
    public var slack = SlackHistogram()
    /// The reason for which nobody is admitted; nil if participants are.
    public var refusal: Refusal?

    package init(
        level: OverloadLevel = .normal, seatsLeft: Int? = nil, seats: Seats? = nil, load: Double = 0, busy: Double = 0,
        deviceBusy: Double? = nil, transitions: UInt64 = 0, joinsRefused: UInt64 = 0, measures: String? = nil,
        slack: SlackHistogram = SlackHistogram(), refusal: Refusal? = nil
    ) {
        self.level = level
        self.seatsLeft = seatsLeft
        self.seats = seats
        self.load = load
        self.busy = busy
        self.deviceBusy = deviceBusy
        self.transitions = transitions
        self.joinsRefused = joinsRefused
        self.measures = measures
        self.slack = slack
        self.refusal = refusal
    }

    /// The number of participants that fit, all sending and receiving, in one room.
    public struct Seats: Encodable, Hashable, Sendable {
        /// The seats if each member has a picture and an encoder.
        public var dedicated: Int
        /// The seats with one picture and as many encoders as are allowed.
        public var groups: Int
        /// The seats with one picture and one encoder.
        public var sharedView: Int
        /// The same at the cheapest preset and half the frame rate.
        public var cheapest: Int

        public init(_ model: SeatModel) {
            dedicated = model.seats(.dedicated)
            groups = model.seats(.groups)
            sharedView = model.seats(.sharedView)
            cheapest = model.seats(.cheapest)
        }
    }

    /// The reason for which a join is refused.
    public struct Refusal: Encodable, Hashable, Sendable {
        public var reason: String
        /// The time to wait, in seconds.
        public var retryAfter: Int

        public init(reason: String, retryAfter: Int) {
            self.reason = reason
            self.retryAfter = retryAfter
        }
    }

    private enum CodingKeys: String, CodingKey {
        case level, seatsLeft, seats, load, busy, deviceBusy, transitions, joinsRefused, measures
    }

    /// A sentence that says which measures are in force.
    package static func sentence(_ measures: [OverloadLevel]) -> String? {
        let words = measures.compactMap(\.measure)
        guard let last = words.last else { return nil }
        let others = words.dropLast()
        let list = others.isEmpty ? last : others.joined(separator: ", ") + ", and \(last)"
        return "The relay is short of time: \(list)."
    }
}

/// A change of level with its reasons.
public struct OverloadChange: Hashable, Sendable {
    public var from: OverloadLevel
    public var to: OverloadLevel
    /// The load that 95 % of the ticks stayed below, as a share of the time to the next tick.
    public var load: Double
    /// The share of the workers' time that went into jobs.
    public var busy: Double
    public var seatsLeft: Int?

    package init(_ transition: OverloadPolicy.Transition, seatsLeft: Int?) {
        from = transition.from
        to = transition.to
        load = transition.load
        busy = transition.busy
        self.seatsLeft = seatsLeft
    }
}
