import MediaCore
import NIOCore

/// The controller's model of the sender's queue before the network: the times and sizes of new frames, and the wait of
/// the oldest data. Its only inputs are the queue's sizes, every few milliseconds.
struct SenderQueue: Sendable {
    static let rateInterval = 0.1
    static let rateCount = 4
    /// The gain with which a queue that outlasts half a frame lowers the target; `maximumAdjustment` limits the
    /// reduction.
    static let delayGain = 0.2
    static let adjustmentGain = 1.0 / 8
    static let maximumAdjustment = 0.5
    /// The size in bytes below which frames are too small for size comparisons.
    static let smallFrame = 500.0

    private(set) var size = 0.0
    /// True if a frame arrived since `takeNewFrame`.
    private var hasNewFrame = false
    /// The factor by which packets leave faster than usual to send a large frame; at least 1.
    private(set) var framePacing = 1.0
    /// The reduction of the target because the queue does not drain between frames (rate_adjust_factor).
    private(set) var rateAdjustment = 0.0
    /// The source's rate over the last 400 ms, in bit/s.
    private(set) var mediaRate = 0.0

    private let maximumFramePacing: Double
    private var sent = 0.0
    private var arrivals = CircularBuffer<(time: MonotonicInstant, size: Double)>()
    private var lastFrame: MonotonicInstant?
    private var framePeriod = 0.02
    private var rates: [Double] = []
    private var nextRate = 0
    private var made = 0.0
    private var rateStart: MonotonicInstant

    init(maximumFramePacing: Double, now: MonotonicInstant) {
        self.maximumFramePacing = maximumFramePacing
        rateStart = now
        rates.reserveCapacity(Self.rateCount)
    }

    mutating func packetSent(_ size: DataSize) {
        sent += Double(size.bytes)
    }

    mutating func takeNewFrame() -> Bool {
        defer { hasNewFrame = false }
        return hasNewFrame
    }

    /// Returns the time that the oldest data has waited, in seconds.
    func delay(now: MonotonicInstant) -> Double { arrivals.first.map { (now - $0.time).seconds } ?? 0 }

    /// Updates the model with the queue's present size.
    mutating func update(size: DataSize, target: Double, now: MonotonicInstant) {
        let newSize = Double(size.bytes)
        let arrived = max(newSize - self.size + sent, 0)
        self.size = newSize
        sent = 0
        if arrived > 0 { frameArrived(arrived, target: target, now: now) }
        // The waiting bytes are those that arrived last.
        var waiting = arrivals.reduce(0) { $0 + $1.size }
        while let first = arrivals.first, waiting - first.size >= newSize {
            waiting -= first.size
            arrivals.removeFirst()
        }
        updateRate(arrived: arrived, now: now)
    }

    private mutating func frameArrived(_ frame: Double, target: Double, now: MonotonicInstant) {
        hasNewFrame = true
        arrivals.append((now, frame))
        if let lastFrame { framePeriod += 0.9 * ((now - lastFrame).seconds - framePeriod) }
        lastFrame = now
        let usual = target * framePeriod / 8
        framePacing = usual > Self.smallFrame ? min(max(max(size, frame) / usual, 1), maximumFramePacing) : 1
        guard framePeriod > 0 else { return }
        let delay = size > frame ? self.delay(now: now) : 0
        let error = Self.delayGain * (delay - framePeriod / 2) / framePeriod
        rateAdjustment = min(max(rateAdjustment + error * Self.adjustmentGain, 0), Self.maximumAdjustment)
    }

    private mutating func updateRate(arrived: Double, now: MonotonicInstant) {
        made += arrived
        let elapsed = (now - rateStart).seconds
        guard elapsed > Self.rateInterval else { return }
        let rate = made * 8 / elapsed
        if rates.count < Self.rateCount {
            rates.append(rate)
        } else {
            rates[nextRate] = rate
            nextRate = (nextRate + 1) % Self.rateCount
        }
        mediaRate = rates.reduce(0, +) / Double(Self.rateCount)
        made = 0
        rateStart = now
    }
}
