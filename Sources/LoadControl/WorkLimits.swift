package import VideoCoding

/// How much the rooms are to spend on the picture, as long as overload control says so.
package struct WorkLimits: Hashable, Sendable {
    /// What encoders use instead of the preset they were made with; nil: as configured.
    package var preset: EncoderPreset?
    /// Encoders that a room runs at most; nil: as configured.
    package var maximumEncoders: Int?
    /// Whether those who have not asked otherwise see the same picture, themselves in it.
    package var forcesSharedView = false
    /// One tick of so many is composed.
    package var frameRateDivisor = 1
    /// Whether anybody else is let in.
    package var admitsJoins = true

    package init(
        preset: EncoderPreset? = nil, maximumEncoders: Int? = nil, forcesSharedView: Bool = false,
        frameRateDivisor: Int = 1, admitsJoins: Bool = true
    ) {
        self.preset = preset
        self.maximumEncoders = maximumEncoders
        self.forcesSharedView = forcesSharedView
        self.frameRateDivisor = frameRateDivisor
        self.admitsJoins = admitsJoins
    }
}
