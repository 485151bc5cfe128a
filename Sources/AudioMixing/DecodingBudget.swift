/// Bounds how much audio is decoded for one source by the time that goes by: a token bucket of samples at 48 kHz.
///
/// A packet's cost does not depend on how much of it is new, so a sender could have the same time decoded over and over.
/// A packet, its in-band FEC and concealment each cost the samples that libopus makes.
struct DecodingBudget {
    /// Samples a sample of elapsed time. An honest stream needs one; shortening the delay adds a sixth, and the in-band FEC
    /// of a packet may be decoded whole for a part of it.
    static let rate: Int64 = 2
    /// Samples that may be decoded at once, 480 ms: the longest jitter buffer and two of the longest packets.
    static let burst: Int64 = 23_040

    private var available = burst
    private var refilled: Int64?

    /// Adds what the time since the last call allows. `time` is in samples.
    mutating func refill(at time: Int64) {
        let elapsed = refilled.map { min(max(time - $0, 0), Self.burst) } ?? 0
        refilled = time
        available = min(available + elapsed * Self.rate, Self.burst)
    }

    /// Takes `sampleCount` samples out. Returns whether there were as many; otherwise nothing is taken.
    mutating func spend(_ sampleCount: Int) -> Bool {
        guard available >= Int64(sampleCount) else { return false }
        available -= Int64(sampleCount)
        return true
    }
}
