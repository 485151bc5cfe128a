import CongestionControl
import MediaCore
import VideoCoding

/// The measured conference: one room in which everyone sends and receives.
enum Workload {
    /// The size of each participant's pictures.
    static let sourceDimensions = VideoDimensions(width: 640, height: 360)
    static let sourceBitRate = BitRate.kilobits(500)
    /// The size of each receiver's picture.
    static let canvas = VideoDimensions(width: 1280, height: 720)
    static let frameRate = 30
    /// Opus packets a second.
    static let audioFrequency = 50
    /// The rate of each receiver's network, audio and headers included.
    static let downlinkBitRate = BitRate.megabits(1.5)
    /// The best of the profiles that `confclient` offers, and therefore the one with which the relay encodes.
    static let profile = H264Profile.high

    /// The relay's division of `downlinkBitRate` between picture and audio, by the same code and with the same bounds.
    static let allocation: BitrateAllocation = {
        var allocator = BitrateAllocator(
            configuration: .init(audio: .kilobits(16)...(.kilobits(40)), video: .kilobits(50)...downlinkBitRate))
        return allocator.allocate(target: downlinkBitRate)
    }()

    /// The relay's settings for a receiver's encoder.
    static var encoder: CompressionProperties {
        CompressionProperties(
            averageBitRate: allocation.video, expectedFrameRate: Double(frameRate),
            profileLevel: H264ProfileLevel(profile))
    }
}
