import Glibc

/// The agreement of the levels that a source's packets claim (RFC 6464) with its decoded audio.
public enum LevelClaim: Hashable, Sendable {
    /// Too little loud audio has been decoded since the last verdict.
    case unchecked
    /// The claimed and the decoded level are within 15 dB of each other.
    case confirmed
    /// The claimed and the decoded level differ by more than 15 dB.
    case refuted
}

/// Compares the level that each packet claims with that of the same packet's decoded audio, over 300 ms at a time.
///
/// Only packets that are loud, by their claim or decoded, count: a true claim of silence proves nothing.
struct LevelClaimCheck {
    /// Samples of one comparison: 300 ms.
    private static let window = 14_400
    /// Samples that a new decoder needs until its levels are right: 60 ms.
    private static let warmUp = 2880
    /// The largest difference, as a ratio of powers: 15 dB. Senders measure before they encode, and some measure peaks.
    private static let tolerance: Float = 31.6
    /// The power above which a packet is loud: -55 dB. Quieter audio is not speech.
    private static let loud: Float = 3.16e-6

    private var warmUpLeft = warmUp
    private var count = 0
    private var claimed: Float = 0
    private var decoded: Float = 0
    private var verdict = LevelClaim.unchecked

    /// Starts again, with a new decoder.
    mutating func restart() {
        (warmUpLeft, count, claimed, decoded) = (Self.warmUp, 0, 0, 0)
    }

    /// Takes a packet's claim and its decoded audio.
    mutating func add(claim: UInt8, of samples: UnsafeMutableBufferPointer<Float>) {
        guard !samples.isEmpty else { return }
        guard warmUpLeft <= 0 else {
            warmUpLeft -= samples.count
            return
        }
        let claimedPower = powf(10, -Float(claim) / 10)
        let energy = LevelMeter.energy(UnsafeBufferPointer(samples))
        guard max(claimedPower, energy / Float(samples.count)) > Self.loud else { return }
        claimed += claimedPower * Float(samples.count)
        decoded += energy
        count += samples.count
        guard count >= Self.window else { return }
        let agrees = claimed <= decoded * Self.tolerance && decoded <= claimed * Self.tolerance
        verdict = agrees ? .confirmed : .refuted
        (count, claimed, decoded) = (0, 0, 0)
    }

    /// Returns the verdict of the newest comparison, once.
    mutating func takeVerdict() -> LevelClaim {
        defer { verdict = .unchecked }
        return verdict
    }
}
