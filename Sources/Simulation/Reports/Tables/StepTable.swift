import VectorGraphics

extension Comparison {
    /// A table of the reactions of media flows, in the runs with the first seed, to each step of a scripted rate or,
    /// without a script, to each change to a half or double.
    public var stepTable: ReportTable {
        let rows = cases.flatMap { item in
            item.entries.flatMap { entry in
                entry.result.flows.filter { $0.kind == "media" }.flatMap { flow in
                    flow.steps.map { step in
                        [
                            item.scenario, entry.controller, flow.name, NumberText.fixed(step.time, 1),
                            "\(NumberText.fixed(step.from, 2)) → \(NumberText.fixed(step.to, 2))",
                            step.isRise ? "" : NumberText.fixed(step.overshoot, 0),
                            step.isRise ? "" : NumberText.fixed(step.settling, 1),
                            step.isRise ? "" : NumberText.fixed(step.undershoot, 0),
                            step.isRise ? NumberText.fixed(step.deficit, 0) : "",
                            step.isRise ? NumberText.fixed(step.recovery, 1) : "",
                        ]
                    }
                }
            }
        }
        return ReportTable(
            heading: [
                "scenario", "controller", "flow", "at s", "usable Mbit/s", "overshoot %", "settling s", "undershoot %",
                "deficit %", "recovery s",
            ], rows: rows, leading: 3
        ).withoutEmptyColumns
    }
}
