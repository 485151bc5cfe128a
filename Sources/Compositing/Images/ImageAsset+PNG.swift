import CPangoCairo
import Glibc
public import MediaCore

/// The reason for which an image was refused.
public enum ImageAssetError: Error, Hashable {
    /// The image has more bytes than allowed.
    case tooManyBytes(limit: DataSize)
    /// The data does not begin with a PNG signature.
    case notPNG
    /// The image has more samples a side than allowed, or none.
    case unsupportedSize(width: Int, height: Int)
    /// The signature is that of a PNG, but the rest cannot be read.
    case damaged(reason: String)
    /// The file does not exist or cannot be read.
    case cannotRead(path: String, reason: String)
}

extension ImageAssetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooManyBytes(let limit):
            "the image is too large a file: save it with fewer samples or colours, in at most \(limit.bytes) bytes"
        case .notPNG:
            "this is not a PNG; save the image as one"
        case .unsupportedSize(let width, let height):
            "an image of \(width)x\(height) is not possible: make it 1 to \(ImageAsset.maximumSide) samples a side"
        case .damaged(let reason):
            "the PNG cannot be read (\(reason)); save it anew"
        case .cannotRead(let path, let reason):
            "\(path) cannot be read: \(reason)"
        }
    }
}

extension ImageAsset {
    /// The most bytes that a PNG may have.
    public static let maximumSize = DataSize(bytes: 4 << 20)
    /// The most samples that an image may have a side.
    public static let maximumSide = 4096

    /// Reads a PNG (ISO/IEC 15948) from memory.
    ///
    /// The size is checked before anything is unpacked, so that a few bytes cannot fill the memory.
    ///
    /// - Parameter side: The largest side in samples: a larger image is scaled down. Nil keeps the size.
    public convenience init(name: String, png: [UInt8], scaledTo side: Int? = nil) throws(ImageAssetError) {
        guard png.count <= Self.maximumSize.bytes else { throw .tooManyBytes(limit: Self.maximumSize) }
        guard let header = PNGHeader(png) else { throw .notPNG }
        guard (1...Self.maximumSide).contains(header.width), (1...Self.maximumSide).contains(header.height) else {
            throw .unsupportedSize(width: header.width, height: header.height)
        }
        let surface = PNGReader.surface(png)
        defer { cairo_surface_destroy(surface) }
        let status = cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .damaged(reason: String(cString: cairo_status_to_string(status)))
        }
        let size = VideoDimensions(
            width: Int(cairo_image_surface_get_width(surface)), height: Int(cairo_image_surface_get_height(surface)))
        guard let picture = Self.picture(of: surface, size: size, scaledTo: side) else {
            throw .damaged(reason: "there is no memory for it")
        }
        self.init(name: name, picture: picture)
    }

    /// Reads a PNG file, waiting for the disk.
    public convenience init(name: String, contentsOfPNG path: String) throws(ImageAssetError) {
        try self.init(name: name, png: Self.contents(of: path))
    }

    /// The surface's picture as BGRA, for any format in which cairo has read it.
    private static func picture(of surface: OpaquePointer?, size: VideoDimensions, scaledTo side: Int?) -> PixelBuffer?
    {
        let largest = max(size.width, size.height)
        let scale = side.map { min(1, Double(max($0, 1)) / Double(largest)) } ?? 1
        let target = VideoDimensions(
            width: max(1, Int((Double(size.width) * scale).rounded())),
            height: max(1, Int((Double(size.height) * scale).rounded())))
        return BGRACanvas.draw(target) { context in
            cairo_scale(
                context, Double(target.width) / Double(size.width), Double(target.height) / Double(size.height))
            cairo_set_source_surface(context, surface, 0, 0)
            let pattern = cairo_get_source(context)
            cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
            cairo_pattern_set_filter(pattern, CAIRO_FILTER_GOOD)
            cairo_paint(context)
        }
    }

    /// A file's bytes, one more at most than an image may have.
    private static func contents(of path: String) throws(ImageAssetError) -> [UInt8] {
        guard let file = fopen(path, "rb") else {
            throw .cannotRead(path: path, reason: String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= maximumSize.bytes {
            let count = fread(&part, 1, part.count, file)
            bytes += part[..<count]
            if count < part.count { break }
        }
        guard ferror(file) == 0 else {
            throw .cannotRead(path: path, reason: String(cString: strerror(errno)))
        }
        return bytes
    }
}

/// The fields of a PNG before its packed data (ISO/IEC 15948, 5.2 and 11.2.2).
private struct PNGHeader {
    var width: Int
    var height: Int

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The header's chunk: its length, 13 bytes, and its type.
    private static let chunk: [UInt8] = [0, 0, 0, 13] + Array("IHDR".utf8)

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 33, bytes.starts(with: Self.signature + Self.chunk) else { return nil }
        func number(at index: Int) -> Int { bytes[index..<(index + 4)].reduce(0) { $0 << 8 | Int($1) } }
        width = number(at: 16)
        height = number(at: 20)
    }
}

/// Hands cairo a PNG's bytes as it asks for them.
private struct PNGReader {
    private var rest: UnsafeRawBufferPointer

    /// A surface, which the caller destroys; its status says whether it was read.
    static func surface(_ png: [UInt8]) -> OpaquePointer? {
        png.withUnsafeBytes { bytes in
            var reader = PNGReader(rest: bytes)
            return withUnsafeMutablePointer(to: &reader) { pointer in
                cairo_image_surface_create_from_png_stream(
                    { reader, target, count in
                        guard let reader = reader?.assumingMemoryBound(to: PNGReader.self), let target,
                            reader.pointee.read(into: target, count: Int(count))
                        else { return CAIRO_STATUS_READ_ERROR }
                        return CAIRO_STATUS_SUCCESS
                    }, pointer)
            }
        }
    }

    private mutating func read(into target: UnsafeMutablePointer<UInt8>, count: Int) -> Bool {
        guard count <= rest.count else { return false }
        guard count > 0, let base = rest.baseAddress else { return true }
        memcpy(target, base, count)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        return true
    }
}
