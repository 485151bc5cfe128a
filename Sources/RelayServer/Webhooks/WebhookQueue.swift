import Foundation

/// Lines that wait on disk until they are delivered, in the order in which they came. A crash of the program loses none
/// of them; those that were delivered and not yet counted as such come again.
///
/// A folder has files of lines, `1.ndjson` and so on, and `position`: how far the first of them is delivered.
struct WebhookQueue {
    /// A line, and where the queue goes on once it is delivered.
    struct Entry: Equatable {
        var line: Data
        var end: Position
    }

    /// A place between two lines.
    struct Position: Equatable {
        var file: Int
        var offset: Int
    }

    /// The numbers of its files. Behind a file of the highest number that there is, no other could begin.
    private static let numbers = 1...Int.max / 2

    private let folder: URL
    private let fileLimit: Int
    private let limit: Int
    private let write: @Sendable (FileHandle, Data) throws -> Void
    /// The sizes of the files, by their numbers.
    private var sizes: [Int: Int] = [:]
    private var position: Position
    private var writer: FileHandle?
    private var reader: (number: Int, file: FileHandle)?
    /// Lines that were dropped because there were too many.
    private(set) var dropped: UInt64 = 0

    /// Opens the queue of a folder, which is made if need be, with what is left in it.
    /// - Parameters:
    ///   - limit: Bytes of lines that it holds at most; of too many the oldest are dropped.
    ///   - fileLimit: About how many of them are in a file.
    ///   - write: Adds bytes to a file; tests have it fail.
    init(
        folder: URL, limit: Int = 16_000_000, fileLimit: Int = 1_000_000,
        write: @escaping @Sendable (FileHandle, Data) throws -> Void = { try $0.write(contentsOf: $1) }
    ) throws {
        self.folder = folder
        self.limit = limit
        self.fileLimit = fileLimit
        self.write = write
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            guard name.hasSuffix(".ndjson"), let number = Int(name.dropLast(7)), Self.numbers.contains(number),
                name == "\(number).ndjson"
            else { continue }
            sizes[number] = try Self.usableSize(of: folder.appendingPathComponent(name))
        }
        let text = (try? String(contentsOf: folder.appendingPathComponent("position"), encoding: .utf8)) ?? ""
        let place = text.split(separator: " ").compactMap { Int($0) }
        position = Position(file: sizes.keys.min() ?? 1, offset: 0)
        if place.count == 2, let size = sizes[place[0]], (0...size).contains(place[1]) {
            position = Position(file: place[0], offset: place[1])
        }
        removeDelivered()
    }

    /// Bytes that wait.
    var size: Int { sizes.values.reduce(0, +) - position.offset }

    /// Adds a line, which has no line break in it. One longer than `longestLine` is dropped.
    mutating func append(_ line: Data) throws {
        guard line.count <= Self.longestLine else {
            dropped &+= 1
            return
        }
        while size + line.count + 1 > limit, dropOldest() {}
        let newest = sizes.keys.max() ?? position.file
        // A file that another run of the program began is left alone: it may end in the middle of a line.
        if writer == nil || sizes[newest, default: 0] >= fileLimit { try begin(sizes.isEmpty ? newest : newest + 1) }
        let number = sizes.keys.max() ?? newest
        guard let writer else { return }
        do {
            try write(writer, line + [0x0A])
        } catch {
            discardPart(in: number)
            throw error
        }
        sizes[number, default: 0] += line.count + 1
    }

    /// Cuts off what a failed write left of a line. Where that fails as well, the next line begins another file.
    private mutating func discardPart(in number: Int) {
        do {
            try writer?.truncate(atOffset: UInt64(sizes[number, default: 0]))
        } catch {
            writer = nil
        }
    }

    /// The oldest lines, as many as `count`.
    mutating func next(_ count: Int) throws -> [Entry] {
        var entries: [Entry] = []
        var place = position
        while entries.count < count, let size = sizes[place.file] {
            guard place.offset < size else {
                guard let following = sizes.keys.filter({ $0 > place.file }).min() else { break }
                place = Position(file: following, offset: 0)
                continue
            }
            for line in try lines(at: place, upTo: size) {
                place.offset += line.count + 1
                entries.append(Entry(line: line, end: place))
                if entries.count == count { break }
            }
        }
        return entries
    }

    /// Forgets the lines up to a place.
    mutating func deliver(upTo place: Position) throws {
        // The read position is beyond events that were dropped meanwhile.
        guard (place.file, place.offset) > (position.file, position.offset), sizes[place.file] != nil else { return }
        position = place
        removeDelivered()
        try Data("\(position.file) \(position.offset)\n".utf8).write(
            to: folder.appendingPathComponent("position"), options: .atomic)
    }

    private static let longestLine = 32_768
    /// The bytes of a file that are read at once, at least one line.
    private static let readSize = 2 * longestLine

    private mutating func lines(at place: Position, upTo size: Int) throws -> [Data] {
        let known = reader?.number == place.file ? reader?.file : nil
        // One that cannot be read is opened anew the next time.
        reader = nil
        let file = try known ?? FileHandle(forReadingFrom: url(place.file))
        try file.seek(toOffset: UInt64(place.offset))
        let bytes = try file.read(upToCount: min(Self.readSize, size - place.offset)) ?? Data()
        reader = (place.file, file)
        guard let end = bytes.lastIndex(of: 0x0A) else {
            // No line of ours: what is there was written by something else.
            sizes[place.file] = place.offset
            return []
        }
        return bytes[..<end].split(separator: 0x0A, omittingEmptySubsequences: false).map { Data($0) }
    }

    private mutating func begin(_ number: Int) throws {
        try Data().write(to: url(number))
        writer = try FileHandle(forWritingTo: url(number))
        sizes[number] = 0
    }

    /// Removes the oldest file, and counts what was not delivered of it.
    /// - Returns: Whether there was one to remove.
    private mutating func dropOldest() -> Bool {
        guard let oldest = sizes.keys.min() else { return false }
        let place = position.file == oldest ? position : Position(file: oldest, offset: 0)
        var lost = place
        while let size = sizes[oldest], lost.offset < size, let found = try? lines(at: lost, upTo: size) {
            dropped &+= UInt64(found.count)
            lost.offset += found.reduce(0) { $0 + $1.count + 1 }
            if found.isEmpty { break }
        }
        if sizes.keys.max() == oldest { writer = nil }
        remove(oldest)
        position = Position(file: sizes.keys.min() ?? oldest + 1, offset: 0)
        return true
    }

    /// Removes files whose lines are all delivered, except the one that is written to.
    private mutating func removeDelivered() {
        while let oldest = sizes.keys.min(), oldest <= position.file, let newest = sizes.keys.max(), oldest < newest,
            oldest < position.file || position.offset >= sizes[oldest, default: 0]
        {
            remove(oldest)
            if oldest == position.file { position = Position(file: sizes.keys.min() ?? newest, offset: 0) }
        }
    }

    private mutating func remove(_ number: Int) {
        if reader?.number == number { reader = nil }
        sizes[number] = nil
        try? FileManager.default.removeItem(at: url(number))
    }

    private func url(_ number: Int) -> URL { folder.appendingPathComponent("\(number).ndjson") }

    /// The bytes up to the last line break: a crash may have cut the line after it.
    private static func usableSize(of file: URL) throws -> Int {
        let bytes = try Data(contentsOf: file, options: .mappedIfSafe)
        return bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }
}
