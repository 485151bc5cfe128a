public import MediaCore

/// An explanation of a layout for a scene: the source of each place, and the reason.
public struct LayoutExplanation: Hashable, Sendable {
    /// A place on the canvas.
    public struct Place: Hashable, Sendable {
        /// The slot's name in a template; elsewhere "tile" and a number.
        public var name: String
        /// The slot's part of the picture; nil if the slot has given its place to another or has no room.
        public var rect: PixelRect?
        /// The place's source; nil if it shows nobody.
        public var source: SourceID?
        /// The reason for this source, or for no source.
        public var reason: String
    }

    /// The index of the template's arrangement that is used; nil if none fits, and in layouts without arrangements.
    public var arrangement: Int?
    /// The slots' places, in the order in which the slots choose.
    public var places: [Place]
    /// The participants that are not seen.
    public var notShown: [SourceID]
}

extension Layout {
    /// Explains the view of a scene on a canvas.
    public func explanation(of scene: LayoutScene, canvas: VideoDimensions) -> LayoutExplanation {
        if case .template(let template, _) = self {
            return TemplateLayout(template, scene: scene, canvas: canvas).explanation(of: scene)
        }
        let layers = layers(of: scene, canvas: canvas)
        let places = layers.enumerated().map { index, layer in
            LayoutExplanation.Place(
                name: "tile \(index + 1)", rect: layer.rect, source: layer.source,
                reason: reason(for: layer.source, in: scene))
        }
        let shown = Set(layers.map(\.source))
        return LayoutExplanation(places: places, notShown: scene.sources.filter { !shown.contains($0) })
    }

    private func reason(for source: SourceID, in scene: LayoutScene) -> String {
        switch self {
        case .pinned(let participant) where scene.principalSource(of: participant) == source: "is pinned"
        case .solo(let participant) where scene.principalSource(of: participant) == source: "is to be seen alone"
        case .grid where scene.presenters.isEmpty: "by the order of joining"
        default: scene.standing(of: source)
        }
    }
}

extension LayoutScene {
    /// The reason of a source's importance.
    fileprivate func standing(of source: SourceID) -> String {
        switch source.content {
        case .screenShare:
            presenters.last == source.participant ? "is the newest screen share" : "is an earlier screen share"
        case .camera:
            switch speakers.filter(cameras.contains).firstIndex(of: source.participant) {
            case 0?: "speaks, or spoke last"
            case 1?: "spoke before the speaker"
            case .some: "spoke some time ago"
            case nil:
                speakers.contains(where: cameras.contains) || cameras.first != source.participant
                    ? "by the order of joining" : "joined first; nobody has spoken yet"
            }
        }
    }
}

extension TemplateLayout {
    fileprivate func explanation(of scene: LayoutScene) -> LayoutExplanation {
        var places: [LayoutExplanation.Place] = []
        for filled in slots {
            if filled.choices.isEmpty {
                places.append(
                    LayoutExplanation.Place(
                        name: filled.slot.name, rect: filled.rect, source: nil, reason: reasonWhyEmpty(filled)))
            }
            for (index, choice) in filled.choices.enumerated() {
                let hasRoom = index < filled.tiles.count
                let found = "\(choice.rule.text): \(scene.standing(of: choice.source))"
                places.append(
                    LayoutExplanation.Place(
                        name: filled.slot.name, rect: hasRoom ? filled.tiles[index] : nil, source: choice.source,
                        reason: hasRoom ? found : "\(found); the canvas is too small for its tile"))
            }
        }
        return LayoutExplanation(arrangement: arrangementIndex, places: places, notShown: rest)
    }

    private func reasonWhyEmpty(_ filled: FilledSlot) -> String {
        let rules = filled.slot.show.map(\.text).joined(separator: ", ")
        let found = "nobody is left for \(rules)"
        guard case .enlarge(let name) = filled.slot.whenEmpty else { return "\(found); the background is seen" }
        let takes = slots.contains { $0.slot.name == name && !$0.choices.isEmpty }
        return takes
            ? "\(found); its place goes to \(name)" : "\(found), and \(name) is empty too; the background is seen"
    }
}
