import MediaCore

/// The bounds of the inputs that a sender's own code can produce. A controller need not tolerate values outside them.
struct FlightBounds {
    /// The range of the rates in limits and demands.
    static let rates = BitRate.zero...BitRate.megabits(1_000_000)
    /// The largest gap between two transport sequence numbers: a sender remembers no more of them.
    static let maximumSequenceJump: Int64 = 65_535
    static let maximumSize: Int64 = 1 << 31

    private let start: Int64

    init(start: MonotonicInstant) {
        self.start = start.nanoseconds
    }

    static func areLimits(_ minimum: BitRate, _ start: BitRate, _ maximum: BitRate) -> Bool {
        minimum > .zero && minimum <= start && start <= maximum && maximum <= rates.upperBound
    }

    /// Returns true if a round-trip time is within the range of report timestamps: they wrap after 18 hours.
    static func isPlausible(_ roundTripTime: Duration) -> Bool {
        (Duration.seconds(-86_400)...Duration.seconds(86_400)).contains(roundTripTime)
    }

    func time(after previous: Int64, step: Int64) -> MonotonicInstant? {
        let (time, overflow) = previous.addingReportingOverflow(step)
        guard !overflow, step >= 0, time - start <= FlightFormat.maximumDuration else { return nil }
        return MonotonicInstant(nanoseconds: time)
    }

    func sendTime(_ reference: Int64, offset: Int64) -> MonotonicInstant? {
        let (time, overflow) = reference.addingReportingOverflow(offset)
        guard !overflow else { return nil }
        let (elapsed, elapsedOverflow) = time.subtractingReportingOverflow(start)
        guard !elapsedOverflow, elapsed.magnitude <= UInt64(FlightFormat.maximumDuration) else { return nil }
        return MonotonicInstant(nanoseconds: time)
    }
}

extension ByteReader {
    mutating func rate() -> BitRate? {
        varint().flatMap(Int64.init(exactly:)).map { BitRate(bitsPerSecond: $0) }
    }

    mutating func size() -> DataSize? {
        guard let bytes = signed(), (0...FlightBounds.maximumSize).contains(bytes) else { return nil }
        return DataSize(bytes: Int(bytes))
    }
}
