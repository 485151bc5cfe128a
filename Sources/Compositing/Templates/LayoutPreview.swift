public import MediaCore

/// Imaginary participants for a preview of a layout.
public struct LayoutPreview: Sendable {
    /// The shape of the cameras' pictures.
    public enum Shape: String, Codable, Hashable, Sendable, CaseIterable {
        case landscape, portrait
        case fourByThree = "4:3"

        var dimensions: VideoDimensions {
            switch self {
            case .landscape: VideoDimensions(width: 960, height: 540)
            case .portrait: VideoDimensions(width: 540, height: 960)
            case .fourByThree: VideoDimensions(width: 720, height: 540)
            }
        }
    }

    /// The most participants that can be shown.
    public static let maximumCount = 64
    private static let names = [
        "Ada", "Ben", "Cy", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Oda", "Pia",
    ]

    /// The participants, numbered from 1 in the order of joining.
    public let scene: LayoutScene
    private let shape: Shape

    /// - Parameters:
    ///   - participants: The number of participants, at most `maximumCount`.
    ///   - screens: The number of participants that share a screen; the first ones, the newest last.
    ///   - speakers: The participants that spoke, the newest first, by their numbers from 1; others do not count.
    ///   - names: The names of the first participants.
    public init(
        participants: Int, screens: Int = 0, speakers: [Int] = [], names: [String] = [], shape: Shape = .landscape
    ) {
        let count = min(max(participants, 0), Self.maximumCount)
        let cameras = (0..<count).map { ParticipantID(rawValue: UInt64($0 + 1)) }
        var called: [ParticipantID: String] = [:]
        for (index, camera) in cameras.enumerated() {
            called[camera] =
                index < names.count ? names[index] : index < Self.names.count ? Self.names[index] : "Guest \(index + 1)"
        }
        scene = LayoutScene(
            cameras: cameras, presenters: Array(cameras.prefix(max(screens, 0))),
            speakers: speakers.filter { (1...max(count, 1)).contains($0) }.compactMap { number in
                cameras.indices.contains(number - 1) ? cameras[number - 1] : nil
            }, names: called)
        self.shape = shape
    }

    public func name(of participant: ParticipantID) -> String { scene.names[participant] ?? "" }

    /// Draws the layout with these participants (I420). Canvases have at least 2 samples a side.
    ///
    /// - Parameter wallClock: The time that clocks show, in Unix seconds.
    public func picture(of layout: Layout, canvas: VideoDimensions, wallClock: Int64? = nil) -> PixelBuffer? {
        let view = layout.view(of: scene, canvas: canvas)
        let instruction = CompositionInstruction(
            timeRange: .all, background: view.background,
            layers: view.layers, overlays: view.overlays)
        let inputs = CompositionInputs(sources: sources(of: view), wallClock: wallClock)
        let request = CompositionRequest(canvas: canvas, instruction: instruction)
        let renderer = CompositionRenderer()
        var picture: PixelBuffer?
        // Labels and overlays are drawn a few at a time: each further picture has more of them, until all are there.
        for _ in 0..<(view.layers.count + view.overlays.count + 1) {
            picture = renderer.render([request], inputs: inputs, at: .zero).first?.picture
        }
        return picture
    }

    private func sources(of view: CompositionView) -> [SourceID: CompositionSource] {
        var sources: [SourceID: CompositionSource] = [:]
        for source in Set(view.layers.map(\.source)) {
            let name = name(of: source.participant)
            let picture =
                source.content == .camera
                ? PreviewPictures.person(named: name, size: shape.dimensions) : PreviewPictures.screen
            sources[source] = CompositionSource(
                id: source, name: name, content: .picture(picture, isStale: false),
                decoration: TileDecoration(
                    icons: source.content == .screenShare ? .screen : [],
                    isSpeaking: source.content == .camera && scene.speakers.first == source.participant))
        }
        return sources
    }
}
