import EncoderSharing
import MediaCore
import SDP
import Testing
import VideoCoding

@testable import Conference

/// The pictures for a receiver, by what its offer says of its decoder.
@Suite struct DownlinkFormatTests {
    private func format(_ offered: H264FormatParameters, frameRate: Int = 15) -> EncodeFormat {
        let media = NegotiatedMedia(
            kind: .video, index: 0, payloadType: 96, direction: .sendOnly, keys: nil, h264: offered,
            localSSRC: 1)
        return DownlinkFormat(media).encoding(
            canvas: VideoDimensions(width: 1280, height: 720), frameRate: frameRate, bitRate: .kilobits(100),
            preset: .balanced, maximumSliceSize: DataSize(bytes: 1200))
    }

    @Test("a receiver of level 1b gets no larger pictures than that level has")
    func level1b() throws {
        let named = H264ProfileLevelID(.constrainedBaseline, level: .level1b)
        #expect(named.levelIDC == 11)
        let made = format(H264FormatParameters(profileLevelID: named))
        let level = try #require(H264Level(levelIDC: 9))
        #expect(level.reasonToRefuse(made.dimensions, frameRate: 1) == nil)
        #expect(made.properties.profileLevel.level == level)
    }

    @Test("a receiver that takes more than its level demands gets it, in a stream that states its level")
    func beyondLevel() throws {
        let named = H264ProfileLevelID(.constrainedBaseline, level: .init(idc: 12))
        let plain = H264FormatParameters(profileLevelID: named)
        #expect(format(plain).dimensions == VideoDimensions(width: 320, height: 180))
        let made = format(
            H264FormatParameters(
                profileLevelID: named, maximumFrameSize: 3600, maximumMacroblockRate: 108_000,
                maximumBitRateUnits: 2000))
        #expect(made.dimensions == VideoDimensions(width: 1280, height: 720) && !made.isSmallerThanCanvas)
        #expect(made.properties.profileLevel.level?.levelIDC == 12)
    }

    @Test("a receiver's limits are no lower than its level's, and no higher than the highest level's")
    func boundsOfLimits() throws {
        let level = try #require(H264Level(levelIDC: 31))
        let highest = try #require(H264Level.all.last)
        #expect(level.extended(pictureSize: 0, macroblockRate: nil, bitRateUnits: 1) == level)
        let boundless = level.extended(pictureSize: .max, macroblockRate: .max, bitRateUnits: .max)
        #expect(boundless.maximumPictureSize == highest.maximumPictureSize)
        #expect(boundless.maximumMacroblockRate == highest.maximumMacroblockRate)
        #expect(
            boundless.maximumBitRate(profile: .constrainedBaseline)
                == highest.maximumBitRate(profile: .constrainedBaseline))
    }
}
