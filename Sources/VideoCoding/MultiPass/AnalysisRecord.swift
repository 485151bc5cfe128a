import MediaCore
import NIOCore

/// The records in a multi-pass storage's file.
enum AnalysisRecord {
    /// Names and values of the settings.
    case settings([String])
    /// A group of the first pass.
    case group(MultiPassAnalysis.Group)
    /// A further encode of a group.
    case measurement(PassMeasurement, group: Int)
    /// The end of a pass, with the requests for the next one.
    case passEnd([PassPlanner.Request])

    private static let settingsTag: UInt8 = 1
    private static let groupTag: UInt8 = 2
    private static let measurementTag: UInt8 = 3
    private static let passEndTag: UInt8 = 4

    init?(tag: UInt8, head: ByteBuffer, body: ByteBuffer) {
        var (head, body) = (head, body)
        let record: AnalysisRecord? =
            switch tag {
            case Self.settingsTag: Self.settings(&body)
            case Self.groupTag: Self.group(&head, &body)
            case Self.measurementTag: Self.measurement(&head)
            case Self.passEndTag: Self.passEnd(&body)
            default: nil
            }
        guard let record, head.readableBytes == 0, body.readableBytes == 0 else { return nil }
        self = record
    }

    private static func settings(_ body: inout ByteBuffer) -> AnalysisRecord? {
        body.readString(length: body.readableBytes).map {
            .settings($0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    private static func group(_ head: inout ByteBuffer, _ body: inout ByteBuffer) -> AnalysisRecord? {
        guard let firstNumber = head.readCount(), let frameCount = head.readCount(),
            let keyframeCount = head.readCount(), let end = head.readTime(), end.isNumeric,
            let measurement = head.readMeasurement(), frameCount > 0, keyframeCount > 0
        else { return nil }
        var group = MultiPassAnalysis.Group(
            firstNumber: firstNumber, times: [], keyframes: [], end: end, measurements: [measurement])
        for _ in 0..<frameCount {
            guard let time = body.readTime(), time.isNumeric, time < end else { return nil }
            group.times.append(time)
        }
        for _ in 0..<keyframeCount {
            guard let offset = body.readCount(), offset < frameCount else { return nil }
            group.keyframes.append(offset)
        }
        return .group(group)
    }

    private static func measurement(_ head: inout ByteBuffer) -> AnalysisRecord? {
        guard let group = head.readCount(), let measurement = head.readMeasurement() else { return nil }
        return .measurement(measurement, group: group)
    }

    private static func passEnd(_ body: inout ByteBuffer) -> AnalysisRecord? {
        var requests: [PassPlanner.Request] = []
        while body.readableBytes > 0 {
            guard let group = body.readCount(), let rateFactor = body.readDouble() else { return nil }
            requests.append(PassPlanner.Request(group: group, rateFactor: rateFactor))
        }
        return .passEnd(requests)
    }

    var encoded: (tag: UInt8, head: ByteBuffer, body: ByteBuffer) {
        var (head, body) = (ByteBuffer(), ByteBuffer())
        switch self {
        case .settings(let lines):
            body.writeString(lines.joined(separator: "\n"))
            return (Self.settingsTag, head, body)
        case .group(let group):
            head.writeCount(group.firstNumber)
            head.writeCount(group.times.count)
            head.writeCount(group.keyframes.count)
            head.writeTime(group.end)
            head.writeMeasurement(group.measurements.last)
            for time in group.times { body.writeTime(time) }
            for offset in group.keyframes { body.writeCount(offset) }
            return (Self.groupTag, head, body)
        case .measurement(let measurement, let group):
            head.writeCount(group)
            head.writeMeasurement(measurement)
            return (Self.measurementTag, head, body)
        case .passEnd(let requests):
            for request in requests {
                body.writeCount(request.group)
                body.writeInteger(request.rateFactor.bitPattern)
            }
            return (Self.passEndTag, head, body)
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeCount(_ count: Int) { writeInteger(UInt32(clamping: count)) }
    fileprivate mutating func readCount() -> Int? { readInteger(as: UInt32.self).map(Int.init) }

    /// Reads a finite number.
    fileprivate mutating func readDouble() -> Double? {
        readInteger(as: UInt64.self).map(Double.init(bitPattern:)).flatMap { $0.isFinite ? $0 : nil }
    }

    fileprivate mutating func writeMeasurement(_ measurement: PassMeasurement?) {
        writeInteger((measurement?.rateFactor ?? 0).bitPattern)
        writeInteger(Int64(measurement?.size.bytes ?? 0))
        writeInteger((measurement?.distortion ?? 0).bitPattern)
    }

    fileprivate mutating func readMeasurement() -> PassMeasurement? {
        guard let rateFactor = readDouble(), let size = readInteger(as: Int64.self), size >= 0,
            let distortion = readDouble()
        else { return nil }
        return PassMeasurement(rateFactor: rateFactor, size: DataSize(bytes: Int(size)), distortion: distortion)
    }
}
