package import VideoCoding

/// The limits of the rooms' work on pictures, as set by overload control.
package struct WorkLimits: Hashable, Sendable {
    /// The preset that encoders use instead of their own; nil: as configured.
    package var preset: EncoderPreset?
    /// Encoders that a room runs at most; nil: as configured.
    package var maximumEncoders: Int?
    /// True if participants that did not ask otherwise see the same picture with themselves in it.
    package var forcesSharedView = false
    /// The distance of composed ticks: one of this many is composed.
    package var frameRateDivisor = 1
    /// True if further participants are admitted.
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
