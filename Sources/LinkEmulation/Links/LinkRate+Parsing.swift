internal import MediaCore

extension LinkRate {
    /// Parses a trace in either of two formats: mahimahi's, or a table of times and rates separated by commas.
    public init(parsingTrace text: String) throws(LinkProfileError) {
        self =
            text.utf8.contains(UInt8(ascii: ","))
            ? try LinkRate(parsingTable: text) : .trace(try DeliveryTrace(parsing: text))
    }

    /// Parses a table: each line is a time in seconds and the rate in Mbit/s from then on, separated by a comma. The
    /// last rate stays. The first line may be a heading; empty lines and lines that start with `#` are skipped.
    public init(parsingTable text: String) throws(LinkProfileError) {
        var steps: [Step] = []
        var number = 0
        var hasHeading = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
            guard let first = cells.first, !(first.isEmpty && cells.count == 1), !first.hasPrefix("#") else { continue }
            guard cells.count >= 2, let seconds = Double(first), let megabits = Double(cells[1]) else {
                guard steps.isEmpty, !hasHeading, cells.count >= 2 else {
                    throw .invalidRateTable(line: number, reason: "'\(line.prefix(40))' is not a time and a rate")
                }
                hasHeading = true
                continue
            }
            guard seconds >= 0, seconds <= 86_400 else {
                throw .invalidRateTable(line: number, reason: "the time \(first) is not from 0 to 86400")
            }
            guard megabits >= 0, megabits <= 1e6 else {
                throw .invalidRateTable(line: number, reason: "the rate \(cells[1]) is not from 0 to 1000000")
            }
            let time = Duration.seconds(clamping: seconds)
            guard steps.last.map({ $0.time < time }) ?? true else {
                throw .invalidRateTable(line: number, reason: "the time \(first) is not later than the one before")
            }
            steps.append(Step(at: time, rate: .megabits(megabits)))
        }
        guard !steps.isEmpty else { throw .invalidRateTable(line: number, reason: "there is no rate in it") }
        self = .steps(steps)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
