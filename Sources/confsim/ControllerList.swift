import ArgumentParser

/// Controllers by their names, separated by commas.
struct ControllerList: ExpressibleByArgument {
    var kinds: [ControllerKind]

    init(_ kinds: [ControllerKind]) {
        self.kinds = kinds
    }

    init?(argument: String) {
        var kinds: [ControllerKind] = []
        for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = ControllerKind(rawValue: String(name)), !kinds.contains(kind) else { return nil }
            kinds.append(kind)
        }
        guard !kinds.isEmpty else { return nil }
        self.kinds = kinds
    }

    var defaultValueDescription: String { names }

    var names: String { kinds.map(\.rawValue).joined(separator: ",") }

    static var help: ArgumentHelp {
        ArgumentHelp("Controllers, separated by commas: \(known).", valueName: "name,...")
    }

    private static var known: String { ControllerKind.allCases.map(\.rawValue).joined(separator: ", ") }
}
