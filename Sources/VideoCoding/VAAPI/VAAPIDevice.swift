import Glibc

/// A device that encodes or decodes through VA-API: a GPU by its render node, or a driver that needs no device.
public enum VAAPIDevice: Hashable, Sendable {
    /// A DRM render node, such as `/dev/dri/renderD128`.
    case renderNode(path: String)
    /// A driver that needs no device, by the name that libva finds it under: `NAME_drv_video.so` in
    /// `LIBVA_DRIVERS_PATH`.
    case driver(name: String)

    /// The longest that a frame may take before its device counts as hung.
    package static let frameLimit = Duration.milliseconds(200)
    /// The same for a call before which a driver is loaded.
    package static let openingLimit = Duration.seconds(1)
    /// The same where nobody waits for it: several streams that begin at once open a driver in turn.
    static let asideLimit = Duration.seconds(5)

    private static let driverPrefix = "driver:"

    /// Reads a device from `/dev/dri/renderD128` or `driver:NAME`; nil for anything else.
    public init?(_ text: String) {
        if text.hasPrefix(Self.driverPrefix) {
            let name = String(text.dropFirst(Self.driverPrefix.count))
            guard !name.isEmpty else { return nil }
            self = .driver(name: name)
        } else {
            guard text.hasPrefix("/") else { return nil }
            self = .renderNode(path: text)
        }
    }

    /// The render nodes of this machine, by their number.
    public static var renderNodes: [VAAPIDevice] {
        let paths: [String] = (128..<192).map { "/dev/dri/renderD\($0)" }
        return paths.filter { path in access(path, F_OK) == 0 }.map { .renderNode(path: $0) }
    }
}

extension VAAPIDevice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .renderNode(let path): path
        case .driver(let name): Self.driverPrefix + name
        }
    }
}
