import ArgumentParser
import MediaCore
import RoomAPI

/// The picture of a room that goes into a file or a stream.
struct CompositeOptions: ParsableArguments {
    @Option(help: "Layout; by default the room's.")
    var layout: CompositeLayout?

    @Option(
        help: ArgumentHelp(
            "Size of the picture, such as 1280x720: \(CompositeSettings.sizeRule); by default the relay's.",
            valueName: "SIZE"))
    var size: CompositeSize?

    @Option(help: ArgumentHelp("Bitrate of the video, 100k to 20M; by default the relay's most.", valueName: "RATE"))
    var bitrate: BitRateArgument?

    func validate() throws {
        guard let bitrate, !CompositeSettings.bitRates.contains(bitrate.bitRate) else { return }
        throw ValidationError("give a --bitrate of 100k to 20M")
    }

    var isEmpty: Bool { settings == CompositeSettings() }

    var settings: CompositeSettings {
        CompositeSettings(
            layout: ParticipantLayout(layout.flatMap { LayoutMode($0.name) }), size: size?.dimensions,
            bitRate: bitrate?.bitRate)
    }

    /// A layout that names nobody.
    struct CompositeLayout: ExpressibleByArgument {
        let name: LayoutMode.Name

        private static let names = LayoutMode.Name.builtIn.filter { !$0.isAboutParticipant }

        static var allValueStrings: [String] { names.map(\.rawValue) }

        init?(argument: String) {
            guard let name = Self.names.first(where: { $0.rawValue == argument }) else { return nil }
            self.name = name
        }
    }

    struct CompositeSize: ExpressibleByArgument {
        let dimensions: VideoDimensions

        init?(argument: String) {
            guard let dimensions = CompositeSettings.size(argument) else { return nil }
            self.dimensions = dimensions
        }
    }
}
