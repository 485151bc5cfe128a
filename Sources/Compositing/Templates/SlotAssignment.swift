import MediaCore

/// Assigns sources to slots: each slot in turn takes the sources that its rules find and that no slot before it shows.
struct SlotAssignment {
    /// A source, and the rule by which it was found.
    struct Choice: Hashable {
        var source: SourceID
        var rule: LayoutTemplate.Rule
    }

    private let scene: LayoutScene
    private let camerasByImportance: [ParticipantID]
    /// The participants' names in lower case.
    private let names: [ParticipantID: String]
    private var shown: Set<SourceID> = []

    init(_ scene: LayoutScene) {
        self.scene = scene
        camerasByImportance = scene.camerasByImportance
        names = scene.names.mapValues(Self.comparable)
    }

    /// The sources of a slot, in the order of its tiles.
    mutating func choose(for slot: LayoutTemplate.Slot) -> [Choice] {
        let most = slot.tiling == .single ? 1 : slot.mostTiles
        var choices: [Choice] = []
        for rule in slot.show {
            while choices.count < most, let source = find(rule) {
                shown.insert(source)
                choices.append(Choice(source: source, rule: rule))
            }
        }
        return inOrder(choices)
    }

    /// The sources that no slot shows.
    var rest: [SourceID] { scene.sources.filter { !shown.contains($0) } }

    private func find(_ rule: LayoutTemplate.Rule) -> SourceID? {
        let found: SourceID? =
            switch rule {
            case .screen: first(scene.presenters.reversed(), .screenShare)
            case .speaker: camerasByImportance.first.map(SourceID.camera)
            case .previousSpeaker: camerasByImportance.dropFirst().first.map(SourceID.camera)
            case .recent: first(camerasByImportance, .camera)
            case .next: first(scene.cameras, .camera)
            case .participant(let name): first(scene.cameras, .camera, named: name)
            case .screenOf(let name): first(scene.presenters.reversed(), .screenShare, named: name)
            }
        return found.flatMap { shown.contains($0) ? nil : $0 }
    }

    private func first(
        _ participants: some Sequence<ParticipantID>, _ content: SourceContent, named name: String? = nil
    ) -> SourceID? {
        let name = name.map(Self.comparable)
        for participant in participants {
            let source = SourceID(participant: participant, content: content)
            if !shown.contains(source), name == nil || names[participant] == name { return source }
        }
        return nil
    }

    /// Sorts the sources that were chosen because they spoke by the order of joining, so that faces do not move when
    /// another participant speaks.
    private func inOrder(_ choices: [Choice]) -> [Choice] {
        let spoke = choices.indices.filter { choices[$0].rule == .recent }
        guard spoke.count > 1 else { return choices }
        var positions: [ParticipantID: Int] = [:]
        for (index, camera) in scene.cameras.enumerated() { positions[camera] = index }
        let sorted = spoke.map { choices[$0] }.sorted {
            (positions[$0.source.participant] ?? 0) < (positions[$1.source.participant] ?? 0)
        }
        var result = choices
        for (index, choice) in zip(spoke, sorted) { result[index] = choice }
        return result
    }

    private static func comparable(_ name: String) -> String { DisplayText(name).string.lowercased() }
}
