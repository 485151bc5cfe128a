import VectorGraphics

/// The plots of one scenario: each controller's rate over the capacity, its queueing delay and its frame delay.
struct CasePlots {
    var comparison: Comparison
    var item: Comparison.Case

    /// The largest number of lines in one plot; more lines are not readable.
    private static let maximumFlows = SeriesStyle.count

    /// The bottlenecks of the media flows, in their order; nil for flows without a bottleneck.
    private var bottlenecks: [String?] {
        var names: [String?] = []
        for flow in item.entries.first?.result.flows ?? [] where flow.kind == "media" {
            if !names.contains(flow.bottleneck) { names.append(flow.bottleneck) }
        }
        return names
    }

    /// All plots, each as SVG for an HTML page.
    var plots: [String] {
        let all = bottlenecks
        var plots: [String] = []
        for bottleneck in all {
            let place = all.count > 1 ? " over \(bottleneck ?? "no link")" : ""
            plots.append(ratePlot(over: bottleneck, title: "goodput\(place), Mbit/s"))
            plots.append(queuePlot(over: bottleneck, title: "queueing delay\(place), ms"))
        }
        if let plot = framePlot { plots.append(plot) }
        return plots
    }

    var html: String {
        let plots = plots
        guard !plots.isEmpty else { return "" }
        return "<div class=\"row\">" + plots.map { "<figure>\($0)</figure>" }.joined(separator: "\n") + "</div>"
    }

    private func style(of controller: String) -> Int { comparison.controllers.firstIndex(of: controller) ?? 0 }

    private func media(_ entry: Comparison.Entry, over bottleneck: String?) -> [ScenarioResult.Flow] {
        entry.result.flows.filter { $0.kind == "media" && $0.bottleneck == bottleneck }
    }

    private var duration: Double { item.entries.first?.result.duration ?? 1 }

    private func capacity(_ flows: [ScenarioResult.Flow]) -> [(x: Double, y: Double?)] {
        guard let samples = flows.first?.samples, samples.contains(where: { $0.capacity != nil }) else { return [] }
        return samples.map { ($0.time, $0.capacity) }
    }

    /// Returns an axis up to the usable rate, or up to the reached rate. If the capacity is known, it ends at most half
    /// above the usable rate, because TCP delivers much data at once when a gap is filled.
    private func rateAxis(
        _ capacity: [(x: Double, y: Double?)], _ lines: [LinePlot.Line], _ flows: [ScenarioResult.Flow], title: String
    ) -> Axis {
        let maxima = flows.compactMap(\.maximum)
        let wanted = maxima.count == flows.count ? maxima.reduce(0, +) : .infinity
        let usable = min(capacity.compactMap(\.y).max() ?? 0, wanted)
        let highest = lines.flatMap(\.points).compactMap(\.y).max() ?? 0
        let reached = usable > 0 ? min(highest, usable * 1.5) : highest
        return Axis(from: 0, to: max(usable, reached) * 1.05, title: title)
    }

    private func ratePlot(over bottleneck: String?, title: String) -> String {
        let lines = item.entries.map { entry in
            let flows = media(entry, over: bottleneck)
            let points = (flows.first?.samples ?? []).indices.map { place -> (x: Double, y: Double?) in
                let rates = flows.compactMap { flow in
                    flow.samples.indices.contains(place) ? flow.samples[place].goodput : nil
                }
                return (flows[0].samples[place].time, rates.reduce(0, +))
            }
            return LinePlot.Line(style: style(of: entry.controller), name: entry.controller, points: points)
        }
        let flows = item.entries.first.map { media($0, over: bottleneck) } ?? []
        let area = capacity(flows)
        let frame = PlotFrame(
            x: Axis(from: 0, to: duration, title: "s"), y: rateAxis(area, lines, flows, title: title),
            description: "\(item.scenario): \(title) over time, over the capacity")
        return LinePlot(frame: frame, area: area, lines: lines).svg
    }

    private func queuePlot(over bottleneck: String?, title: String) -> String {
        let lines = item.entries.map { entry in
            let samples = media(entry, over: bottleneck).first?.samples ?? []
            return LinePlot.Line(
                style: style(of: entry.controller), name: entry.controller,
                points: samples.map { ($0.time, $0.queueDelay) })
        }
        let largest = lines.flatMap(\.points).compactMap(\.y).max() ?? 0
        let frame = PlotFrame(
            x: Axis(from: 0, to: duration, title: "s"),
            y: Axis(from: 1, to: max(largest, 100), scale: .logarithmic, title: title),
            description: "\(item.scenario): \(title) over time")
        return LinePlot(frame: frame, lines: lines).svg
    }

    private var framePlot: String? {
        let distributions = item.entries.compactMap { entry -> DistributionPlot.Distribution? in
            let flows = entry.result.flows.filter { $0.kind == "media" && !$0.frameDelayPercentiles.isEmpty }
            guard let first = flows.first else { return nil }
            // The mean of the flows' values at each percentile.
            let percentiles = first.frameDelayPercentiles.indices.map { place in
                flows.reduce(0) { $0 + $1.frameDelayPercentiles[place] } / Double(flows.count)
            }
            let missing = flows.reduce(0) {
                $0 + ($1.metrics[.framesLost] ?? 0) + ($1.metrics[.framesSkipped] ?? 0)
            }
            return DistributionPlot.Distribution(
                style: style(of: entry.controller), name: entry.controller, percentiles: percentiles,
                part: 1 - missing / Double(flows.count) / 100)
        }
        guard !distributions.isEmpty else { return nil }
        return DistributionPlot(
            distributions: distributions, description: "\(item.scenario): frame delay, cumulative distribution"
        ).svg
    }

    // MARK: Flows beside each other

    /// A plot for each controller with a line for each flow; empty if there is only one flow.
    var flowsHTML: String {
        let flows = Self.shown(item.entries.first?.result.flows ?? [])
        let all = (item.entries.first?.result.flows ?? []).filter { $0.kind != "audio" }
        guard flows.count > 1 else { return "" }
        let legend = Legend(names: flows.enumerated().map { ($0, $1.name) }, area: "capacity")
        let figures = item.entries.map { "<figure>\(flowPlot($0))</figure>" }.joined(separator: "\n")
        let note = all.count > flows.count ? "; the first \(flows.count) of \(all.count)" : ""
        return """
            <details><summary>Each flow\(note)</summary>\(legend.html)<div class="row">\(figures)</div></details>
            """
    }

    private static func shown(_ flows: [ScenarioResult.Flow]) -> [ScenarioResult.Flow] {
        Array(flows.filter { $0.kind != "audio" }.prefix(maximumFlows))
    }

    private func flowPlot(_ entry: Comparison.Entry) -> String {
        let flows = Self.shown(entry.result.flows)
        let lines = flows.enumerated().map { style, flow in
            LinePlot.Line(
                style: style, name: flow.name,
                points: flow.samples.map { ($0.time, $0.isActive || $0.goodput > 0 ? $0.goodput : nil) })
        }
        let area = capacity(flows)
        let title = "\(entry.controller): goodput of each flow, Mbit/s"
        let frame = PlotFrame(
            x: Axis(from: 0, to: duration, title: "s"), y: rateAxis(area, lines, flows, title: title),
            description: "\(item.scenario), \(title)")
        return LinePlot(frame: frame, area: area, lines: lines).svg
    }
}

/// A legend: the names of series beside their lines and shapes.
struct Legend {
    var names: [(style: Int, name: String)]
    /// The meaning of the area; nil if there is none.
    var area: String?

    var html: String {
        var items = names.map { item in
            """
            <li><svg viewBox="0 0 44 14" aria-hidden="true"><path class="l \(SeriesStyle.lineClass(item.style))" \
            d="M1 7H43"/><g class="m \(SeriesStyle.markClass(item.style))"><path transform="translate(22 7)" \
            d="\(SeriesStyle.shape(item.style, size: 4.5))"/></g></svg>\(XMLText.escaped(item.name))</li>
            """
        }
        if let area {
            items.append(
                "<li><svg viewBox=\"0 0 44 14\" aria-hidden=\"true\"><path class=\"cap\" d=\"M1 1H43V13H1Z\"/></svg>"
                    + "\(XMLText.escaped(area))</li>")
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}
