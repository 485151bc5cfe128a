/// The NAL units of one coded picture, as they came over RTP.
public struct AccessUnit: Sendable {
    /// The units in decoding order; never empty when it comes from `H264Depacketizer`.
    public var nalUnits: [NALUnit]
    /// The RTP timestamp: 90 kHz, from a random offset, wrapping.
    public var rtpTimestamp: UInt32
    /// Whether something of it is known or feared to be missing: packets were lost in it, or right before it where they
    /// may have been its own or those of a picture that this one refers to.
    public var isDamaged: Bool

    public init(nalUnits: [NALUnit], rtpTimestamp: UInt32, isDamaged: Bool = false) {
        self.nalUnits = nalUnits
        self.rtpTimestamp = rtpTimestamp
        self.isDamaged = isDamaged
    }

    /// Whether it has a slice of an IDR picture: decoding can start here.
    public var isIDR: Bool { nalUnits.contains { $0.type == .codedSliceIDR } }

    /// Whether it has any slice data.
    public var hasPicture: Bool { nalUnits.contains(where: \.isVCL) }

    /// The SPS and PPS units in it.
    public var parameterSets: [NALUnit] { nalUnits.filter(\.isParameterSet) }
}

/// How much of coded pictures an access unit holds: a decoder decodes all of it, also where it is more than one
/// picture.
public struct CodedPictureCount: Hashable, Sendable {
    /// Pictures, or fields of one, that are begun: slices from the first macroblock on.
    public var pictures: Int
    /// Slices in all.
    public var slices: Int

    public init(pictures: Int = 1, slices: Int = 1) {
        self.pictures = pictures
        self.slices = slices
    }
}

extension AccessUnit {
    /// What a decoder has to decode of it.
    public var codedPictures: CodedPictureCount {
        var count = CodedPictureCount(pictures: 0, slices: 0)
        for unit in nalUnits where unit.type.hasSliceHeader {
            count.slices += 1
            if unit.beginsPicture { count.pictures += 1 }
        }
        return count
    }
}
