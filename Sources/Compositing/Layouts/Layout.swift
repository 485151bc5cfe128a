public import MediaCore

/// The places of sources on a canvas: pure functions of participants, screen shares and speakers.
public enum Layout: Hashable, Sendable {
    /// All cameras in tiles of one size. With a screen share, this is `speaker`.
    case grid
    /// The newest screen share, or else the speaker, is large; the others are in a strip.
    case speaker
    /// Two sources fill half of the canvas each: the speaker and the speaker before, in the order of
    /// `LayoutScene.cameras`; or, on the left, the screen share, and the speaker.
    case sideBySide
    /// The speaker or the screen share fills the canvas; the next most important source is in its lower right corner.
    case pictureInPicture
    /// A participant is large, by its screen share or else its camera; the others are in a strip. If the participant
    /// has no picture, this is `speaker`.
    case pinned(ParticipantID)
    /// A participant fills the canvas, by its screen share or else its camera. If the participant has no picture, this
    /// is `speaker`.
    case solo(ParticipantID)
    /// A custom layout, with the images that it names.
    case template(LayoutTemplate, images: ImageLibrary = ImageLibrary())
}

extension Layout {
    /// The tiles, in painting order. Positions and sizes are even; all lie on the canvas. No tile covers another,
    /// except the small tile of `pictureInPicture`; slots of a template may overlap.
    ///
    /// - Parameter fit: The fit of cameras. In the halves of `sideBySide` cameras always fill their tiles; screen
    ///   shares are always shown whole.
    public func layers(
        of scene: LayoutScene, canvas: VideoDimensions, fit: LayerFit.Mode = .contain
    ) -> [CompositionLayer] {
        var layers = containedLayers(of: scene, canvas: canvas)
        if fit == .cover {
            for index in layers.indices where layers[index].source.content == .camera {
                layers[index].fit.mode = .cover
            }
        }
        return layers
    }

    /// The view: the layers on the compositor's default background, or on a template's background with its overlays.
    public func view(
        of scene: LayoutScene, canvas: VideoDimensions, fit: LayerFit.Mode = .contain
    ) -> CompositionView {
        let layers = layers(of: scene, canvas: canvas, fit: fit)
        guard case .template(let template, let images) = self else { return CompositionView(layers: layers) }
        return CompositionView(
            background: template.background.resolved(with: images), layers: layers,
            overlays: template.overlays(with: images))
    }

    private func containedLayers(of scene: LayoutScene, canvas: VideoDimensions) -> [CompositionLayer] {
        switch self {
        case .grid:
            return scene.presenters.isEmpty
                ? GridLayout.layers(scene.cameras.map(SourceID.camera), canvas: canvas)
                : Layout.speaker.containedLayers(of: scene, canvas: canvas)
        case .speaker:
            guard let leading = scene.leadingSource else { return [] }
            return StripLayout.layers(large: leading, scene: scene, canvas: canvas)
        case .sideBySide:
            return PairLayout.sideBySide(scene, canvas: canvas)
        case .pictureInPicture:
            return PairLayout.pictureInPicture(scene, canvas: canvas)
        case .pinned(let participant):
            guard let pinned = scene.principalSource(of: participant) else { break }
            return StripLayout.layers(large: pinned, scene: scene, canvas: canvas)
        case .solo(let participant):
            guard let only = scene.principalSource(of: participant) else { break }
            return PairLayout.whole(canvas).map { [CompositionLayer(source: only, rect: $0)] } ?? []
        case .template(let template, _):
            return TemplateLayout(template, scene: scene, canvas: canvas).layers
        }
        return Layout.speaker.containedLayers(of: scene, canvas: canvas)
    }
}

extension LayoutScene {
    /// All sources: the screen shares, then the cameras.
    var sources: [SourceID] { presenters.map(SourceID.screenShare) + cameras.map(SourceID.camera) }

    /// The newest screen share, or else the speaker.
    var leadingSource: SourceID? {
        presenters.last.map(SourceID.screenShare) ?? camerasByImportance.first.map(SourceID.camera)
    }
}
