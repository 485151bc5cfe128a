package import VideoCoding

/// The limits of the rooms' work on pictures, as set by overload control.
package struct WorkLimits: Hashable, Sendable {
    /// The preset that encoders use instead of their own; nil: as configured.
    package var preset: EncoderPreset?
    /// Encoders that a room runs at most; nil: as configured.
    package var maximumEncoders: Int?
    /// How many members of a room see a picture of their own at most; the others who have not asked otherwise see the
    /// same, themselves in it. Nil: as they like.
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
