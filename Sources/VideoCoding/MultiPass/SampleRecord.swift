import H264
import MediaCore
import NIOCore

/// A compressed frame in a silo's file, without its data.
struct SampleRecord {
    var presentationTime: MediaTime
    var decodeTime: MediaTime?
    var duration: MediaTime?
    var isSync: Bool
    var dependency: FrameDependency
    /// The index of the record's format among the file's formats.
    var format: Int

    init(_ sample: SampleBuffer, format: Int) {
        presentationTime = sample.presentationTime
        decodeTime = sample.decodeTime
        duration = sample.duration
        isSync = sample.isSync
        dependency = sample.dependency
        self.format = format
    }

    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let presentationTime = bytes.readTime(), let decodeTime = bytes.readTime(),
            let duration = bytes.readTime(), let isSync = bytes.readInteger(as: UInt8.self),
            let isDependedOn = bytes.readInteger(as: Int8.self), let layer = bytes.readInteger(as: Int8.self),
            let format = bytes.readInteger(as: UInt32.self)
        else { return nil }
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime.isNumeric ? decodeTime : nil
        self.duration = duration.isNumeric ? duration : nil
        self.isSync = isSync != 0
        dependency = FrameDependency(
            isDependedOn: isDependedOn < 0 ? nil : isDependedOn > 0, temporalLayer: layer < 0 ? nil : Int(layer))
        self.format = Int(format)
    }

    var bytes: ByteBuffer {
        var bytes = ByteBufferAllocator().buffer(capacity: 48)
        bytes.writeTime(presentationTime)
        bytes.writeTime(decodeTime ?? .invalid)
        bytes.writeTime(duration ?? .invalid)
        bytes.writeInteger(UInt8(isSync ? 1 : 0))
        bytes.writeInteger(dependency.isDependedOn.map { $0 ? 1 : 0 } ?? Int8(-1))
        bytes.writeInteger(dependency.temporalLayer.map { Int8(clamping: $0) } ?? Int8(-1))
        bytes.writeInteger(UInt32(clamping: format))
        return bytes
    }

    func sample(data: ByteBuffer, format: VideoFormatDescription) -> SampleBuffer {
        SampleBuffer(
            data: BlockBuffer(data), format: format, presentationTime: presentationTime, decodeTime: decodeTime,
            duration: duration, isSync: isSync, dependency: dependency)
    }
}

extension VideoFormatDescription {
    /// The parameter sets, each behind its length.
    var recorded: ByteBuffer { LengthPrefixed.encode(parameterSets.compactMap(NALUnit.init)) }

    init?(recorded: ByteBuffer) {
        guard let units = try? LengthPrefixed.nalUnits(in: recorded),
            let format = try? VideoFormatDescription(h264ParameterSets: units.map(\.bytes))
        else { return nil }
        self = format
    }
}

extension ByteBuffer {
    /// Writes a time in twelve bytes; a non-numeric one as a timescale of zero.
    mutating func writeTime(_ time: MediaTime) {
        writeInteger(time.isNumeric ? time.value : 0)
        writeInteger(time.isNumeric ? time.timescale : 0)
    }

    mutating func readTime() -> MediaTime? {
        guard let value = readInteger(as: Int64.self), let timescale = readInteger(as: Int32.self) else { return nil }
        return timescale > 0 ? MediaTime(value: value, timescale: timescale) : .invalid
    }
}
