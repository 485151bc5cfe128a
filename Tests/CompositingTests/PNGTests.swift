import Foundation
import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

@Suite("PNG files")
struct PNGTests {
    @Test("a picture is written as a PNG of its size", arguments: [PixelFormat.i420, .nv12, .bgra])
    func header(format: PixelFormat) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try solidPicture(.red, 123, 45, format: format).writePNG(to: path)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try #require(bytes.count > 33)
        #expect(bytes[..<8] == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(bytes[12..<16] == [0x49, 0x48, 0x44, 0x52])
        #expect(bytes[16..<24] == [0, 0, 0, 123, 0, 0, 0, 45])
    }

    @Test("a path that cannot be written is an error that names it")
    func unwritable() {
        let path = "/nowhere/at/all.png"
        let error = #expect(throws: PNGError.self) { try solidPicture(.red, 16, 16).writePNG(to: path) }
        #expect(error?.description.contains(path) == true)
    }
}
