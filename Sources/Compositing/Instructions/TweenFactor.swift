public import MediaCore

/// The elapsed part of a time range: elapsed time over duration, an exact fraction from 0 to 1.
public struct TweenFactor: Hashable, Sendable {
    /// A number from 0 to `denominator`.
    public let numerator: Int64
    /// A positive number.
    public let denominator: Int64

    /// Zero before the range and at its start, one at its end and after it. A range of no length is passed at its
    /// start.
    public init(of time: MediaTime, in range: MediaTimeRange) {
        guard range.isValid, time.isNumeric, time >= range.start else {
            self.init(numerator: 0, denominator: 1)
            return
        }
        guard range.duration.isNumeric, range.start.isNumeric else {
            self.init(numerator: 0, denominator: 1)
            return
        }
        guard time < range.end else {
            self.init(numerator: 1, denominator: 1)
            return
        }
        let elapsed = time - range.start
        // Clocks' times fit into 64 bits, whose divisions take far less time.
        let part = elapsed.value.multipliedReportingOverflow(by: Int64(range.duration.timescale))
        let whole = range.duration.value.multipliedReportingOverflow(by: Int64(elapsed.timescale))
        if !part.overflow, !whole.overflow {
            let divisor = greatestCommonDivisor(part.partialValue, whole.partialValue)
            self.init(numerator: part.partialValue / divisor, denominator: whole.partialValue / divisor)
            return
        }
        let (left, right) = (
            Int128(elapsed.value) * Int128(range.duration.timescale),
            Int128(range.duration.value) * Int128(elapsed.timescale)
        )
        let divisor = greatestCommonDivisor(left, right)
        // Clocks do not make times that differ so much in scale; the nearest fraction in 64 bits is good enough for
        // them.
        var (numerator, denominator) = (left / divisor, right / divisor)
        while denominator > Int128(Int64.max) {
            numerator /= 2
            denominator /= 2
        }
        self.init(numerator: Int64(numerator), denominator: Int64(denominator))
    }

    private init(numerator: Int64, denominator: Int64) {
        self.numerator = numerator
        self.denominator = denominator
    }

    public var isZero: Bool { numerator == 0 }
    public var isOne: Bool { numerator == denominator }
    public var fraction: Double { Double(numerator) / Double(denominator) }
}
