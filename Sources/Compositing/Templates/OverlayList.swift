/// Logos, lines of text, clocks and watermarks above a room's picture, in this order.
///
/// As JSON it is a list like a template's `overlays`: `[{"image":"logo","anchor":"top-right","height":0.1}]`. A
/// watermark is an image or a text of little opacity.
public struct OverlayList: Hashable, Sendable {
    public var overlays: [LayoutTemplate.Overlay]

    public init(_ overlays: [LayoutTemplate.Overlay] = []) {
        self.overlays = overlays
    }

    /// The images that are named and missing; nil if none is.
    public func error(ofImagesIn images: ImageLibrary) -> LayoutTemplateError? {
        let template = LayoutTemplate(arrangements: [], overlays: overlays)
        guard let error = template.error(ofImagesIn: images) else { return nil }
        let prefix = "overlays"
        return LayoutTemplateError(
            error.issues.map { issue in
                // The list is the whole document.
                let path = issue.path.hasPrefix(prefix) ? String(issue.path.dropFirst(prefix.count)) : issue.path
                return LayoutTemplateError.Issue(path: path, reason: issue.reason)
            })
    }

    /// The overlays as they are drawn. Overlays whose image is missing are left out.
    public func resolved(with images: ImageLibrary) -> [CompositionOverlay] {
        LayoutTemplate(arrangements: [], overlays: overlays).overlays(with: images)
    }
}

extension OverlayList: Codable {
    /// Reads a list, strictly.
    ///
    /// - Throws: A `LayoutTemplateError` that lists all mistakes, with paths that begin with the decoder's own.
    public init(from decoder: any Decoder) throws {
        var reader = TemplateReader()
        let overlays = reader.overlays(try TemplateValue(from: decoder), at: decoder.codingPath.jsonPath)
        if let error = LayoutTemplateError(reader.issues) { throw error }
        self.init(overlays)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(overlays)
    }
}
