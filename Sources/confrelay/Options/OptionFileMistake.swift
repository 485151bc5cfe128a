import ArgumentParser

/// A mistake in an entry of a file of options.
struct OptionFileMistake: Error {
    /// Where it stands; nil: not known.
    var line: Int?
    var text: String

    /// The largest number of mistakes that an error message lists.
    static let most = 20
    /// A longer list is looked at as a whole: the parser is asked about each value of shorter ones.
    private static let longestList = 32

    /// The failure that tells of mistakes, in the order of the file.
    static func failure(_ mistakes: [OptionFileMistake], in path: String) -> CommandFailure {
        var messages = mistakes.enumerated()
            .sorted { ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset) }
            .map { _, mistake in "\(path): \(mistake.line.map { "line \($0): " } ?? "")\(mistake.text)" }
        if messages.count > most {
            messages.removeSubrange(most...)
            messages.append("\(path): there are more mistakes; these are the first \(most)")
        }
        return CommandFailure(.configuration, messages)
    }

    /// The values that their options do not take, by themselves or together; one more than are told at most.
    ///
    /// - Parameter leftOut: Options whose values are not known: a mistake that names one of them may not exist with its
    ///   value.
    static func wrongValues(
        of entries: [OptionFile.Entry], leftOut: Set<String> = []
    ) -> [OptionFileMistake] {
        var entries = entries.flatMap { entry in
            guard (2...longestList).contains(entry.values.count) else { return [entry] }
            return entry.values.map { OptionFile.Entry(option: entry.option, values: [$0], line: entry.line) }
        }
        var mistakes: [OptionFileMistake] = []
        var alone: [OptionFile.Entry: String?] = [:]
        func isWrong(_ entry: OptionFile.Entry, as words: String) -> Bool {
            let told = alone[entry] ?? refusal(of: entry.arguments)
            alone[entry] = .some(told)
            return told == words
        }
        // The parser tells its first mistake only: what is known to be wrong is left out, and the parser asked again.
        var leftOut = leftOut
        while mistakes.count <= most, let words = refusal(of: entries.flatMap(\.arguments)) {
            let named = Set(words.matches(of: #/--([a-z0-9\-]+)/#).map { String($0.output.1) })
            let wrong = entries.firstIndex { isWrong($0, as: words) }.map { entries.remove(at: $0) }
            // A mistake that speaks of a value that is left out may be there only for that reason.
            if named.subtracting([wrong?.option.name ?? ""]).isDisjoint(with: leftOut) {
                // Where the parser has no advice, it ends with the option's name.
                let advice = wrong.flatMap { words.hasSuffix("'") ? ": \($0.option.help)" : nil }
                mistakes.append(OptionFileMistake(line: wrong?.line, text: words + (advice ?? "")))
            }
            if let wrong {
                leftOut.insert(wrong.option.name)
            } else {
                let count = entries.count
                entries.removeAll { named.contains($0.option.name) }
                leftOut.formUnion(named)
                guard entries.count < count else { break }
            }
        }
        return mistakes
    }

    /// The parser's error message about arguments; nil if it takes them.
    private static func refusal(of arguments: [String]) -> String? {
        do {
            _ = try ConfrelayCommand.parseAsRoot(arguments)
            return nil
        } catch {
            return ConfrelayCommand.message(for: error)
        }
    }
}
