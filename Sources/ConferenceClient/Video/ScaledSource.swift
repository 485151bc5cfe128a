import Compositing
public import MediaCore

/// Scales the pictures of another source to a size, letterboxed. Encoded frames pass unchanged.
public final class ScaledSource: VideoSource {
    public let dimensions: VideoDimensions
    public var frameRate: Double { source.frameRate }
    public var isLive: Bool { source.isLive }

    private let source: any VideoSource
    private let renderer = CompositionRenderer()
    private let request: CompositionRequest

    /// - Parameter dimensions: Rounded down to even numbers, at least 16x16.
    public init(_ source: any VideoSource, dimensions: VideoDimensions) {
        let size = VideoDimensions(
            width: max(16, dimensions.width / 2 * 2), height: max(16, dimensions.height / 2 * 2))
        self.source = source
        self.dimensions = size
        request = CompositionRequest(
            canvas: size, layers: [CompositionLayer(source: Self.id, rect: PixelRect(size))])
    }

    private static let id = SourceID.camera(ParticipantID(rawValue: 0))

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        var frame = try source.nextFrame(wallClockMilliseconds: wallClockMilliseconds)
        guard case .picture(let picture) = frame.content, picture.dimensions != dimensions else { return frame }
        let content = CompositionSource(id: Self.id, name: "", content: .picture(picture, isStale: false))
        let inputs = CompositionInputs(sources: [Self.id: content])
        if let scaled = renderer.render([request], inputs: inputs, at: .zero).first {
            frame.content = .picture(scaled.picture)
        }
        return frame
    }

    public func skipToSyncFrame() { source.skipToSyncFrame() }
}
