import MediaCore

/// Keeps inaudible audio out of the mix: the noise of microphones that are open while their owners listen.
///
/// The noise of many adds up, and each participant in the mix needs an encoder of its own. Audio comes in within 2.5 ms
/// of its first frame, and fades out over a frame when it has been quiet for a second.
struct MixGate {
    /// Audio quieter than this, in decibels below overload, is not mixed: the softest speech into a microphone is some
    /// 20 dB louder.
    static let quietest: UInt8 = 60
    /// The number of frames, a second, for which the gate stays open after the last loud frame: speech has pauses.
    static let hold = 50
    /// The number of samples in which the gate opens.
    private static let opening = 120

    private var framesLeft = 0
    /// The gain of the frame's last sample: 0 while the gate is closed, otherwise 1.
    private(set) var gain: Float = 0

    /// Takes a frame's level. Returns true if the frame is audible.
    mutating func isAudible(at level: AudioLevel) -> Bool {
        if level.decibelsBelowOverload <= Self.quietest {
            framesLeft = Self.hold
        } else {
            framesLeft = max(0, framesLeft - 1)
        }
        return framesLeft > 0
    }

    /// Fades a frame in or out if the gate opens or closes. Returns true if there is audio to mix.
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
