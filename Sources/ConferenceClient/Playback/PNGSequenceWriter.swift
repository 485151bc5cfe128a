import Compositing
import Foundation
import MediaCore
import MediaFiles

/// Writes pictures as PNG files that are numbered from 1.
final class PNGSequenceWriter: PictureSink {
    private let name: NumberedPath
    private var number = 0

    /// - Throws: `MediaFileError.cannotWrite` if the folder does not exist or is not writable.
    init(_ name: NumberedPath) throws(MediaFileError) {
        self.name = name
        let folder = URL(fileURLWithPath: name.path(1)).deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw .cannotWrite(path: name.pattern, reason: "its folder does not exist; make it with mkdir -p")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw .cannotWrite(path: name.pattern, reason: "permission denied")
        }
    }

    func write(_ picture: PixelBuffer) throws(MediaFileError) {
        number += 1
        let path = name.path(number)
        do {
            try picture.writePNG(to: path)
        } catch {
            throw .cannotWrite(path: path, reason: error.reason)
        }
    }

    func finish() throws(MediaFileError) {}
}

/// A path with a place for a number, as C's printf has it: `%d`, or `%05d` for five digits with leading zeros.
struct NumberedPath: Hashable, Sendable {
    let pattern: String
    private let prefix: String
    private let suffix: String
    private let width: Int

    /// Creates the path; nil unless there is exactly one place for a number.
    init?(_ pattern: String) {
        let parts = pattern.split(separator: "%", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "d") else { return nil }
        let digits = parts[1][..<end]
        guard digits.isEmpty || (digits.first == "0" && digits.count <= 3), let width = Int("0" + digits), width <= 18
        else { return nil }
        self.pattern = pattern
        prefix = String(parts[0])
        suffix = String(parts[1][parts[1].index(after: end)...])
        self.width = width
    }

    func path(_ number: Int) -> String {
        let digits = "\(number)"
        return prefix + String(repeating: "0", count: max(0, width - digits.count)) + digits + suffix
    }
}

/// The destination of a played file's pictures.
protocol PictureSink: AnyObject {
    /// Writes the next picture. Waits for the disk.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    func write(_ picture: PixelBuffer) throws(MediaFileError)

    /// Ends the file. Nothing is written afterwards.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    func finish() throws(MediaFileError)
}

extension Y4MWriter: PictureSink {}
