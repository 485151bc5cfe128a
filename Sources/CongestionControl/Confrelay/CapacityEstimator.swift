import MediaCore

/// Estimates the bottleneck's rate from the spacing of packets that it sent back to back.
///
/// A packet that reached the link before the one ahead of it had left kept the link busy from one arrival to the next.
/// So the capacity is the bytes of such packets over the time between their arrivals, whether the link is used fully or
/// not: each frame that leaves faster than the link's rate measures it. Recent packets count more.
struct CapacityEstimator: Sendable {
    /// The least that is ever thought of a link, in bytes per second: it keeps predictions finite.
    static let floor = 1000.0
    /// The shortest spacing of two packets that is evaluated; a shorter one may come from the way in which a receiver
    /// takes packets from its network card.
    private static let shortestSpacing = 1e-6

    /// A spacing counts as the link's, and not as an interruption, up to this multiple of the packet's time at the
    /// present estimate: above one, so that the estimate falls to any link's rate.
    private static let slowerLink = 2.0

    private let memory: Double
    private let jitterMemory: Double
    private let interruption: Double
    /// Bytes, and the seconds of a busy link that they took, both weighted by age.
    private var bytes: Double
    private var busy: Double

    /// The relevant time for which the link was seen busy, in seconds.
    private var measured = 0.0

    /// Bytes per second.
    var rate: Double { max(bytes / busy, Self.floor) }

    /// True if no measurement has changed the initial rate yet.
    var isGuess: Bool { measured == 0 }

    /// True if the initial rate has little influence left.
    var isMeasured: Bool { measured >= Self.fullMeasurement * memory }

    /// The multiple of the memory after which a twentieth of the initial rate is left.
    private static let fullMeasurement = 3.0

    init(start: Double, parameters: ConfrelayParameters) {
        memory = max(parameters.memory.seconds, 1e-3)
        jitterMemory = parameters.jitterMemory
        interruption = parameters.interruption.seconds
        busy = max(parameters.startMemory.seconds, 1e-4)
        bytes = max(start, Self.floor) * busy
    }

    /// Takes a busy time of the link and the bytes that it carried.
    ///
    /// - Parameter jitter: The variation of arrivals without queues, in seconds: it lengthens the memory.
    mutating func add(bytes size: Double, busyTime: Double, jitter: Double = 0) {
        // A slow link takes longer for a packet than an interruption lasts.
        let longest = max(interruption, Self.slowerLink * size / rate)
        let time = min(max(busyTime, Self.shortestSpacing), longest)
        let memory = memory + jitterMemory * jitter
        let kept = memory / (memory + time)
        bytes = bytes * kept + size
        busy = busy * kept + time
        measured = min(measured + time, Self.fullMeasurement * memory)
    }

    /// Returns the rate if the link has been busy for `silence` with a packet that has not arrived.
    func rate(whileSilentFor silence: Double, jitter: Double) -> Double {
        var copy = self
        if silence > 0 { copy.add(bytes: 0, busyTime: silence, jitter: jitter) }
        return copy.rate
    }

    /// Raises the estimate, because nothing queues and there may be more.
    mutating func grow(by factor: Double) {
        bytes *= factor
    }

    /// Limits the estimate to a rate.
    mutating func limit(to rate: Double) {
        bytes = min(bytes, rate * busy)
    }
}
