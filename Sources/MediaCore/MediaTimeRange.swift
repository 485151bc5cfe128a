/// A span of media time: from `start`, which is in it, to `end`, which is not.
public struct MediaTimeRange: Hashable, Sendable {
    public var start: MediaTime
    /// The duration; `positiveInfinity` for a range without an end.
    public var duration: MediaTime

    /// Creates a range. It is invalid if either time is, or if the duration is negative or indefinite.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }

    /// Creates the range from `start` up to `end`; invalid if `end` is earlier.
    ///
    /// `all` is the only range without a start that can be represented by start and duration; others become invalid.
    public init(start: MediaTime, end: MediaTime) {
        let isRepresentable = start.isNumeric || (start.isNegativeInfinity && end.isPositiveInfinity)
        self.init(start: start, duration: isRepresentable ? end - start : .invalid)
    }

    /// An empty range at time zero.
    public static let empty = MediaTimeRange(start: .zero, duration: .zero)
    /// The range that contains all time.
    public static let all = MediaTimeRange(start: .negativeInfinity, duration: .positiveInfinity)
    public static let invalid = MediaTimeRange(start: .invalid, duration: .invalid)

    /// The first time after the range.
    public var end: MediaTime {
        guard isValid else { return .invalid }
        return duration.isPositiveInfinity ? .positiveInfinity : start + duration
    }

    /// True if the range has a start and a duration that is not negative.
    public var isValid: Bool {
        start.isValid && !start.isIndefinite && duration >= .zero && duration.isValid && !duration.isIndefinite
    }

    /// True if nothing is in the range. An invalid one is empty.
    public var isEmpty: Bool { !isValid || duration == .zero }

    /// Returns true if a time, which must be a number, is in the range.
    public func contains(_ time: MediaTime) -> Bool {
        isValid && time.isNumeric && start <= time && time < end
    }

    /// Returns true if all of `other` is in the range. An empty range is contained if it starts inside, or at the
    /// range's end.
    public func contains(_ other: MediaTimeRange) -> Bool {
        isValid && other.isValid && start <= other.start && other.end <= end
    }

    /// Returns true if the ranges share any time.
    public func overlaps(_ other: MediaTimeRange) -> Bool { !intersection(other).isEmpty }

    /// The common part of both; an empty range, at the later start, if there is none; invalid if either is.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        let later = max(start, other.start)
        let earlier = min(end, other.end)
        return later < earlier
            ? MediaTimeRange(start: later, end: earlier) : MediaTimeRange(start: later, duration: .zero)
    }

    /// The smallest range that holds both; an empty or invalid one adds nothing.
    public func union(_ other: MediaTimeRange) -> MediaTimeRange {
        guard !other.isEmpty else { return self }
        guard !isEmpty else { return other }
        return MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }
}

extension MediaTimeRange: CustomStringConvertible {
    public var description: String { "\(start)..<\(end)" }
}
