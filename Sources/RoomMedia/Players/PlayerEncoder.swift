import MediaCore
import PixelTransfer
import RoomAPI
import VideoCoding

/// Encodes the pictures of a player while they are recorded as a track, or seen at another relay. Belongs to one
/// thread.
struct PlayerEncoder {
    private struct Coder {
        var dimensions: VideoDimensions
        var rate: BitRate
        var session: CompressionSession
        var scaler: PixelTransferSession
    }

    /// The time after a failure until another attempt.
    private static let pause = Duration.seconds(5)
    private static let keyframeInterval = Duration.seconds(10)

    private var coder: Coder?
    private let outputs = EncodeOutputQueue()
    private var needsKeyframe = false
    private var failed: MonotonicInstant?

    /// The frame of a picture; nil if nobody wants it, or it cannot be encoded.
    mutating func encode(_ picture: PixelBuffer, for demand: PlayerPictureDemand?, now: MonotonicInstant)
        -> SampleBuffer?
    {
        guard let demand else {
            coder = nil
            return nil
        }
        needsKeyframe = needsKeyframe || demand.needsKeyframe
        if let failed, now - failed < Self.pause { return nil }
        do {
            let coder = try coder(for: demand, picture)
            try coder.session.encode(
                coder.scaler.transfer(picture), presentationTime: MediaTime(now - .zero, timescale: 90_000),
                options: EncodeOptions(forceKeyframe: needsKeyframe))
        } catch {
            (coder, failed) = (nil, now)
            return nil
        }
        var sample: SampleBuffer?
        while let output = outputs.next() { sample = output.frame?.sample ?? sample }
        if sample?.isSync == true { needsKeyframe = false }
        return sample
    }

    /// A frame is lost: those after it need a keyframe.
    mutating func lostFrame() { needsKeyframe = true }

    private mutating func coder(for demand: PlayerPictureDemand, _ picture: PixelBuffer) throws(VideoCodingError)
        -> Coder
    {
        let dimensions = Self.size(of: picture.dimensions, within: demand.tile)
        if let coder, coder.dimensions == dimensions, coder.rate == demand.rate { return coder }
        var properties = CompressionProperties(averageBitRate: demand.rate, expectedFrameRate: 30)
        properties.maxKeyframeIntervalDuration = Self.keyframeInterval
        properties.colour = picture.attachments.colour
        let session = try CompressionSession(dimensions: dimensions, properties: properties) { [outputs] output in
            outputs.append(output)
        }
        let made = Coder(
            dimensions: dimensions, rate: demand.rate, session: session,
            scaler: PixelTransferSession(
                destination: PixelBufferAttributes(formats: [.i420], dimensions: dimensions)))
        coder = made
        return made
    }

    /// The even size that fits a tile, no larger than the picture itself.
    static func size(of picture: VideoDimensions, within tile: VideoDimensions) -> VideoDimensions {
        let scale = min(
            1, Double(tile.width) / Double(max(1, picture.width)), Double(tile.height) / Double(max(1, picture.height)))
        func even(_ length: Int) -> Int { max(16, Int((Double(length) * scale / 2).rounded()) * 2) }
        return VideoDimensions(width: even(picture.width), height: even(picture.height))
    }
}
