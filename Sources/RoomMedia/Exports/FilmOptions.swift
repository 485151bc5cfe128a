public import MediaCore
public import MediaFiles
public import RoomAPI

/// The options for making a film, after they were checked.
public struct FilmOptions: Sendable {
    public static let defaultCanvas = VideoDimensions(width: 1280, height: 720)
    public static let defaultFrameRate = 30
    private static let defaultBitRate = BitRate.megabits(1)
    private static let sides = 64...4096
    private static let frameRates = 1...60
    /// The bitrates that x264 takes, with room to spare.
    private static let bitRates = 10_000...1_000_000_000

    public let canvas: VideoDimensions
    public let frameRate: Int
    /// Nil: as the room was.
    public let layout: LayoutMode?
    public let target: ExportSettings.Target

    /// - Throws: `FilmOptionError` for the first option that is not possible.
    public init(_ request: ExportRequest) throws(FilmOptionError) {
        canvas = try Self.canvas(request.canvas)
        frameRate = request.frameRate ?? Self.defaultFrameRate
        guard Self.frameRates.contains(frameRate) else {
            throw FilmOptionError("frameRate", "\(frameRate)", "choose 1 to 60 pictures a second")
        }
        layout = try Self.layout(request.layout)
        target = try Self.target(request)
    }

    public var settings: ExportSettings { ExportSettings(dimensions: canvas, frameRate: frameRate, target: target) }

    private static func canvas(_ text: String?) throws(FilmOptionError) -> VideoDimensions {
        guard let text else { return defaultCanvas }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], width.isMultiple(of: 2),
            height.isMultiple(of: 2), Self.sides.contains(width), Self.sides.contains(height)
        else {
            throw FilmOptionError(
                "canvas", text, "choose WIDTHxHEIGHT such as 1280x720, both numbers even and from 64 to 4096")
        }
        return VideoDimensions(width: width, height: height)
    }

    private static func layout(_ text: String?) throws(FilmOptionError) -> LayoutMode? {
        guard let text else { return nil }
        let names = LayoutMode.Name.builtIn.filter { !$0.isAboutParticipant }
        guard let name = names.first(where: { $0.rawValue == text }), let layout = LayoutMode(name) else {
            throw FilmOptionError("layout", text, "choose \(names.map(\.rawValue).joined(separator: ", "))")
        }
        return layout
    }

    private static func target(_ request: ExportRequest) throws(FilmOptionError) -> ExportSettings.Target {
        let given = [
            request.bitrate.map { ("bitrate", "\($0)") }, request.size.map { ("size", "\($0)") },
            request.quality.map { ("quality", "\($0)") },
        ].compactMap { $0 }
        if given.count > 1 {
            let (name, value) = given[1]
            throw FilmOptionError(
                name, value, "bitrate, size and quality exclude each other; give one of them")
        }
        if let rate = request.bitrate {
            guard bitRates.contains(rate) else {
                throw FilmOptionError("bitrate", "\(rate)", "choose 10000 to 1000000000 bits a second")
            }
            return .bitRate(BitRate(bitsPerSecond: Double(rate)))
        }
        if let size = request.size {
            guard size > 0 else { throw FilmOptionError("size", "\(size)", "choose more than 0 bytes") }
            return .size(DataSize(bytes: size))
        }
        if let quality = request.quality {
            guard (0...1).contains(quality) else { throw FilmOptionError("quality", "\(quality)", "choose 0 to 1") }
            return .quality(quality)
        }
        return .bitRate(defaultBitRate)
    }
}

/// An option of a film that is not possible.
public struct FilmOptionError: Error, Equatable, CustomStringConvertible {
    /// The option as JSON names it.
    public let option: String
    public let value: String
    /// The advice to the user.
    public let advice: String

    init(_ option: String, _ value: String, _ advice: String) {
        self.option = option
        self.value = value
        self.advice = advice
    }

    public var description: String { "\"\(option)\" \(value) is not possible: \(advice)" }
}
