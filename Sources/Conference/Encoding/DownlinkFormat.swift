import Compositing
import EncoderSharing
import H264
import MediaCore
import PeerConnection
import SDP
import VideoCoding

extension EncodeFormat {
    /// Makes the receivers' payloads of the frames. Frames must fit into a packet if the receiver does not support
    /// fragments.
    var packetizer: H264Packetizer {
        H264Packetizer(
            mode: properties.sliceMaxBytes == nil ? .nonInterleaved : .singleNALUnit,
            maximumPayloadSize: PeerConfiguration.maximumPayloadSize.bytes)
    }
}

/// The negotiated abilities of a receiver's decoder, from which the encoder's settings follow.
struct DownlinkFormat {
    private static let fractions = [(1, 1), (3, 4), (1, 2), (3, 8), (1, 4), (1, 8)]

    /// Without a `profile-level-id` the RFC infers Baseline, of which every decoder takes the constrained part.
    private let profile: H264Profile
    /// The level in the offer, with what the receiver takes beyond it; `nil` if there was none, or an unknown one.
    private let level: H264Level?
    /// The receiver reassembles no fragments (packetization mode 0): each slice must fit a packet.
    private let needsSmallSlices: Bool
    private let canAskForKeyframes: Bool

    init(_ media: NegotiatedMedia) {
        profile = media.profileLevelID.flatMap { H264Profile(answering: $0) } ?? .constrainedBaseline
        level = media.profileLevelID.flatMap { H264Level(levelIDC: $0.level.idc) }?.extended(
            pictureSize: media.h264?.maximumFrameSize, macroblockRate: media.h264?.maximumMacroblockRate,
            bitRateUnits: media.h264?.maximumBitRateUnits)
        needsSmallSlices = media.packetizationMode == 0
        canAskForKeyframes = media.feedback.pli || media.feedback.fir
    }

    /// The maximum of the level, without audio; `nil` without a level.
    var maximumBitRate: BitRate? { level?.maximumBitRate(profile: profile) }

    /// Returns the pictures' size and encoding for a canvas: the largest of its fractions that the level allows.
    ///
    /// - Parameter bitRate: The rate that the level has to allow.
    func encoding(
        canvas: VideoDimensions, frameRate: Int, bitRate: BitRate, preset: EncoderPreset, maximumSliceSize: DataSize
    ) -> EncodeFormat {
        let dimensions = dimensions(canvas: canvas, frameRate: frameRate)
        var properties = CompressionProperties()
        properties.profileLevel = H264ProfileLevel(profile)
        properties.preset = preset
        properties.expectedFrameRate = Double(frameRate)
        properties.sliceMaxBytes = needsSmallSlices ? maximumSliceSize : nil
        properties.colour = CompositionRenderer.canvasColour
        // The encoder picks the lowest level that fits, with some head-room; never above the receiver's.
        let usual = properties.lowestLevel(for: dimensions, frameRate: frameRate, bitRate: bitRate)
        if let level, usual.map({ Self.isAbove($0, level) }) ?? true,
            level.reasonToRefuse(dimensions, frameRate: frameRate) == nil
        {
            properties.profileLevel.level = level
        }
        return EncodeFormat(
            dimensions: dimensions, properties: properties, isSmallerThanCanvas: dimensions != canvas,
            repeatsKeyframes: !canAskForKeyframes)
    }

    /// Compares the levels that streams state, without regard to what a receiver takes beyond its own level.
    private static func isAbove(_ left: H264Level, _ right: H264Level) -> Bool {
        H264ProfileLevelID.Level(idc: left.levelIDC) > H264ProfileLevelID.Level(idc: right.levelIDC)
    }

    private func dimensions(canvas: VideoDimensions, frameRate: Int) -> VideoDimensions {
        guard let level else { return canvas }
        let candidates = Self.fractions.map { numerator, denominator in
            VideoDimensions(
                width: max(16, canvas.width * numerator / denominator / 2 * 2),
                height: max(16, canvas.height * numerator / denominator / 2 * 2))
        }
        return candidates.first { level.reasonToRefuse($0, frameRate: frameRate) == nil }
            ?? candidates[candidates.count - 1]
    }
}
