/// A comparison as Markdown, for a repository.
public struct MarkdownReport: Sendable {
    public var comparison: Comparison
    /// The command that made the report.
    public var command: String
    /// The controller whose cases outside the Pareto front are listed; nil for none.
    public var subject: String?

    public init(_ comparison: Comparison, command: String, subject: String?) {
        self.comparison = comparison
        self.command = command
        self.subject = subject
    }

    public var text: String {
        let runs = comparison.cases.flatMap(\.entries).map(\.runCount).max() ?? 1
        var text = """
            # Controllers compared

            ```sh
            \(command)
            ```

            \(comparison.cases.count) scenarios, \(runs == 1 ? "one seed" : "means over \(runs) seeds"). \
            docs/confsim.md says what the figures mean. On the front is who is beaten by no other one: none is at \
            least as good in utilisation, p95 queueing delay and frames late or lost, and better in one of them. \
            `oracle` and `fixed` are a scale and take no part.

            ## Standings

            \(comparison.standingsTable.markdown)

            ## Means

            \(comparison.meansTable.markdown)

            """
        if let subject, comparison.contenders.count > 1, comparison.contenders.contains(subject) {
            let table = comparison.dominatedTable(subject)
            text += "\n## Where \(subject) is not on the front\n\n"
            text += table.rows.isEmpty ? "Nowhere.\n" : table.markdown + "\n"
        }
        text += """

            ## Scenarios

            Utilisation · p95 queueing delay · frames late, skipped or lost. **Bold**: on the front. ★: the best score.

            """
        for (name, cases) in comparison.suites {
            text += "\n### \(name.isEmpty ? "Others" : name)\n\n\(comparison.triples(of: cases).markdown)\n"
        }
        return text
    }
}
