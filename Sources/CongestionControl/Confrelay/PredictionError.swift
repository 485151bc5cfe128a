import NIOCore

/// The mean difference between the capacity and its estimate a moment before: small on a wire, large on a fading radio
/// link.
struct PredictionError: Sendable {
    /// The time for which rate control must predict, about a round trip and a frame, in seconds.
    private static let horizon = 0.1
    /// The time between two predictions: about a frame.
    private static let interval = 1.0 / 30
    /// Less busy time than this measures nothing. In seconds.
    private static let leastBusyTime = 0.005
    /// An unknown link is taken for a rather steady one.
    private static let start = 0.3

    /// A receiver may claim that everything arrived at one time: no more spacings than this are kept.
    private static let maximumSpacingCount = 2048

    private let weight: Double
    private let noise: Double

    /// The mean of |actual / predicted − 1|, at most one.
    private(set) var value = start

    private var spacings = CircularBuffer<(time: Double, bytes: Double, busyTime: Double)>()
    private var bytes = 0.0
    private var busyTime = 0.0
    private var predictions = CircularBuffer<(time: Double, rate: Double)>()

    init(parameters: ConfrelayParameters) {
        weight = parameters.errorWeight
        noise = parameters.errorNoise
    }

    /// The part of the error that is the link's: jitter shifts the ends of the measurement and so is part of the error.
    func excess(jitter: Double) -> Double {
        max(value - noise - jitter / Self.horizon, 0)
    }

    /// Records the bytes that the link carried in a busy time that ended at `time`, on the receiver's clock in seconds;
    /// `rate` is its estimated capacity.
    mutating func add(bytes size: Double, busyTime busy: Double, at time: Double, rate: Double) {
        spacings.append((time, size, busy))
        bytes += size
        busyTime += busy
        while let first = spacings.first,
            first.time < time - Self.horizon || spacings.count > Self.maximumSpacingCount
        {
            bytes -= first.bytes
            busyTime -= first.busyTime
            spacings.removeFirst()
        }
        if let last = predictions.last, time - last.time < Self.interval { return }
        while predictions.count > 1, predictions[offset: 1].time <= time - Self.horizon { predictions.removeFirst() }
        if let past = predictions.first, past.time <= time - Self.horizon, busyTime > Self.leastBusyTime {
            let error = (bytes / busyTime / max(past.rate, 1) - 1).magnitude
            value += weight * (min(error, 1) - value)
        }
        predictions.append((time, rate))
    }
}
