public import MediaCore
import NIOCore
import Synchronization

/// Stores compressed frames by presentation time between the passes of an encoder, and until they are written.
///
/// Each time has one frame: a new frame replaces the one with the same presentation time. With a path the frames are in
/// a file, with an index in memory (about 200 bytes a frame). The file can be opened again, even after its process
/// ended in the middle of a pass. Without a path they are kept in memory.
///
/// Before each pass but the first, `setTimeRangesForNextPass` removes the frames that the pass makes again; all others
/// stay. Removed and replaced frames leave their space in the file unused.
public final class FrameSilo: Sendable {
    public enum Order: Sendable {
        /// The order in which a decoder needs the frames.
        case decoding
        /// The order in which the frames are shown.
        case presentation
    }

    private let state: Mutex<State>

    /// Makes a silo, or opens the one at `path`.
    ///
    /// - Parameter timeRange: The time range of the first pass, if known, for `progressOfCurrentPass`.
    public init(path: String? = nil, timeRange: MediaTimeRange? = nil) throws(MultiPassError) {
        if let timeRange { try Self.check([timeRange]) }
        state = Mutex(try State(path: path, ranges: timeRange.map { [$0] }))
    }

    /// Puts a frame in, in place of the one with the same presentation time.
    public func add(_ sample: SampleBuffer) throws(MultiPassError) {
        guard sample.presentationTime.isNumeric else { throw .invalidTime(sample.presentationTime) }
        try state.withLock { state throws(MultiPassError) in try state.add(sample) }
    }

    /// Begins a pass over `ranges`, which are in ascending order and do not overlap: the frames in them are taken out,
    /// and only frames in them are taken in.
    public func setTimeRangesForNextPass(_ ranges: [MediaTimeRange]) throws(MultiPassError) {
        try Self.check(ranges)
        try state.withLock { state throws(MultiPassError) in try state.beginPass(over: ranges) }
    }

    /// The part of the pass's time before the end of the last stored frame, 0 to 1; nil while that time is not known.
    public var progressOfCurrentPass: Double? { state.withLock { $0.progress } }

    public var count: Int { state.withLock { $0.frames.count } }

    public var size: DataSize { state.withLock { $0.size } }

    /// Calls `body` with each frame whose presentation time is in `timeRange`, or with each frame, one at a time.
    /// `body` may use the silo; a frame that was replaced meanwhile comes in its new form.
    ///
    /// Throws `MultiPassError`, or the error of `body`.
    public func forEachSample(
        in timeRange: MediaTimeRange? = nil, order: Order = .decoding, _ body: (SampleBuffer) throws -> Void
    ) throws {
        let times = try state.withLock { state throws(MultiPassError) in
            try state.times(in: timeRange, order: order)
        }
        for time in times {
            let sample = try state.withLock { state throws(MultiPassError) in try state.sample(at: time) }
            if let sample { try body(sample) }
        }
    }

    /// Writes everything out and closes the file. The silo is of no use afterwards.
    public func close() throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.close() }
    }

    /// Closes the silo and removes its file.
    public func remove() throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.remove() }
    }

    private static func check(_ ranges: [MediaTimeRange]) throws(MultiPassError) {
        var end = MediaTime.negativeInfinity
        for range in ranges {
            guard range.isValid, range.start >= end else { throw .invalidTimeRanges }
            end = range.end
        }
    }
}

extension FrameSilo {
    /// A frame without its data.
    private struct Frame {
        var presentationTime: MediaTime
        var decodeTime: MediaTime?
        var size: Int
        var place: Place

        /// The frame's place in decoding order.
        var decodeKey: MediaTime { decodeTime ?? presentationTime }
    }

    private enum Place {
        case memory(SampleBuffer)
        case file(RecordLog.Reference, head: SampleRecord)
    }

    private struct State {
        /// The frames in the order of presentation.
        var frames: [Frame] = []
        var size = DataSize.zero

        private let log: RecordLog?
        private var formats: [VideoFormatDescription] = []
        /// The time ranges of the pass; nil for everything, whose extent is unknown.
        private var ranges: [MediaTimeRange]?
        private var lastEnd: MediaTime?
        private var isClosed = false

        private static let kind = RecordLog.Kind(signature: "H264SILO", name: "frame silo")
        private static let formatTag: UInt8 = 1
        private static let sampleTag: UInt8 = 2

        init(path: String?, ranges: [MediaTimeRange]?) throws(MultiPassError) {
            self.ranges = ranges
            guard let path else {
                log = nil
                return
            }
            let log = try RecordLog(path: path, kind: Self.kind)
            self.log = log
            var found: [Frame] = []
            var formats: [VideoFormatDescription] = []
            try log.scan { record throws(MultiPassError) in
                switch record.tag {
                case Self.formatTag:
                    let body = try log.body(of: record.reference)
                    guard let format = VideoFormatDescription(recorded: body) else {
                        throw log.corruption(of: record.reference, reason: "a format makes no sense")
                    }
                    formats.append(format)
                case Self.sampleTag:
                    guard let head = SampleRecord(record.head), head.format < formats.count,
                        head.presentationTime.isNumeric
                    else { throw log.corruption(of: record.reference, reason: "a frame makes no sense") }
                    found.append(Self.frame(head, at: record.reference))
                default:
                    throw log.corruption(of: record.reference, reason: "a record of an unknown kind")
                }
            }
            self.formats = formats
            for frame in found {
                if let old = insert(frame) { try log.erase(old) }
            }
        }

        private static func frame(_ head: SampleRecord, at reference: RecordLog.Reference) -> Frame {
            Frame(
                presentationTime: head.presentationTime, decodeTime: head.decodeTime, size: reference.bodyCount,
                place: .file(reference, head: head))
        }

        /// Puts a frame in its place.
        ///
        /// - Returns: The record of the frame that was there.
        private mutating func insert(_ frame: Frame) -> RecordLog.Reference? {
            let index = firstIndex(notBefore: frame.presentationTime)
            size += DataSize(bytes: frame.size)
            guard index < frames.count, frames[index].presentationTime == frame.presentationTime else {
                frames.insert(frame, at: index)
                return nil
            }
            let old = frames[index]
            size -= DataSize(bytes: old.size)
            frames[index] = frame
            if case .file(let reference, _) = old.place { return reference }
            return nil
        }

        private func firstIndex(notBefore time: MediaTime) -> Int {
            // Most frames come at the end.
            if let last = frames.last, last.presentationTime < time { return frames.count }
            var (low, high) = (0, frames.count)
            while low < high {
                let middle = low + (high - low) / 2
                if frames[middle].presentationTime < time { low = middle + 1 } else { high = middle }
            }
            return low
        }

        private func indices(in range: MediaTimeRange) -> Range<Int> {
            let first = firstIndex(notBefore: range.start)
            return first..<max(first, firstIndex(notBefore: range.end))
        }

        mutating func add(_ sample: SampleBuffer) throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            let time = sample.presentationTime
            if let ranges, !ranges.contains(where: { $0.contains(time) }) { throw .outsideTimeRanges(time) }
            if let log {
                let head = SampleRecord(sample, format: try index(of: sample.format, in: log))
                let reference = try log.append(tag: Self.sampleTag, head: head.bytes, body: sample.data.contiguous())
                if let old = insert(Self.frame(head, at: reference)) { try log.erase(old) }
            } else {
                let frame = Frame(
                    presentationTime: time, decodeTime: sample.decodeTime, size: sample.data.count,
                    place: .memory(sample))
                _ = insert(frame)
            }
            let end = sample.duration.map { time + $0 } ?? time
            lastEnd = max(lastEnd ?? end, end)
        }

        private mutating func index(of format: VideoFormatDescription, in log: RecordLog) throws(MultiPassError) -> Int
        {
            // By bytes: descriptions of equal meaning must not stand for one another here.
            if let index = formats.lastIndex(where: { $0.parameterSets == format.parameterSets }) { return index }
            _ = try log.append(tag: Self.formatTag, head: ByteBuffer(), body: format.recorded)
            formats.append(format)
            return formats.count - 1
        }

        mutating func beginPass(over ranges: [MediaTimeRange]) throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            for range in ranges {
                let indices = indices(in: range)
                for frame in frames[indices] {
                    size -= DataSize(bytes: frame.size)
                    if case .file(let reference, _) = frame.place { try log?.erase(reference) }
                }
                frames.removeSubrange(indices)
            }
            try log?.synchronize()
            self.ranges = ranges
            lastEnd = nil
        }

        var progress: Double? {
            guard let ranges else { return nil }
            let total = ranges.reduce(0) { $0 + $1.duration.seconds }
            guard total > 0, total.isFinite else { return total > 0 ? nil : 1 }
            guard let lastEnd else { return 0 }
            let done = ranges.reduce(0) { sum, range in
                sum + (lastEnd > range.start ? (min(lastEnd, range.end) - range.start).seconds : 0)
            }
            return min(1, done / total)
        }

        func times(in range: MediaTimeRange?, order: Order) throws(MultiPassError) -> [MediaTime] {
            guard !isClosed else { throw .closed }
            let part = frames[range.map { indices(in: $0) } ?? frames.indices]
            switch order {
            case .presentation: return part.map(\.presentationTime)
            case .decoding:
                return part.sorted {
                    ($0.decodeKey, $0.presentationTime) < ($1.decodeKey, $1.presentationTime)
                }.map(\.presentationTime)
            }
        }

        func sample(at time: MediaTime) throws(MultiPassError) -> SampleBuffer? {
            guard !isClosed else { throw .closed }
            let index = firstIndex(notBefore: time)
            guard index < frames.count, frames[index].presentationTime == time else { return nil }
            switch frames[index].place {
            case .memory(let sample): return sample
            case .file(let reference, let head):
                guard let log, head.format < formats.count else { throw .closed }
                return head.sample(data: try log.body(of: reference), format: formats[head.format])
            }
        }

        mutating func close() throws(MultiPassError) {
            guard !isClosed else { return }
            try log?.synchronize()
            log?.close()
            leave()
        }

        mutating func remove() throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            try log?.remove()
            leave()
        }

        private mutating func leave() {
            isClosed = true
            frames = []
            size = .zero
        }
    }
}
