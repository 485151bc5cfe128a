import MediaCore

/// Keeps out of the mix what nobody would hear in it: the noise of microphones that are open while their owners listen.
///
/// Noise of many adds up, and whoever is in the mix needs an encode of their own. Audio comes in within 2.5 ms of its
/// first frame and fades out over a frame once it has been quiet for a second.
struct MixGate {
    /// Audio quieter than this, in decibels below overload, is not mixed in: the softest speech into a microphone is
    /// some 20 dB louder.
    static let quietest: UInt8 = 60
    /// Speech has pauses: after the last frame that is loud enough come so many more, a second.
    static let hold = 50
    /// Samples in which the gate opens.
    private static let opening = 120

    private var framesLeft = 0
    /// Of the frame's last sample: 0 while nothing is let through, otherwise 1.
    private(set) var gain: Float = 0

    /// Takes a frame's level in. Returns whether there is anything to be heard.
    mutating func isAudible(at level: AudioLevel) -> Bool {
        if level.decibelsBelowOverload <= Self.quietest {
            framesLeft = Self.hold
        } else {
            framesLeft = max(0, framesLeft - 1)
        }
        return framesLeft > 0
    }

    /// Fades a frame in or out where the gate opens or closes. Returns whether there is anything to mix in.
    mutating func process(_ frame: inout [Float], isOpen: Bool) -> Bool {
        let wasOpen = gain > 0
        gain = isOpen ? 1 : 0
        if isOpen, !wasOpen {
            for index in 0..<min(Self.opening, frame.count) { frame[index] *= Float(index) / Float(Self.opening) }
        } else if wasOpen, !isOpen {
            let step = 1 / Float(max(1, frame.count))
            for index in frame.indices { frame[index] *= 1 - Float(index) * step }
        }
        return isOpen || wasOpen
    }
}
