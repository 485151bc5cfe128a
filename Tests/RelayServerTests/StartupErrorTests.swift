import Foundation
import Logging
import NIOCore
import Testing
import VideoCoding

@testable import RelayServer

/// What the relay says when it cannot start.
@Suite struct StartupErrorTests {
    @Test("a file of text that cannot be read is told with the one reason that it has")
    func unreadableFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let noText = folder.appendingPathComponent("keys.json").path
        try Data([0xFF, 0xFE, 0xFD]).write(to: URL(fileURLWithPath: noText))
        for (path, reason) in [
            ("\(folder.path)/none.json", "there is no such file"), (folder.path, "it is a folder, or its disk fails"),
            (noText, "it is no text in UTF-8"),
        ] {
            let error = #expect(throws: AccessKeys.Failure.self) { try AccessKeys(file: path) }
            #expect(error?.description == reason)
        }
        #expect(throws: AccessKeys.Failure(description: "its name is empty")) { try AccessKeys(file: "") }
        #expect(TextFile.reason(CocoaError(.fileReadNoPermission)) == "this user may not read it")
    }

    @Test("a file of text may be a pipe, whose parts come one after the other")
    func pipe() throws {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        Thread.detachNewThread {
            for part in ["long", "-", "random"] { try? writing.write(contentsOf: Data(part.utf8)) }
            try? writing.close()
        }
        let path = "/dev/fd/\(reading.fileDescriptor)"
        #expect(try TextFile.text(of: path) == "long-random")
        #expect(TextFile.isPipe(path))
        #expect(!["/dev/zero", "/etc/passwd", "/proc/self/exe", "/nowhere", "/"].contains(where: TextFile.isPipe))
        try reading.close()
    }

    @Test("a file of text that is too long for one is not read to its end")
    func endless() {
        let error = #expect(throws: TextFile.Unreadable.self) { try TextFile.text(of: "/dev/zero") }
        #expect(error?.reason == "it has more than 1 MB")
    }

    @Test("a port that nobody may listen on is told in words, and not by the name of a call")
    func ports() {
        let reasons = [EADDRINUSE, EADDRNOTAVAIL, EACCES, EPERM, EAFNOSUPPORT].map {
            PortBinder.reason(IOError(errnoCode: $0, reason: "bind(descriptor:ptr:bytes:)"))
        }
        #expect(
            reasons == [
                "another program has it", "it does not belong to this machine", "this user may not listen there",
                "this user may not listen there", "Address family not supported by protocol",
            ])
    }

    @Test("a device that is not there is named once")
    func missingDevice() {
        let path = "/nonexistent/renderD128"
        var configuration = RelayServerConfiguration()
        configuration.codec = .vaapi
        configuration.vaapiDevice = .renderNode(path: path)
        let selection = HardwareSelection(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let error = #expect(throws: StartupError.self) { try selection.select() }
        let text = error?.description ?? ""
        #expect(text.contains("\(path): the device is not usable: it cannot be opened: No such file or directory;"))
        #expect(text.components(separatedBy: path).count == 2)
    }
}
