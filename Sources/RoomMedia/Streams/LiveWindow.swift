import Foundation
import MediaCore
import NIOCore

/// The last seconds of a live stream, as HLS players see them (RFC 8216, and its second edition for parts).
///
/// Segments begin with keyframes and consist of parts. Old segments go, so the memory has a bound.
package struct LiveWindow {
    /// Bounds of what a stream offers.
    struct Limits: Sendable {
        /// The largest length of a part, unless one frame is longer.
        var part = Duration.milliseconds(334)
        /// The largest length of a segment. Keyframes come more often.
        var segment = Duration.seconds(3)
        /// The number of complete segments that are offered.
        var segments = 7
        /// The number of segments, the last ones, that are also offered in parts.
        var segmentsInParts = 3
        /// The most bytes of all segments.
        var size = DataSize(bytes: 32 << 20)
    }

    /// Where a part stands: the segment's number, and its own in the segment.
    package struct Position: Hashable, Comparable, Sendable {
        var segment: Int
        var part: Int

        package static func < (left: Position, right: Position) -> Bool {
            (left.segment, left.part) < (right.segment, right.part)
        }
    }

    /// A part of a segment.
    struct Part: Sendable {
        var bytes: ByteBuffer
        var duration: Duration
        /// True if it begins with a keyframe.
        var isIndependent: Bool
    }

    private struct Segment {
        var number: Int
        /// The initialization that its parts need.
        var map: Int
        /// True if its format, or its time, does not go on from the one before.
        var isDiscontinuous: Bool
        var start: Date
        var parts: [Part] = []

        var duration: Duration { parts.reduce(.zero) { $0 + $1.duration } }
        var size: Int { parts.reduce(0) { $0 + $1.bytes.readableBytes } }
    }

    private let limits: Limits
    /// The last one is not complete.
    private var segments: [Segment] = []
    private var maps: [Int: ByteBuffer] = [:]
    private var lastMap = 0
    private var nextNumber = 1
    /// Discontinuities in front of what is offered.
    private var discontinuities = 0
    private(set) var isEnded = false

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: Filling

    /// Begins with another format: what follows needs this initialization.
    mutating func setInitialization(_ bytes: ByteBuffer) {
        lastMap += 1
        maps[lastMap] = bytes
    }

    /// Begins a segment, and completes the one before.
    ///
    /// - Parameter isGap: Whether something is missing before it.
    mutating func beginSegment(at start: Date, isGap: Bool = false) {
        if segments.last?.parts.isEmpty ?? false { segments.removeLast() }
        let differs = segments.last.map { $0.map != lastMap } ?? false
        segments.append(
            Segment(number: nextNumber, map: lastMap, isDiscontinuous: differs || isGap, start: start))
        nextNumber += 1
        trim()
    }

    /// Adds a part to the segment that was begun last.
    mutating func append(_ part: Part) {
        guard !segments.isEmpty, !isEnded else { return }
        segments[segments.count - 1].parts.append(part)
        trim()
    }

    mutating func end() {
        isEnded = true
        if segments.last?.parts.isEmpty ?? false { segments.removeLast() }
    }

    private mutating func trim() {
        var size = segments.reduce(0) { $0 + $1.size }
        while segments.count > 1, segments.count > limits.segments + 1 || size > limits.size.bytes {
            let gone = segments.removeFirst()
            size -= gone.size
            if gone.isDiscontinuous { discontinuities += 1 }
        }
        maps = maps.filter { map in map.key == lastMap || segments.contains { $0.map == map.key } }
    }

    // MARK: Reading

    /// The last part that there is; nil before the first.
    var last: Position? {
        segments.last { !$0.parts.isEmpty }.map { Position(segment: $0.number, part: $0.parts.count - 1) }
    }

    /// True if everything up to a part is there, or will never be.
    ///
    /// - Parameter part: Nil: the whole segment.
    func has(segment: Int, part: Int?) -> Bool {
        guard !isEnded else { return true }
        guard let current = segments.last else { return false }
        guard segment >= current.number else { return true }
        // A complete segment is known by the one after it.
        guard segment == current.number, let part else { return false }
        return part < current.parts.count
    }

    /// True if a part or segment is so far ahead that a player may not wait for it (second edition, 6.2.5.2).
    func isTooFarAhead(segment: Int) -> Bool { segment > (segments.last?.number ?? nextNumber) + 2 }

    /// A part; nil if it is not offered, or not yet.
    func part(_ position: Position) -> Part? {
        guard let segment = segments.first(where: { $0.number == position.segment }),
            segment.parts.indices.contains(position.part)
        else { return nil }
        return segment.parts[position.part]
    }

    /// True if the next part will be this one.
    func isNext(_ position: Position) -> Bool {
        guard !isEnded, let current = segments.last else { return false }
        return position == Position(segment: current.number, part: current.parts.count)
    }

    /// A complete segment's bytes; nil if it is not offered.
    func segment(_ number: Int) -> ByteBuffer? {
        guard let segment = completeSegments.first(where: { $0.number == number }) else { return nil }
        return segment.parts.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1.bytes) }
    }

    func initialization(_ map: Int) -> ByteBuffer? { maps[map] }

    private var completeSegments: ArraySlice<Segment> { isEnded ? segments[...] : segments.dropLast() }

    /// Bytes that are kept.
    var size: DataSize { DataSize(bytes: segments.reduce(0) { $0 + $1.size }) }

    // MARK: Playlists

    /// The playlist of what is offered now.
    var playlist: String {
        let target = Int(limits.segment.seconds.rounded(.up))
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:\(target)",
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=\(Self.text(limits.part * 3))",
            "#EXT-X-PART-INF:PART-TARGET=\(Self.text(limits.part))",
            "#EXT-X-MEDIA-SEQUENCE:\(segments.first?.number ?? nextNumber)",
        ]
        if discontinuities > 0 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuities)") }
        var map: Int?
        for (index, segment) in segments.enumerated() {
            let isComplete = isEnded || index < segments.count - 1
            // The tag leaves with its segment, when it is counted: a segment's discontinuity number never changes (RFC
            // 8216, 4.3.3.3).
            if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.map != map { lines.append("#EXT-X-MAP:URI=\"\(LiveFile.initialization(segment.map).name)\"") }
            map = segment.map
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Self.text(segment.start))")
            if index >= segments.count - 1 - limits.segmentsInParts {
                for (number, part) in segment.parts.enumerated() {
                    let file = LiveFile.part(Position(segment: segment.number, part: number))
                    lines.append(
                        "#EXT-X-PART:DURATION=\(Self.text(part.duration)),URI=\"\(file.name)\""
                            + (part.isIndependent ? ",INDEPENDENT=YES" : ""))
                }
            }
            guard isComplete else { continue }
            lines.append("#EXTINF:\(Self.text(segment.duration)),")
            lines.append(LiveFile.segment(segment.number).name)
        }
        if isEnded {
            lines.append("#EXT-X-ENDLIST")
        } else if let current = segments.last {
            let next = LiveFile.part(Position(segment: current.number, part: current.parts.count))
            lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(next.name)\"")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ duration: Duration) -> String {
        let micros = (duration.nanoseconds + 500) / 1000
        let fraction = String(micros % 1_000_000)
        return "\(micros / 1_000_000).\(String(repeating: "0", count: 6 - fraction.count))\(fraction)"
    }

    private static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// A file of a live stream, by its name in URLs.
package enum LiveFile: Hashable {
    /// The playlist of playlists, which tells codecs and size.
    case index
    /// The playlist of segments and parts.
    case playlist
    case initialization(Int)
    case segment(Int)
    case part(LiveWindow.Position)

    package init?(name: Substring) {
        switch name {
        case "index.m3u8": self = .index
        case "live.m3u8": self = .playlist
        default:
            let isInitialization = name.hasSuffix(".mp4")
            guard isInitialization || name.hasSuffix(".m4s") else { return nil }
            let words = name.dropLast(4).split(separator: "-", omittingEmptySubsequences: false)
            let numbers = words.dropFirst().compactMap { word in
                word.utf8.allSatisfy { (48...57).contains($0) } && word.count <= 12 ? Int(word) : nil
            }
            guard let kind = words.first, numbers.count == words.count - 1 else { return nil }
            switch (kind, numbers.count, isInitialization) {
            case ("init", 1, true): self = .initialization(numbers[0])
            case ("segment", 1, false): self = .segment(numbers[0])
            case ("part", 2, false): self = .part(LiveWindow.Position(segment: numbers[0], part: numbers[1]))
            default: return nil
            }
        }
    }

    package var name: String {
        switch self {
        case .index: "index.m3u8"
        case .playlist: "live.m3u8"
        case .initialization(let number): "init-\(number).mp4"
        case .segment(let number): "segment-\(number).m4s"
        case .part(let position): "part-\(position.segment)-\(position.part).m4s"
        }
    }
}
