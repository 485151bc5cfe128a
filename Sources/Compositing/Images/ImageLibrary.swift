import Glibc

/// Images that rooms and templates refer to by name.
public struct ImageLibrary: Hashable, Sendable {
    private var images: [String: ImageAsset] = [:]

    /// The most images that are taken from a folder.
    public static let maximumCount = 256

    /// Makes a library. Of two images with one name the last one is used.
    public init(_ images: [ImageAsset] = []) {
        for image in images { self.images[image.name] = image }
    }

    /// Reads all `*.png` in a folder, each named as its file is without `.png`. Waits for the disk.
    public init(folder: String) throws(ImageLibraryError) {
        guard let directory = opendir(folder) else {
            throw .cannotRead(folder: folder, reason: String(cString: strerror(errno)))
        }
        defer { closedir(directory) }
        var files: [String] = []
        while let entry = readdir(directory) {
            let file = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if file.hasSuffix(".png"), !file.hasPrefix(".") { files.append(file) }
        }
        guard files.count <= Self.maximumCount else { throw .tooMany(folder: folder, count: files.count) }
        for file in files.sorted() {
            let name = String(file.dropLast(4))
            do {
                images[name] = try ImageAsset(name: name, contentsOfPNG: "\(folder)/\(file)")
            } catch {
                throw .image(path: "\(folder)/\(file)", error)
            }
        }
    }

    public subscript(name: String) -> ImageAsset? { images[name] }

    /// The images' names in alphabetical order.
    public var names: [String] { images.keys.sorted() }
}

/// The reason for which a folder of images was refused.
public enum ImageLibraryError: Error, Hashable {
    /// The folder does not exist or cannot be read.
    case cannotRead(folder: String, reason: String)
    /// The folder has too many images.
    case tooMany(folder: String, count: Int)
    /// One of the folder's images is not accepted.
    case image(path: String, ImageAssetError)
}

extension ImageLibraryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotRead(let folder, let reason):
            "the folder \(folder) cannot be read: \(reason)"
        case .tooMany(let folder, let count):
            "the folder \(folder) has \(count) images; keep at most \(ImageLibrary.maximumCount) there"
        case .image(_, .cannotRead(let path, let reason)):
            "\(path) cannot be read: \(reason)"
        case .image(let path, let error):
            "\(path): \(error)"
        }
    }
}
