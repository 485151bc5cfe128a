import Foundation
import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Images")
struct ImageAssetTests {
    /// A folder that is gone with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "images-\(UUID())").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func png(_ image: ImageAsset) throws -> [UInt8] {
            let file = "\(path)/\(image.name).png"
            try image.picture.writePNG(to: file)
            return [UInt8](try Data(contentsOf: URL(filePath: file)))
        }
    }

    /// 2x2: opaque red, half green; transparent, opaque blue.
    private static let transparent =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        + PNGMaker.chunk("IHDR", [0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0])
        + PNGMaker.chunk("IDAT", PNGMaker.stored([0, 255, 0, 0, 255, 0, 255, 0, 128, 0, 9, 9, 9, 0, 0, 0, 255, 255]))
        + PNGMaker.chunk("IEND", [])

    private func bytes(_ picture: PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
        picture.withPlane(0) { bytes, stride in Array(bytes[(y * stride + 4 * x)..<(y * stride + 4 * x + 4)]) }
    }

    @Test("a PNG becomes BGRA with colours multiplied by alpha")
    func premultiplied() throws {
        let picture = try ImageAsset(name: "a", png: Self.transparent).picture
        #expect(picture.format == .bgra)
        #expect(picture.dimensions == VideoDimensions(width: 2, height: 2))
        #expect(bytes(picture, 0, 0) == [0, 0, 255, 255])
        #expect(bytes(picture, 1, 0) == [0, 128, 0, 128])
        #expect(bytes(picture, 0, 1) == [0, 0, 0, 0])
        #expect(bytes(picture, 1, 1) == [255, 0, 0, 255])
    }

    @Test("an image without transparency is opaque, and one that is too large for its use is scaled down in its shape")
    func scaled() throws {
        let folder = try Folder()
        let png = try folder.png(.solid("wide", 300, 100))
        let whole = try ImageAsset(name: "wide", png: png).picture
        #expect(whole.dimensions == VideoDimensions(width: 300, height: 100))
        #expect(bytes(whole, 299, 99) == [200, 120, 40, 255])
        let small = try ImageAsset(name: "wide", png: png, scaledTo: 60).picture
        #expect(small.dimensions == VideoDimensions(width: 60, height: 20))
        for (x, y) in [(0, 0), (59, 0), (30, 10), (59, 19)] { #expect(bytes(small, x, y) == [200, 120, 40, 255]) }
        #expect(
            try ImageAsset(name: "wide", png: png, scaledTo: 1000).picture.dimensions
                == VideoDimensions(width: 300, height: 100))
    }

    @Test("files that are no PNG, too large or cut off are refused with a reason")
    func refused() throws {
        #expect(throws: ImageAssetError.notPNG) { try ImageAsset(name: "a", png: []) }
        #expect(throws: ImageAssetError.notPNG) { try ImageAsset(name: "a", png: Array("GIF89a".utf8)) }
        #expect(throws: ImageAssetError.tooManyBytes(limit: ImageAsset.maximumSize)) {
            try ImageAsset(name: "a", png: [UInt8](repeating: 0, count: (4 << 20) + 1))
        }
        var huge = Self.transparent
        huge.replaceSubrange(16..<24, with: [0, 0, 0x10, 1, 0, 0, 0, 1])
        #expect(throws: ImageAssetError.unsupportedSize(width: 4097, height: 1)) {
            try ImageAsset(name: "a", png: huge)
        }
        huge.replaceSubrange(16..<24, with: [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        #expect(throws: ImageAssetError.unsupportedSize(width: 4_294_967_295, height: 0)) {
            try ImageAsset(name: "a", png: huge)
        }
        #expect {
            try ImageAsset(name: "a", png: Self.transparent.dropLast(20))
        } throws: { error in
            if case .damaged(let reason)? = error as? ImageAssetError { !reason.isEmpty } else { false }
        }
        #expect {
            try ImageAsset(name: "a", contentsOfPNG: "/nowhere/a.png")
        } throws: { "\($0)".hasPrefix("/nowhere/a.png cannot be read: ") }
    }

    @Test("hostile bytes never trap, and never become an image larger than they say")
    func hostile() throws {
        let folder = try Folder()
        let seeds = [Self.transparent, try folder.png(.solid("a", 31, 17)), try folder.png(.solid("b", 1, 1))]
        var random = SeededGenerator(seed: 11)
        var accepted = 0
        for round in 0..<6000 {
            var bytes = seeds[round % seeds.count]
            // Most changes are in the compressed data, with matching checksums, so that decoding gets as far as
            // possible.
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: round % 4 == 0 ? 0..<bytes.count : 16..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                } else if Bool.random(using: &random) {
                    bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                } else {
                    bytes.remove(at: index)
                    if bytes.count < 40 { break }
                }
            }
            if round % 2 == 0 { PNGMaker.fixChecksums(&bytes) }
            if let image = try? ImageAsset(name: "x", png: bytes, scaledTo: round % 3 == 0 ? 8 : nil) {
                accepted += 1
                #expect((1...ImageAsset.maximumSide).contains(image.picture.dimensions.width))
                #expect((1...ImageAsset.maximumSide).contains(image.picture.dimensions.height))
            }
        }
        #expect(accepted > 0)
    }

    @Test("a folder's PNGs are a library, named as their files")
    func library() throws {
        let folder = try Folder()
        for image in [ImageAsset.solid("logo", 4, 4), .solid("back ground", 8, 4)] { _ = try folder.png(image) }
        try Data("x".utf8).write(to: URL(filePath: folder.path + "/notes.txt"))
        let library = try ImageLibrary(folder: folder.path)
        #expect(library.names == ["back ground", "logo"])
        #expect(library["logo"]?.picture.dimensions == VideoDimensions(width: 4, height: 4))
        #expect(library["Logo"] == nil)

        try Data("x".utf8).write(to: URL(filePath: folder.path + "/bad.png"))
        #expect(throws: ImageLibraryError.image(path: folder.path + "/bad.png", .notPNG)) {
            try ImageLibrary(folder: folder.path)
        }
        #expect {
            try ImageLibrary(folder: "/nowhere")
        } throws: { "\($0)".hasPrefix("the folder /nowhere cannot be read: ") }
    }
}

/// Makes PNGs by hand.
enum PNGMaker {
    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return number(UInt32(data.count)) + body + number(crc(body))
    }

    /// A zlib stream of one block that is not packed.
    static func stored(_ data: [UInt8]) -> [UInt8] {
        let count = UInt16(data.count)
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in data {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return [0x78, 0x01, 0x01, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)]
            + data + number(b << 16 | a)
    }

    /// Gives every complete chunk the right checksum.
    static func fixChecksums(_ png: inout [UInt8]) {
        var index = 8
        while index + 12 <= png.count {
            let length = png[index..<(index + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= png.count - index - 12 else { return }
            let end = index + 8 + length
            png.replaceSubrange(end..<(end + 4), with: number(crc(Array(png[(index + 4)..<end]))))
            index = end + 4
        }
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }
}
