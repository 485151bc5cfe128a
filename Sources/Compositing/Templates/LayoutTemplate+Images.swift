extension LayoutTemplate {
    /// The images that a template names and that are missing; nil if none is.
    ///
    /// - Parameter path: The place of the template, which the issues' places begin with.
    public func error(ofImagesIn images: ImageLibrary, at path: String = "") -> LayoutTemplateError? {
        var named: [(path: String, image: String)] = []
        if case .image(let name) = background { named.append(("background.image", name)) }
        for (index, overlay) in overlays.enumerated() {
            if case .image(let name) = overlay.content { named.append(("overlays[\(index)].image", name)) }
        }
        let known = images.names.isEmpty ? "there are none" : "there are \(images.names.joined(separator: ", "))"
        return LayoutTemplateError(
            named.filter { images[$0.image] == nil }.map { place, name in
                LayoutTemplateError.Issue(
                    path: path.isEmpty ? place : "\(path).\(place)",
                    reason: "there is no image \"\(DisplayText(name).string)\"; \(known)")
            })
    }

    /// The overlays as they are drawn. Overlays whose image is missing are left out.
    func overlays(with images: ImageLibrary) -> [CompositionOverlay] {
        overlays.compactMap { overlay in
            let content: CompositionOverlay.Content? =
                switch overlay.content {
                case .text(let text): .text(text)
                case .clock(let utcOffset): .clock(utcOffset: utcOffset)
                case .image(let name): images[name].map { .image($0) }
                }
            return content.map {
                CompositionOverlay($0, anchor: overlay.anchor, height: overlay.height, opacity: overlay.opacity)
            }
        }
    }
}

extension LayoutTemplate.Background {
    /// The background to draw; the standard one if its image is missing.
    func resolved(with images: ImageLibrary) -> CompositionBackground {
        switch self {
        case .standard: .standard
        case .colour(let colour): .colour(colour.video)
        case .image(let name): images[name].map { .image($0) } ?? .standard
        }
    }
}
