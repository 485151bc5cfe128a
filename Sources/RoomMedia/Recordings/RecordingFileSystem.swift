package import MediaCore
package import MediaFiles
package import NIOCore

/// What a recording's writer does to the disk. Tests put a disk in its place that stalls or is full.
package protocol RecordingFileSystem: Sendable {
    /// Makes a folder that nobody else can read, and those above it.
    func makeFolder(_ path: String) throws(RecordingFileError)
    /// Makes a file that is not there yet.
    func create(_ path: String) throws(RecordingFileError) -> any RecordingFile
    /// Puts these bytes in place of a file, so that a reader sees either all of the old or all of the new ones.
    func replace(_ path: String, with bytes: ByteBuffer) throws(RecordingFileError)
    /// Returns true if the file is there. Writes to a file that was removed succeed, and are lost.
    func hasFile(_ path: String) -> Bool
    /// The space that is left for the folder's files; nil where that is not known.
    func freeSpace(at path: String) -> DataSize?
}

extension RecordingFileSystem {
    /// Throws where the disk of a folder has less space left than is to be kept free.
    func checkSpace(in folder: String, keeping minimum: DataSize) throws(RecordingFileError) {
        guard let free = freeSpace(at: folder), free < minimum else { return }
        throw RecordingFileError(
            path: folder, isDiskFull: true,
            reason: "the disk has \(free.bytes / 1_000_000) MB left, of which \(minimum.bytes / 1_000_000) MB are kept "
                + "free")
    }
}

/// A file that grows at its end.
package protocol RecordingFile: MovieFile {
    /// How much has been appended.
    var size: Int { get }
    /// The failure of the last call; nil if it did not fail.
    var failure: RecordingFileError? { get }
    /// Returns when what was appended would survive a loss of power.
    func synchronize() throws(RecordingFileError)
    /// Cuts off what is behind a size.
    func truncate(to size: Int)
    func close()
}

/// Why a file of a recording could not be written.
package struct RecordingFileError: Error, Equatable, CustomStringConvertible {
    var path: String
    var isDiskFull: Bool
    package var reason: String

    package var description: String { "\(path): \(reason)" }
}
