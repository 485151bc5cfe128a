import Foundation
import Testing

@testable import RoomMedia

@Suite struct WritablePathTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "writable-\(UUID())").path

    private func reason(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? WritablePath.NotUsable)?.reason
        }
    }

    @Test func `a folder is made with those above it, for this user alone`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try WritablePath.makeFolder("\(folder)/a/b/")
        try WritablePath.makeFolder("\(folder)/a/b")
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/a/b")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func `a check passes for a folder that can be made, and makes nothing`() throws {
        try WritablePath.checkFolder("\(folder)/a/b")
        try WritablePath.checkFolder("recordings-\(UUID())/a")
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a path may lead back over a folder that is not there yet`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/a/../b"
        try WritablePath.checkFolder(path)
        #expect(!FileManager.default.fileExists(atPath: folder))
        try WritablePath.makeFolder(path)
        #expect(FileManager.default.fileExists(atPath: "\(folder)/b"))
    }

    @Test(arguments: ["/dev/null", "/dev/null/a/b"])
    func `a folder that is a file, or in one, fails with the system's reason`(path: String) {
        let reasons = [reason { try WritablePath.checkFolder(path) }, reason { try WritablePath.makeFolder(path) }]
        #expect(reasons.allSatisfy { $0?.hasSuffix(": Not a directory") == true })
        #expect(throws: RecordingFileError(path: "/dev/null/a", isDiskFull: false, reason: "Not a directory")) {
            try SystemRecordingFiles().makeFolder("/dev/null/a")
        }
    }

    @Test func `a file can be written where it is, or its folder is`() throws {
        try WritablePath.checkFile("/dev/null")
        try WritablePath.checkFile("\(FileManager.default.temporaryDirectory.path)/\(UUID()).log")
        #expect(reason { try WritablePath.checkFile("/dev") } == "Is a directory")
        let missing = reason { try WritablePath.checkFile("\(folder)/a.log") }
        #expect(missing?.hasSuffix(": No such file or directory") == true)
    }
}
