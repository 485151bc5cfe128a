public import MediaCore
import NIOCore
public import RoomAPI

/// Samples of a composite with 30 pictures a second, of which every tenth is a keyframe.
public enum CompositeSamples {
    public static func picture(
        _ index: Int, size: Int = 500, dimensions: VideoDimensions = VideoDimensions(width: 160, height: 90)
    ) -> RecordingItem {
        let format = VideoFormatDescription(
            parameterSets: [
                ByteBuffer(bytes: [0x67, 0x42, 0xC0, 0x1E]), ByteBuffer(bytes: [0x68, 0xCE, 0x3C, 0x80]),
            ],
            properties: .init(
                profileLevel: .init(profileIDC: 0x42, constraintFlags: 0xC0, levelIDC: 0x1E), dimensions: dimensions,
                codedDimensions: dimensions))
        let sample = SampleBuffer(
            data: BlockBuffer(ByteBuffer(repeating: 1, count: size)), format: format, presentationTime: time(index),
            isSync: index.isMultiple(of: 10))
        return item(index, .video(sample, .none))
    }

    public static func sound(_ index: Int) -> RecordingItem {
        item(index, .audio(BlockBuffer(ByteBuffer(bytes: [0xF8])), time: time(index), duration: time(1)))
    }

    private static func item(_ index: Int, _ content: RecordingItem.Content) -> RecordingItem {
        RecordingItem(recording: "o1", track: .composite, at: time(index).duration, content: content)
    }

    private static func time(_ index: Int) -> MediaTime { MediaTime(value: Int64(index) * 3000, timescale: 90_000) }

    /// The number of a picture; nil for sound.
    public static func number(_ item: RecordingItem) -> Int? {
        guard case .video(let sample, _) = item.content else { return nil }
        return Int(sample.presentationTime.value / 3000)
    }
}
