import ConferenceClient
import MediaCore
import PixelTransfer
import Simulation
import VideoCoding

/// Real pictures for a simulated flow: a clip or a generated pattern. The sessions of the relay and its clients encode
/// and decode them, and the results are compared with the source.
final class SessionPictureCodec: PictureCodec {
    /// The number of pictures that are kept until their frames arrive. A frame that arrives later is not compared.
    private static let keptPictures = 256
    /// The figure for pictures that equal the source, close to the most that 8-bit samples can show.
    private static let highestPSNR = 100.0

    private let source: any VideoSource
    private let backEnd: EncoderBackEnd
    private let frameRate: Int
    private var session: CompressionSession?
    private let outputs = EncodeOutputQueue()
    private let decoder = DecodingPipeline()
    /// The source pictures of the newest frames, with their frame numbers.
    private var pictures: [(frame: Int, picture: PixelBuffer)?] = Array(repeating: nil, count: keptPictures)
    private var error = SquaredError()
    private var similarity = 0.0
    private var comparedCount = 0

    /// Opens the source. The encoder is created for its first picture.
    init(_ coding: PictureCoding, frameRate: Int) throws(PictureCodecError) {
        switch coding.encoder {
        case .x264: backEnd = .x264
        case .openH264: backEnd = .openH264
        }
        guard backEnd.isBuilt else {
            throw PictureCodecError(reason: "\(backEnd.rawValue) is not in this build; choose another encoder")
        }
        self.frameRate = frameRate
        do throws(ClientError) {
            let settings = VideoInputSettings(
                dimensions: coding.dimensions, frameRate: Double(frameRate), reencodes: true)
            let input = coding.clip.map { VideoInput.file(path: $0) } ?? .synthetic
            guard let opened = try input.open(name: "confsim", settings: settings) else {
                throw ClientError.failed(reason: "there are no pictures to send")
            }
            source = opened
        } catch {
            throw PictureCodecError(reason: "\(error)")
        }
    }

    /// Creates codecs for `ScenarioSimulation`.
    static func make(
        _ coding: PictureCoding, encoder: EncoderModel.Configuration
    ) throws(PictureCodecError) -> any PictureCodec {
        try SessionPictureCodec(coding, frameRate: encoder.frameRate)
    }

    // MARK: Sending

    func encode(
        frame: Int, at time: Duration, target: BitRate, isKeyframe: Bool
    ) throws(PictureCodecError) -> EncodedFrame? {
        let picture = try nextPicture(at: time)
        do throws(VideoCodingError) {
            let session = try session(target: target)
            try session.set(\.averageBitRate, to: target)
            try session.encode(
                picture, presentationTime: MediaTime(value: time.nanoseconds / 1000, timescale: 1_000_000),
                options: EncodeOptions(forceKeyframe: isKeyframe))
        } catch {
            throw PictureCodecError(reason: "the encoder failed: \(error)")
        }
        switch outputs.next()?.result {
        case .frame(let encoded):
            pictures[frame % Self.keptPictures] = (frame, picture)
            return encoded
        case .failed(let error): throw PictureCodecError(reason: "the encoder failed: \(error)")
        case .dropped, nil: return nil
        }
    }

    func skipPicture() throws(PictureCodecError) {
        _ = try nextPicture(at: .zero)
    }

    var keyframeCount: Int { session?.statistics.keyframes ?? 0 }

    private func nextPicture(at time: Duration) throws(PictureCodecError) -> PixelBuffer {
        do throws(ClientError) {
            let frame = try source.nextFrame(wallClockMilliseconds: time.nanoseconds / 1_000_000)
            guard case .picture(let picture) = frame.content else {
                throw ClientError.failed(reason: "the source's frames are encoded already")
            }
            return picture
        } catch {
            throw PictureCodecError(reason: "\(error)")
        }
    }

    private func session(target: BitRate) throws(VideoCodingError) -> CompressionSession {
        if let session { return session }
        let made = try CompressionSession(
            dimensions: source.dimensions, backEnd: backEnd,
            properties: CompressionProperties(
                averageBitRate: target, expectedFrameRate: min(Double(frameRate), 60)),
            outputHandler: outputs.append)
        session = made
        return made
    }

    // MARK: Receiving

    func receive(_ sample: SampleBuffer, frame: Int) throws(PictureCodecError) {
        var shown: PixelBuffer?
        decoder.decode(sample) { event in
            if case .output(let output) = event, let picture = output.picture { shown = picture.pixelBuffer }
        }
        guard let shown, let kept = pictures[frame % Self.keptPictures], kept.frame == frame else { return }
        pictures[frame % Self.keptPictures] = nil
        do throws(PictureQualityError) {
            error += try PictureQuality.squaredError(shown, kept.picture)
            similarity += try PictureQuality.ssim(shown, kept.picture)
            comparedCount += 1
        } catch {
            throw PictureCodecError(reason: "a received picture cannot be compared: \(error)")
        }
    }

    var quality: ReceivedPictureQuality? {
        guard comparedCount > 0 else { return nil }
        return ReceivedPictureQuality(
            psnr: min(error.psnr.y, Self.highestPSNR), ssim: similarity / Double(comparedCount))
    }
}
