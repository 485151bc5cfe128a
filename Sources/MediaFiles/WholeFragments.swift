import NIOCore

/// The fragments of a movie that its writer completed (ISO/IEC 14496-12).
///
/// libavformat reads the head of every fragment when it opens a movie, and opens none whose last head is cut off, as a
/// crash may leave it.
enum WholeFragments {
    /// The URL by which libavformat opens the whole fragments of a movie alone; nil if there is none.
    ///
    /// - Parameter isAbandoned: Is asked, at each of the movie's boxes, whether to give up.
    static func url(path: String, isAbandoned: () -> Bool = { false }) -> String? {
        end(in: path, isAbandoned).map { LibAVFormat.url(path: path, upTo: $0) }
    }

    /// Where the last whole fragment of a movie ends; nil if there is none.
    private static func end(in path: String, _ isAbandoned: () -> Bool) -> Int? {
        guard let file = try? InputFile(path: path) else { return nil }
        var end: Int?
        var (place, isInFragment) = (0, false)
        while !isAbandoned(), let box = try? box(at: place, of: file) {
            if isInFragment, box.type == data {
                // A file system may have lost the last byte of the data, or everything behind it.
                guard (try? file.seek(to: box.end - 1)) != nil, (try? file.read(1))?.readableBytes == 1 else { break }
                end = box.end
            }
            isInFragment = box.type == head
            place = box.end
        }
        return end
    }

    /// `moof`.
    private static let head: UInt32 = 0x6D6F_6F66
    /// `mdat`.
    private static let data: UInt32 = 0x6D64_6174

    /// The box that begins at a place; nil if there is none with a length.
    private static func box(at place: Int, of file: InputFile) throws(MediaFileError) -> (type: UInt32, end: Int)? {
        try file.seek(to: place)
        var bytes = try file.read(16)
        guard let short = bytes.readInteger(as: UInt32.self), let type = bytes.readInteger(as: UInt32.self) else {
            return nil
        }
        let isLong = short == 1
        let size = isLong ? bytes.readInteger(as: UInt64.self) ?? 0 : UInt64(short)
        guard size >= (isLong ? 16 : 8), let length = Int(exactly: size) else { return nil }
        let (end, isBeyond) = place.addingReportingOverflow(length)
        return isBeyond ? nil : (type, end)
    }
}
