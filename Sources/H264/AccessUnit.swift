/// The NAL units of one coded picture, as they came over RTP.
public struct AccessUnit: Sendable {
    /// The units in decoding order; never empty when it comes from `H264Depacketizer`.
    public var nalUnits: [NALUnit]
    /// The RTP timestamp: 90 kHz, from a random offset, wrapping.
    public var rtpTimestamp: UInt32
    /// True if a part is missing or may be missing: packets were lost in it, or right before it if they may have
    /// belonged to it or to a picture to which it refers.
    public var isDamaged: Bool

    public init(nalUnits: [NALUnit], rtpTimestamp: UInt32, isDamaged: Bool = false) {
        self.nalUnits = nalUnits
        self.rtpTimestamp = rtpTimestamp
        self.isDamaged = isDamaged
    }

    /// True if it has a slice of an IDR picture: decoding can start here.
    public var isIDR: Bool { nalUnits.contains { $0.type == .codedSliceIDR } }

    /// True if it has any slice data.
    public var hasPicture: Bool { nalUnits.contains(where: \.isVCL) }

    /// The SPS and PPS units in it.
    public var parameterSets: [NALUnit] { nalUnits.filter(\.isParameterSet) }
}

/// The number of coded pictures and slices in an access unit: a decoder decodes all of it, even if it is more than one
/// picture.
public struct CodedPictureCount: Hashable, Sendable {
    /// Pictures, or fields of one, that are begun: slices from the first macroblock on.
    public var pictures: Int
    /// Fields among them: half a picture each.
    public var fields: Int
    /// Slices in all.
    public var slices: Int

    public init(pictures: Int = 1, fields: Int = 0, slices: Int = 1) {
        self.pictures = pictures
        self.fields = fields
        self.slices = slices
    }

    /// Pictures, with each field as half of one.
    public var wholePictures: Double {
        let pictures = max(1, pictures)
        return Double(pictures) - Double(min(max(0, fields), pictures)) / 2
    }
}

extension AccessUnit {
    /// The pictures and slices that a decoder has to decode if all pictures are frames.
    public var codedPictures: CodedPictureCount {
        var count = CodedPictureCount(pictures: 0, slices: 0)
        for unit in nalUnits where unit.type.hasSliceHeader {
            count.slices += 1
            if unit.beginsPicture { count.pictures += 1 }
        }
        return count
    }
}
