public import MediaCore

/// A picture out of a decoder.
public struct DecodedPicture: Sendable {
    /// The picture as shown (after cropping), in the decoder's own memory unless the attributes asked for another kind.
    public var pixelBuffer: PixelBuffer
    /// The presentation time of the sample it came from.
    public var presentationTime: MediaTime
    /// Faults that the decoder knows of.
    public var damage: PictureDamage = []

    /// True if the decoder knows that it guessed parts of the picture. Pictures that refer to this one are not marked.
    public var isConcealed: Bool { !damage.isEmpty }
}

/// A fault of a picture that a decoder shows all the same.
public struct PictureDamage: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Slices were missing or could not be decoded; their place is filled from other pictures.
    public static let concealed = PictureDamage(rawValue: 1)
    /// A picture that it refers to was not there.
    public static let missingReference = PictureDamage(rawValue: 2)
    /// The decoder takes it for corrupt as a whole.
    public static let corrupt = PictureDamage(rawValue: 4)
}
