import MediaCore

extension TileCompositor {
    /// What a tile shows, to tell whether it has changed. Pictures are compared by identity.
    enum Content: Equatable {
        /// Nothing: the source is unknown.
        case none
        case placeholder(name: String)
        case picture(PixelBuffer, rotation: VideoRotation, isStale: Bool)

        init(_ source: CompositionSource) {
            self =
                switch source.content {
                case .placeholder: .placeholder(name: source.name)
                case .picture(let picture, let rotation, let isStale):
                    .picture(picture, rotation: rotation, isStale: isStale)
                }
        }

        static func == (left: Content, right: Content) -> Bool {
            switch (left, right) {
            case (.none, .none): true
            case (.placeholder(let left), .placeholder(let right)): left == right
            case (
                .picture(let left, let leftRotation, let leftIsStale),
                .picture(let right, let rightRotation, let rightIsStale)
            ):
                left === right && leftRotation == rightRotation && leftIsStale == rightIsStale
            default: false
            }
        }
    }

    /// What a tile looks like, to tell whether it has changed.
    struct Appearance: Equatable {
        var content: Content
        var label: DrawnLabel?
        var isSpeaking = false

        static let nothing = Appearance(content: .none)
    }

    /// A source in a tile of this size.
    struct TileKey: Hashable {
        var source: SourceID
        var width: Int
        var height: Int
        var fit: LayerFit
    }

    /// A tile on a finished canvas, to copy from.
    struct FinishedTile {
        var appearance: Appearance
        var canvas: PixelBuffer
        var rect: PixelRect
    }

    /// A tile to paint: the part `crop` of the picture, turned, goes into `fitted`; the rest of `rect` is black.
    struct Drawing {
        var key: TileKey
        var appearance: Appearance
        var picture: PixelBuffer
        var crop: PixelRect
        var rotation = VideoRotation.none
        var isDimmed = false
        var rect: PixelRect
        var fitted: PixelRect
    }

    /// A finished canvas and what it was made from.
    struct Canvas {
        var picture: PixelBuffer
        var appearances: [Appearance]
        var finishedTiles: [(key: TileKey, tile: FinishedTile)]
    }

    /// A picture of another format and what it became.
    struct Conversion {
        var original: PixelBuffer
        var result: PixelBuffer
    }

    /// One call's work so far, and what is left from the call before.
    struct Pass {
        let previousTiles: [TileKey: FinishedTile]
        let previousConversions: [SourceID: Conversion]
        var canvases: [CompositionRequest: Canvas] = [:]
        var tiles: [TileKey: FinishedTile] = [:]
        var conversions: [SourceID: Conversion] = [:]

        init(previousTiles: [TileKey: FinishedTile], previousConversions: [SourceID: Conversion]) {
            self.previousTiles = previousTiles
            self.previousConversions = previousConversions
        }

        mutating func add(_ canvas: Canvas, for request: CompositionRequest) {
            canvases[request] = canvas
            for (key, tile) in canvas.finishedTiles where tiles[key] == nil { tiles[key] = tile }
        }

        func finishedTile(_ key: TileKey) -> FinishedTile? { tiles[key] ?? previousTiles[key] }

        mutating func conversion(of picture: PixelBuffer, from source: SourceID) -> PixelBuffer? {
            if let conversion = conversions[source], conversion.original === picture { return conversion.result }
            guard let conversion = previousConversions[source], conversion.original === picture else { return nil }
            conversions[source] = conversion
            return conversion.result
        }
    }
}
