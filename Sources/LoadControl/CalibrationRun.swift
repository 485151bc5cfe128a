import AudioMixing
public import Compositing
public import MediaCore
import NIOCore
public import VideoCoding

/// Measures the costs of the relay's work on a machine by doing it for a while on the calling thread: it decodes a
/// call's frames, composes them, and encodes the result at each preset, with the sessions of the relay's jobs.
public struct CalibrationRun: Sendable {
    private let canvas: VideoDimensions
    private let encoder: EncoderBackEnd
    private let limit: Duration
    private let processorTime: @Sendable () -> Duration
    private let devices: Devices?

    /// The devices that work in place of the processor.
    public struct Devices: Sendable {
        /// Nil: the processor encodes.
        public var encoding: VAAPIDevice?
        /// Nil: the processor decodes.
        public var decoding: VAAPIDevice?
        /// Makes a compositor that uses a device; nil: the processor composes.
        var makeCompositor: (@Sendable () -> any VideoCompositing)?
        /// A clock of real time: a device's work takes none of the processor's.
        var now: @Sendable () -> MonotonicInstant

        public init(
            encoding: VAAPIDevice?, decoding: VAAPIDevice?,
            makeCompositor: (@Sendable () -> any VideoCompositing)?,
            now: @escaping @Sendable () -> MonotonicInstant
        ) {
            self.encoding = encoding
            self.decoding = decoding
            self.makeCompositor = makeCompositor
            self.now = now
        }
    }

    private static let frameRate: Int32 = 30
    /// Frames of the clip that is decoded over and over.
    private static let clipLength = 30
    /// The bitrate of a receiver's picture.
    private static let bitRate = BitRate.megabits(1.5)
    /// Parts of the time for decoding, composing, each preset, and audio.
    private static let shares = (decode: 0.12, compose: 0.12, encode: 0.13, audio: 0.04, device: 0.13)
    private static let sourceCounts = (few: 4, many: 16)
    /// Composed pictures of this many samples together are kept to be encoded.
    private static let keptSamples = 20_000_000
    /// The number of viewers with pictures of their own when the cost of each picture is measured.
    private static let viewers = 4

    /// - Parameters:
    ///   - canvas: The size of composed pictures.
    ///   - limit: The approximate processor time of the measurement.
    ///   - processorTime: Returns the processor time of the calling thread.
    ///   - devices: The devices to measure; nil: there are none.
    public init(
        canvas: VideoDimensions, encoder: EncoderBackEnd, limit: Duration,
        processorTime: @escaping @Sendable () -> Duration, devices: Devices? = nil
    ) {
        self.canvas = canvas
        self.encoder = encoder
        self.limit = limit
        self.processorTime = processorTime
        self.devices = devices
    }

    /// Runs the measurement.
    ///
    /// - Throws: An error if a codec cannot be made or fails.
    public func measure() throws(CalibrationError) -> Calibration {
        var calibration = Calibration(canvas: canvas, encoder: encoder)
        do {
            let clip = try makeClip()
            let pictures = try decode(clip, &calibration)
            let composed: [PixelBuffer]
            (calibration.compose, composed) = compose(pictures)
            for preset in EncoderPreset.allCases { calibration.encode[preset] = try encode(composed, preset) }
            if let devices { calibration.device = costs(of: devices, clip, pictures, composed) }
            try measureSound(&calibration)
        } catch let error as CalibrationError {
            throw error
        } catch {
            throw .codecFailed("\(error)")
        }
        return calibration
    }

    /// Repeats an action for a part of the time, at least `least` times; returns the time of one, in seconds.
    ///
    /// - Parameter clock: The clock of the time; nil: the processor's time of this thread.
    private func seconds<Failure: Error>(
        share: Double, least: Int, clock: (() -> Duration)? = nil, _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Double {
        let now = clock ?? processorTime
        let begin = now()
        let end = begin + limit * share
        var (count, time) = (0, begin)
        while count < least || time < end {
            try body(count)
            count += 1
            time = now()
        }
        return (time - begin).seconds / Double(count)
    }

    // MARK: Video

    private func makeClip() throws(VideoCodingError) -> [SampleBuffer] {
        let scene = CalibrationScene(dimensions: Calibration.sourceDimensions)
        let outputs = EncodeOutputQueue()
        let session = try CompressionSession(
            dimensions: Calibration.sourceDimensions,
            properties: CompressionProperties(averageBitRate: .kilobits(500)), outputHandler: outputs.append)
        var clip: [SampleBuffer] = []
        for number in 0..<Self.clipLength {
            try session.encode(scene.picture(number), presentationTime: Self.time(number))
            if let frame = outputs.next()?.frame { clip.append(frame.sample) }
        }
        return clip
    }

    private func decode(
        _ clip: [SampleBuffer], _ calibration: inout Calibration
    ) throws(CalibrationError) -> [PixelBuffer] {
        guard !clip.isEmpty else { throw .codecFailed("the encoder made no frames") }
        let decoder = DecodingPipeline()
        var pictures: [PixelBuffer] = []
        calibration.decode = seconds(share: Self.shares.decode, least: clip.count) { index in
            decoder.decode(clip[index % clip.count]) { event in
                guard case .output(let output) = event, case .picture(let picture) = output.result else { return }
                if pictures.count < clip.count { pictures.append(picture.pixelBuffer) }
            }
        }
        guard !pictures.isEmpty else { throw .codecFailed("the decoder made no pictures") }
        return pictures
    }

    /// Composes grids of few and of many sources, for one and for several viewers; hands back some of the pictures.
    ///
    /// - Parameters:
    ///   - makeCompositor: Makes each compositor.
    ///   - clock: The clock of the time; nil: the processor's time of this thread.
    private func compose(
        _ pictures: [PixelBuffer], by makeCompositor: () -> any VideoCompositing = { LayerCompositor() },
        clock: (() -> Duration)? = nil
    ) -> (CompositionCost, [PixelBuffer]) {
        func composition(sources: Int, viewers: Int) -> (seconds: Double, pictures: [PixelBuffer]) {
            self.composition(of: pictures, sources: sources, viewers: viewers, by: makeCompositor(), clock: clock)
        }
        let few = composition(sources: Self.sourceCounts.few, viewers: 1)
        let many = composition(sources: Self.sourceCounts.many, viewers: 1)
        let views = composition(sources: Self.sourceCounts.few, viewers: Self.viewers)
        let between = Double(Self.sourceCounts.many - Self.sourceCounts.few)
        let source = max(0, (many.seconds - few.seconds) / between)
        let sources = source * Double(Self.sourceCounts.few)
        let picture = max(
            few.seconds - sources, (views.seconds - sources) / Double(Self.viewers), few.seconds / 10)
        return (CompositionCost(source: source, picture: picture), few.pictures)
    }

    private func composition(
        of pictures: [PixelBuffer], sources count: Int, viewers: Int, by compositor: any VideoCompositing,
        clock: (() -> Duration)?
    ) -> (seconds: Double, pictures: [PixelBuffer]) {
        let renderer = CompositionRenderer(compositor: compositor)
        let sources = (1...count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        let requests = (0..<viewers).map { viewer in
            // Each but the first lacks one source, as pictures without self-view do.
            CompositionRequest(
                grid: viewer == 0 ? sources : sources.filter { $0 != sources[viewer % count] }, canvas: canvas)
        }
        var composed: [PixelBuffer] = []
        let kept = min(max(Self.keptSamples / max(1, canvas.area), 3), Self.clipLength)
        func render(_ tick: Int) {
            var contents: [SourceID: CompositionSource] = [:]
            for (index, source) in sources.enumerated() {
                let picture = pictures[(tick + index * 7) % pictures.count]
                contents[source] = CompositionSource(
                    id: source, name: "\(index)", content: .picture(picture, isStale: false),
                    decoration: TileDecoration())
            }
            let made = renderer.render(requests, inputs: CompositionInputs(sources: contents), at: Self.time(tick))
            if composed.count < kept, let first = made.first { composed.append(first.picture) }
        }
        // The first one draws labels and makes pools.
        render(0)
        composed.removeAll()
        let seconds = seconds(share: Self.shares.compose, least: 3, clock: clock) { render($0 + 1) }
        return (seconds, composed)
    }

    private func encode(
        _ pictures: [PixelBuffer], _ preset: EncoderPreset, on device: VAAPIDevice? = nil,
        clock: (() -> Duration)? = nil
    ) throws(VideoCodingError) -> Double {
        guard !pictures.isEmpty else { return 0 }
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: Self.bitRate)
        properties.preset = preset
        let session = try CompressionSession(
            dimensions: canvas, backEnd: device == nil ? encoder : .vaapi, device: device, properties: properties,
            outputHandler: outputs.append)
        func encode(_ number: Int) throws(VideoCodingError) {
            // There and back, so that no picture differs much from the one before.
            let phase = number % max(1, 2 * pictures.count - 2)
            let index = phase < pictures.count ? phase : 2 * pictures.count - 2 - phase
            try session.encode(pictures[index], presentationTime: Self.time(number))
            if case .failed(let error) = outputs.next()?.result { throw error }
        }
        // The keyframe costs more and is rare.
        try encode(0)
        return try seconds(share: Self.shares.encode, least: 3, clock: clock) { number throws(VideoCodingError) in
            try encode(number + 1)
        }
    }

    // MARK: Devices

    /// The work of a device that fails is left to the processor, in calls as here.
    private func costs(
        of devices: Devices, _ clip: [SampleBuffer], _ pictures: [PixelBuffer], _ composed: [PixelBuffer]
    ) -> DeviceCosts {
        let clock = { devices.now() - MonotonicInstant.zero }
        var costs = DeviceCosts()
        costs.decode = devices.decoding.flatMap { decodingCost(of: $0, clip, clock: clock) }
        costs.compose = devices.makeCompositor.map { compose(pictures, by: $0, clock: clock).0 }
        costs.encode = devices.encoding.flatMap { try? encode(composed, .balanced, on: $0, clock: clock) }
        return costs
    }

    private func decodingCost(
        of device: VAAPIDevice, _ clip: [SampleBuffer], clock: @escaping () -> Duration
    ) -> Double? {
        let decoder = DecodingPipeline(device: device)
        // Its driver is loaded for the first frame.
        decoder.decode(clip[0]) { _ in }
        let seconds = seconds(share: Self.shares.device, least: clip.count, clock: clock) { index in
            decoder.decode(clip[index % clip.count]) { _ in }
        }
        return decoder.deviceFault == nil ? seconds : nil
    }

    // MARK: Audio

    private func measureSound(_ calibration: inout Calibration) throws(OpusError) {
        let encoder = try OpusEncoder()
        let decoder = try OpusDecoder()
        var random = SeededGenerator(seed: 2)
        // Something like speech: noise that swells and fades.
        let frames = (0..<20).map { number in
            let loudness = Float(number % 10) / 20
            return (0..<AudioFormat.frameSampleCount).map { _ in
                loudness * (Float(random.next() >> 40) / Float(1 << 23) - 1)
            }
        }
        var packets: [ByteBuffer] = []
        calibration.audioEncode = try seconds(share: Self.shares.audio, least: frames.count) {
            number throws(OpusError) in
            let packet = try encoder.encode(frames[number % frames.count])
            if packets.count < frames.count { packets.append(packet) }
        }
        calibration.audioDecode = try seconds(share: Self.shares.audio, least: packets.count) {
            number throws(OpusError) in
            _ = try decoder.decode(packets[number % packets.count])
        }
    }

    private static func time(_ number: Int) -> MediaTime { MediaTime(value: Int64(number), timescale: frameRate) }
}

/// The reason for which a machine could not be measured.
public enum CalibrationError: Error, Hashable, CustomStringConvertible {
    case codecFailed(String)

    public var description: String {
        switch self {
        case .codecFailed(let reason):
            "the machine could not be measured: \(reason); is the encoder that was asked for part of this build?"
        }
    }
}
