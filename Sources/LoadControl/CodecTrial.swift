public import MediaCore
public import VideoCoding

/// A trial of an encoder: the time that a call's pictures take, and the time until it follows another rate. It tells
/// whether a device encodes better than software.
public struct CodecTrial: Hashable, Sendable {
    /// The mean time from a picture to its frame.
    public var frameTime: Duration
    /// The processor time of a frame, of all threads.
    public var processorTime: Duration
    /// The number of frames until the rate was within a tenth of a new target, at the worst of the steps; nil if it did
    /// not get there.
    public var stepResponse: Int?

    /// The rates, one after the other, of a canvas of `usualCanvas`. Others have as many bits for a sample: larger
    /// rates than a picture can take would tell nothing.
    private static let usualRates = [BitRate.megabits(1.5), .kilobits(500), .megabits(2)]
    private static let usualCanvas = VideoDimensions(width: 1280, height: 720)
    /// Below it, headers are most of a frame.
    private static let leastShare = 1.0 / 16
    private static let framesAtRate = 30
    /// The number of frames over which the rate is taken.
    private static let window = 10
    private static let tolerance = 0.1
    private static let frameRate: Int32 = 30

    /// Encodes pictures for about three seconds of a call, on the calling thread.
    ///
    /// - Parameters:
    ///   - device: The device that encodes; nil for `software`.
    ///   - controlsQP: True if each frame is given a QP, in place of the device's own rate control.
    ///   - processorTime: Reads what the process has had of the processors.
    public init(
        of device: VAAPIDevice?, controlsQP: Bool = false, software: EncoderBackEnd = .openH264,
        canvas: VideoDimensions,
        processorTime clock: () -> Duration
    ) throws(VideoCodingError) {
        try self.init(
            of: device, limit: VAAPIDevice.frameLimit, controlsQP: controlsQP, software: software, canvas: canvas,
            processorTime: clock)
    }

    /// - Parameter limit: The longest that a frame may take before the device counts as hung.
    init(
        of device: VAAPIDevice?, limit: Duration, controlsQP: Bool = false, software: EncoderBackEnd = .openH264,
        canvas: VideoDimensions, processorTime clock: () -> Duration
    ) throws(VideoCodingError) {
        let scene = CalibrationScene(dimensions: canvas, isRestless: true)
        // Few pictures, back and forth, because making them is not measured. None comes twice in a row.
        let pictures = (0...Self.framesAtRate).map(scene.picture)
        let rates = Self.rates(for: canvas)
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: rates[0])
        properties.controlsDeviceQP = controlsQP
        let session = try CompressionSession(
            dimensions: canvas, backEnd: device == nil ? software : .vaapi, device: device, deviceLimit: limit,
            properties: properties, outputHandler: outputs.append)
        try session.prepareToEncodeFrames()
        var sizes: [DataSize] = []
        var time = Duration.zero
        let begin = clock()
        for (index, rate) in rates.enumerated() {
            try session.set(\.averageBitRate, to: rate)
            for number in 0..<Self.framesAtRate {
                let picture = pictures[index.isMultiple(of: 2) ? number : Self.framesAtRate - number]
                let presentationTime = MediaTime(
                    value: Int64(index * Self.framesAtRate + number), timescale: Self.frameRate)
                try session.encode(picture, presentationTime: presentationTime)
                switch outputs.next()?.result {
                case .frame(let frame):
                    sizes.append(frame.size)
                    time += frame.statistics.encodingTime
                case .failed(let error): throw error
                case .dropped, nil: sizes.append(.zero)
                }
            }
        }
        frameTime = time / sizes.count
        processorTime = (clock() - begin) / sizes.count
        stepResponse = Self.stepResponse(sizes, rates: rates)
    }

    private static func rates(for canvas: VideoDimensions) -> [BitRate] {
        let share = max(Double(canvas.area) / Double(usualCanvas.area), leastShare)
        return usualRates.map { $0 * share }
    }

    private static func stepResponse(_ sizes: [DataSize], rates: [BitRate]) -> Int? {
        var worst = 0
        for (index, rate) in rates.enumerated().dropFirst() {
            let frames = Array(sizes.dropFirst(index * framesAtRate).prefix(framesAtRate))
            let isThere = { (first: Int) in
                let size = frames[first..<first + window].reduce(DataSize.zero, +)
                let measured = BitRate(size, over: .seconds(Double(window) / Double(frameRate)))
                return abs(measured / rate - 1) <= tolerance
            }
            guard let first = (0...max(0, frames.count - window)).first(where: isThere) else { return nil }
            worst = max(worst, first)
        }
        return worst
    }

    /// The most frames that a device may take to follow a new rate: with a slower one, calls overrun slow links.
    private static let slowestResponse = 10

    /// True if the encoder follows a new rate too slowly for calls.
    public var followsSlowly: Bool { stepResponse.map { $0 > Self.slowestResponse } ?? true }

    /// The reason for which the device is no better for calls than software; nil if it is better.
    ///
    /// - Parameter interval: The time between two pictures.
    public func reasonToPrefer(_ software: CodecTrial, interval: Duration) -> String? {
        if frameTime > interval / 2 { return "a frame takes it \(Self.text(frameTime))" }
        guard let stepResponse, stepResponse <= Self.slowestResponse else {
            return "it follows a new rate only after "
                + (stepResponse.map { "\($0) frames" } ?? "more than \(Self.framesAtRate) frames")
        }
        guard processorTime < software.processorTime else {
            return "a frame takes \(Self.text(processorTime)) of the processor with it and "
                + "\(Self.text(software.processorTime)) without"
        }
        return nil
    }

    private static func text(_ time: Duration) -> String {
        "\((time.milliseconds * 100).rounded() / 100) ms"
    }
}
