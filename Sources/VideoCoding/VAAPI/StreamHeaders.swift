import H264
import MediaCore
import NIOCore

/// Writes the SPS, PPS and slice headers of a stream, which drivers take packed.
struct StreamHeaders {
    let profile: H264Profile
    /// As the SPS states it.
    let profileLevel: H264ProfileLevelID
    let isCABAC: Bool
    /// The picture's size, and in whole macroblocks.
    let dimensions: VideoDimensions
    let coded: VideoDimensions
    let maximumReferences: Int
    let layers: Int
    let pixelAspectRatio: VideoDimensions
    let colour: ColourDescription

    /// `pic_init_qp_minus26` + 26.
    static let initialQP = 26

    init(_ properties: CompressionProperties, dimensions: VideoDimensions, structure: ReferenceStructure) {
        profile = properties.profileLevel.profile
        profileLevel = Self.profileLevel(profile, levelIDC: properties.profileLevel.level?.levelIDC ?? 52)
        isCABAC = properties.entropyMode == .cabac
        self.dimensions = dimensions
        coded = dimensions.wholeMacroblocks
        maximumReferences = structure.maximumReferences
        layers = structure.layers
        pixelAspectRatio = properties.pixelAspectRatio
        colour = properties.colour
    }

    /// Samples that are not shown, right and below.
    var cropping: (right: Int, bottom: Int) { (coded.width - dimensions.width, coded.height - dimensions.height) }

    private static func profileLevel(_ profile: H264Profile, levelIDC: UInt8) -> H264ProfileLevelID {
        let constraintFlags: UInt8 =
            switch profile {
            case .baseline, .constrainedBaseline: 0xC0
            case .main: 0x40
            case .high: 0
            }
        var id = H264ProfileLevelID(
            profileIDC: profile.profileIDC, constraintFlags: constraintFlags, levelIDC: levelIDC)
        // Level 1b has a number of its own in High alone.
        id.level = H264ProfileLevelID.Level(idc: levelIDC)
        return id
    }

    var sequenceParameterSet: ByteBuffer {
        var bits = BitWriter()
        for byte in [profileLevel.profileIDC, profileLevel.constraintFlags, profileLevel.levelIDC] {
            bits.bits(Int(byte), 8)
        }
        bits.unsigned(0)
        if profile == .high {
            bits.unsigned(1)
            bits.unsigned(0)
            bits.unsigned(0)
            bits.bits(0, 2)
        }
        bits.unsigned(ReferenceStructure.log2MaximumFrameNumber - 4)
        bits.unsigned(0)
        bits.unsigned(ReferenceStructure.log2MaximumPictureOrder - 4)
        bits.unsigned(maximumReferences)
        // The flag tells that frames may be left out that others refer to; see `GapTolerantParameterSet`.
        bits.flag(layers > 2)
        bits.unsigned(coded.width / 16 - 1)
        bits.unsigned(coded.height / 16 - 1)
        bits.flag(true)
        bits.flag(true)
        let isCropped = cropping.right > 0 || cropping.bottom > 0
        bits.flag(isCropped)
        if isCropped {
            bits.unsigned(0)
            bits.unsigned(cropping.right / 2)
            bits.unsigned(0)
            bits.unsigned(cropping.bottom / 2)
        }
        bits.flag(true)
        writeUsability(&bits)
        bits.stop()
        return NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: bits.bytes).bytes
    }

    /// `vui_parameters` (H.264 E.1.1): shape, colour, and that no picture is reordered.
    private func writeUsability(_ bits: inout BitWriter) {
        let hasAspect = pixelAspectRatio.width != pixelAspectRatio.height
        bits.flag(hasAspect)
        if hasAspect {
            bits.bits(255, 8)
            bits.bits(pixelAspectRatio.width, 16)
            bits.bits(pixelAspectRatio.height, 16)
        }
        bits.flag(false)
        let hasColour = colour != .unspecified
        bits.flag(hasColour)
        if hasColour {
            bits.bits(5, 3)
            bits.flag(colour.isFullRange)
            bits.flag(true)
            bits.bits(Int(colour.primaries), 8)
            bits.bits(Int(colour.transferCharacteristics), 8)
            bits.bits(Int(colour.matrixCoefficients), 8)
        }
        // No place of chroma samples, timing, buffer models or picture structure.
        bits.bits(0, 5)
        bits.flag(true)
        bits.flag(true)
        bits.unsigned(0)
        bits.unsigned(0)
        bits.unsigned(16)
        bits.unsigned(16)
        bits.unsigned(0)
        bits.unsigned(maximumReferences)
    }

    var pictureParameterSet: ByteBuffer {
        var bits = BitWriter()
        bits.unsigned(0)
        bits.unsigned(0)
        bits.flag(isCABAC)
        bits.flag(false)
        bits.unsigned(0)
        bits.unsigned(0)
        bits.unsigned(0)
        bits.bits(0, 3)
        bits.signed(Self.initialQP - 26)
        bits.signed(0)
        bits.signed(0)
        bits.flag(true)
        bits.bits(0, 2)
        bits.stop()
        return NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: bits.bytes).bytes
    }

    /// The slice header behind its NAL unit's header, without trailing bits: the driver puts the slice behind it.
    func sliceHeader(of picture: ReferenceStructure.Picture, qp: Int?) -> (bits: BitWriter, unitHeader: UInt8) {
        var bits = BitWriter()
        bits.unsigned(0)
        bits.unsigned(picture.isIDR ? 7 : 5)
        bits.unsigned(0)
        bits.bits(picture.frameNumber, ReferenceStructure.log2MaximumFrameNumber)
        if picture.isIDR { bits.unsigned(picture.idrID) }
        let order = picture.order & (1 << ReferenceStructure.log2MaximumPictureOrder - 1)
        bits.bits(order, ReferenceStructure.log2MaximumPictureOrder)
        if !picture.isIDR {
            bits.flag(false)
            bits.flag(picture.modification != nil)
            if let modification = picture.modification {
                bits.unsigned(0)
                bits.unsigned(modification)
                bits.unsigned(3)
            }
        }
        if picture.isReference { bits.bits(0, picture.isIDR ? 2 : 1) }
        if isCABAC, !picture.isIDR { bits.unsigned(0) }
        bits.signed((qp ?? Self.initialQP) - Self.initialQP)
        bits.unsigned(0)
        bits.signed(0)
        bits.signed(0)
        let referenceIDC: UInt8 = picture.isIDR ? 3 : picture.isReference ? 2 : 0
        return (bits, referenceIDC << 5 | (picture.isIDR ? 5 : 1))
    }
}

extension VideoDimensions {
    /// Rounded up to whole macroblocks.
    var wholeMacroblocks: VideoDimensions {
        VideoDimensions(width: (width + 15) / 16 * 16, height: (height + 15) / 16 * 16)
    }
}

extension StreamHeaders {
    var parameterSets: [ByteBuffer] { [sequenceParameterSet, pictureParameterSet] }
}
