public import MediaCore
public import NIOCore

/// Reads samples from an H.264 byte stream (annex B), such as a `.264` file, which comes in arbitrary pieces.
///
/// Append a piece, take samples until there is none, and so on; at the end of the stream call `finish` until it returns
/// nil. A byte stream has no times: frames get them in decoding order, at the stream's own rate or the given one. A
/// field that is a picture by itself gets half of a frame's time.
public struct ElementaryStreamReader: Sendable {
    private var units = AnnexBReader()
    private var assembler = AccessUnitAssembler()
    private var formats = FormatTracker()
    private let frameRate: Double?
    /// Frames per second of the last sample.
    private var rate = ElementaryStreamReader.usualFrameRate
    /// The time at which that rate began, in ticks, and the fields since then: two to a frame.
    private var rateBegan: Int64 = 0
    private var fieldCount: Int64 = 0

    /// The number of access units that were left out: without slice data, or without their parameter sets.
    public private(set) var skippedCount = 0

    private static let timescale: Int32 = 90_000
    private static let usualFrameRate = 30.0
    private static let frameRates = 0.1...1000.0

    /// Creates a reader.
    ///
    /// - Parameter frameRate: Frames per second; nil for the rate in the stream's timing information, or else 30.
    public init(frameRate: Double? = nil) {
        self.frameRate = frameRate
    }

    /// Takes the next piece of the stream.
    public mutating func append(_ piece: ByteBuffer) {
        units.append(piece)
    }

    /// The next sample that is whole; nil when more of the stream is needed.
    public mutating func nextSample() -> SampleBuffer? {
        while let unit = units.nextNALUnit() {
            if let sample = add(unit) { return sample }
        }
        return nil
    }

    /// Ends the stream and returns the samples that remain, one a call; nil when there is none left.
    public mutating func finish() -> SampleBuffer? {
        while let unit = units.finish() {
            if let sample = add(unit) { return sample }
        }
        return assembler.finish().flatMap { makeSample($0) }
    }

    private mutating func add(_ unit: NALUnit) -> SampleBuffer? {
        assembler.append(unit).flatMap { makeSample($0) }
    }

    private mutating func makeSample(_ accessUnit: [NALUnit]) -> SampleBuffer? {
        for unit in accessUnit where unit.isParameterSet { formats.add(unit) }
        guard let slice = accessUnit.first(where: \.isVCL), let format = formats.format(of: slice) else {
            skippedCount += 1
            return nil
        }
        setRate(frameRate ?? format.frameRate ?? Self.usualFrameRate)
        let begin = elapsed
        fieldCount += isField(slice, of: format) ? 1 : 2
        let time = MediaTime(value: begin, timescale: Self.timescale)
        let duration = MediaTime(value: elapsed &- begin, timescale: Self.timescale)
        return SampleBuffer(
            nalUnits: accessUnit, format: format, presentationTime: time, decodeTime: time, duration: duration)
    }

    /// Frames before keep their times when the rate changes.
    private mutating func setRate(_ wanted: Double) {
        let bounded = min(max(wanted, Self.frameRates.lowerBound), Self.frameRates.upperBound)
        guard bounded != rate else { return }
        rateBegan = elapsed
        fieldCount = 0
        rate = bounded
    }

    /// The time of the next sample, in ticks. Rounded by itself, so that the error of an interval does not add up.
    private var elapsed: Int64 {
        rateBegan &+ Int64(clamping: (Double(fieldCount) * Double(Self.timescale) / (2 * rate)).rounded())
    }

    /// Returns true if an access unit, whose first slice this is, is a field by itself (H.264 7.4.1.2.4).
    private func isField(_ slice: NALUnit, of format: VideoFormatDescription) -> Bool {
        guard format.sequenceParameterSets.first?.isFrameOnly == false else { return false }
        return (try? SliceHeader(parsing: slice, parameterSets: formats.store))?.isField == true
    }
}
