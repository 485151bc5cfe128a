import VideoCoding

/// How much the rooms are to spend on the picture, as long as overload control says so.
struct WorkLimits: Hashable, Sendable {
    /// What encoders use instead of the preset they were made with; nil: as configured.
    var preset: EncoderPreset?
    /// Encoders that a room runs at most; nil: as configured.
    var maximumEncoders: Int?
    /// Whether those who have not asked otherwise see the same picture, themselves in it.
    var forcesSharedView = false
    /// One tick of so many is composed.
    var frameRateDivisor = 1
    /// Whether anybody else is let in.
    var admitsJoins = true
}
