import MediaCore

/// Reduces the media's rate while too much is in flight, instead of letting packets wait (libwebrtc's
/// `CongestionWindowPushbackController`, with the window of `GoogCcNetworkController`).
///
/// The window is the target times the shortest of the last 32 feedback round trips and 350 ms more. While more is in
/// flight, each update takes 5 % (10 % beyond one and a half windows) from the rate for the encoder; below, it gives 5
/// % back.
struct CongestionWindowPushback: Sendable {
    static let additionalTime = Duration.milliseconds(350)
    static let minimumWindow = DataSize(bytes: 3000)
    static let minimumRate = BitRate.kilobits(30)
    static let roundTripCount = 32
    /// A reduction by less is none.
    static let negligibleReduction = 0.01

    /// The longest round trip of each of the last reports: a ring.
    private var roundTrips: [Duration] = []
    private var oldest = 0
    private(set) var window: DataSize?
    /// The encoder's share of the target.
    private(set) var ratio = 1.0
    /// The size of packets that were sent and not reported yet.
    private(set) var outstanding = DataSize.zero

    init() {
        roundTrips.reserveCapacity(Self.roundTripCount)
    }

    /// The mean of the remembered round trips; nil before the first.
    var meanRoundTrip: Duration? {
        roundTrips.isEmpty ? nil : roundTrips.reduce(.zero, +) / roundTrips.count
    }

    mutating func packetSent(size: DataSize) {
        outstanding += size
    }

    /// A report came, `longest` after the oldest packet that arrived according to it had left.
    mutating func heard(longest: Duration?, outstanding: DataSize) {
        self.outstanding = max(outstanding, .zero)
        guard let longest else { return }
        if roundTrips.count < Self.roundTripCount {
            roundTrips.append(longest)
        } else {
            roundTrips[oldest] = longest
            oldest = (oldest + 1) % Self.roundTripCount
        }
    }

    /// Moves the window half of the way towards the target's.
    mutating func updateWindow(target: BitRate) {
        guard let shortest = roundTrips.min() else { return }
        let wanted = target.dataSize(over: max(shortest, .zero) + Self.additionalTime)
        let next = window.map { DataSize(bytes: $0.bytes / 2 + wanted.bytes / 2) } ?? wanted
        window = max(next, Self.minimumWindow)
    }

    /// Updates the ratio with the data in flight.
    mutating func update() {
        guard let window, window > .zero else { return }
        let fill = Double(outstanding.bytes) / Double(window.bytes)
        if fill > 1.5 {
            ratio *= 0.9
        } else if fill > 1 {
            ratio *= 0.95
        } else if fill < 0.1 {
            ratio = 1
        } else {
            ratio = min(ratio * 1.05, 1)
        }
    }

    /// The encoder's part of a target.
    func rate(of target: BitRate) -> BitRate {
        let reduced = target * ratio
        return reduced < Self.minimumRate ? min(target, Self.minimumRate) : reduced
    }

    /// The interval of frames to leave out under a target and above a minimum, at least two; nil for none
    /// (`VideoStreamEncoder::UpdateTargetBitrate`).
    func frameDropInterval(target: BitRate, minimum: BitRate) -> Int? {
        let excess = min(target - max(rate(of: target), minimum), target - minimum)
        guard target > minimum, excess / target > Self.negligibleReduction else { return nil }
        return max(2, Int(clamping: target / excess))
    }
}
