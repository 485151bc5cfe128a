package import VideoCoding

/// The limits of the rooms' work on pictures, as set by overload control.
package struct WorkLimits: Hashable, Sendable {
    /// The preset that encoders use instead of their own; nil: as configured.
    package var preset: EncoderPreset?
    /// Encoders that a room runs at most; nil: as configured.
    package var maximumEncoders: Int?
    /// The largest number of members of a room who see a picture of their own; the others who have not asked otherwise
    /// see the same picture, themselves in it. Nil means no limit.
    package var personalViews: Int?
    /// Pictures a second at most; nil: as configured.
    package var maximumFrameRate: Int?
    /// True if further participants are admitted.
    package var admitsJoins = true

    package init(
        preset: EncoderPreset? = nil, maximumEncoders: Int? = nil, personalViews: Int? = nil,
        maximumFrameRate: Int? = nil, admitsJoins: Bool = true
    ) {
        self.preset = preset
        self.maximumEncoders = maximumEncoders
        self.personalViews = personalViews
        self.maximumFrameRate = maximumFrameRate
        self.admitsJoins = admitsJoins
    }
}
