public import MediaCore

/// Where sources stand on a canvas: pure functions of who is there, who presents and who speaks.
public enum Layout: Hashable, Sendable {
    /// All cameras in tiles of one size. While someone presents it is `presentation`.
    case grid
    /// The camera of who speaks is large, the others stand in a strip. While someone presents it is `presentation`.
    case speaker
    /// Two sources fill half of the canvas each: who speaks and who spoke before, in the order of
    /// `LayoutScene.cameras`; or, left, what is presented, and who speaks.
    case sideBySide
    /// Who speaks, or what is presented, takes the whole canvas; the next in importance stands in its lower right
    /// corner.
    case pictureInPicture
    /// What is presented, the newest where several present, is large; the others stand in a strip. Where nobody
    /// presents it is `speaker`.
    case presentation
    /// A participant is large: what they present or else their camera; the others stand in a strip. Where they are not
    /// to be seen it is `speaker`.
    case pinned(ParticipantID)
    /// A participant takes the whole canvas: what they present or else their camera. Where they are not to be seen it
    /// is `speaker`.
    case solo(ParticipantID)
    /// A layout of one's own, and the images that it refers to.
    case template(LayoutTemplate, images: ImageLibrary = ImageLibrary())
}

extension Layout {
    /// The tiles, to be painted in this order. Positions and sizes are even; all lie on the canvas. None covers
    /// another, except that the small tile of `pictureInPicture` lies within the large one; in a template slots may lie
    /// anywhere.
    ///
    /// - Parameter fit: How cameras take their tiles; in the halves of `sideBySide` they fill them anyway. Of a screen
    ///   all is seen always.
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

    /// What is to be seen: the layers on the background that a compositor has by default, or a template's own with its
    /// overlays.
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
                : Layout.presentation.containedLayers(of: scene, canvas: canvas)
        case .speaker, .presentation:
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
    /// The newest screen share, or else the speaker.
    var leadingSource: SourceID? {
        presenters.last.map(SourceID.screenShare) ?? camerasByImportance.first.map(SourceID.camera)
    }
}
