import Foundation
import Glibc
import NIOCore
import Testing

@testable import RoomMedia

@Suite("Files of recordings on a disk")
struct SystemRecordingFileTests {
    @Test("an append that fails halfway leaves nothing, and the next one continues what was before")
    func partialAppend() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "file-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        var isFull = false
        let file = SystemRecordingFile(path: path, descriptor: descriptor) { descriptor, bytes in
            if isFull, bytes.count <= 3 {
                errno = ENOSPC
                return -1
            }
            return Glibc.write(descriptor, bytes.baseAddress, isFull ? bytes.count - 3 : bytes.count)
        }
        try file.append(ByteBuffer(string: "first\n"))
        isFull = true
        #expect(throws: RecordingFileError.self) { try file.append(ByteBuffer(string: "second\n")) }
        #expect(file.failure?.isDiskFull == true)
        isFull = false
        try file.append(ByteBuffer(string: "third\n"))
        #expect(file.size == 12)
        file.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "first\nthird\n")
    }

    @Test("what cannot be put in place of another file leaves nothing")
    func failedReplacement() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "folder-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path + "/file", withIntermediateDirectories: true)
        #expect(throws: RecordingFileError.self) {
            try SystemRecordingFiles().replace(path + "/file", with: ByteBuffer(string: "new"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file"])
    }
}
