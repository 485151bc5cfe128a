import Foundation
import Testing

@testable import RelayServer

/// The metrics that `deploy/monitoring` asks Prometheus for.
@Suite("The dashboard and the alerts")
struct MonitoringFilesTests {
    private static let folder = DocumentPage.url("../deploy/monitoring").standardized

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }

    /// Every series that the relay may write.
    private static let series: Set<String> = {
        func names<Subject>(_ families: [MetricFamily<Subject>]) -> [String] { families.map(\.name) }
        let all =
            names(MetricFamily.relay) + names(MetricFamily.overload) + names(MetricFamily.room)
            + names(MetricFamily.participant)
        let histograms = all.filter { $0.hasSuffix("_seconds") || $0.hasSuffix("_ratio") }
        return Set(all + histograms.flatMap { ["\($0)_bucket", "\($0)_sum", "\($0)_count"] })
    }()

    @Test("name only metrics that the relay has", arguments: ["alerts.yaml", "alerts-test.yaml", "dashboard.json"])
    func metrics(file: String) throws {
        let names = Set(try Self.text(file).matches(of: #/\bconfrelay_[a-z_]+\b/#).map { String($0.output) })
        #expect(names.count >= 5)
        for name in names { #expect(Self.series.contains(name), "\(name)") }
    }

    @Test("the dashboard's panels have titles, queries and places of their own")
    func dashboard() throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Place: Decodable, Hashable {
                    var x: Int
                    var y: Int
                    var w: Int
                    var h: Int
                }
                struct Target: Decodable {
                    var expr: String
                }
                var id: Int
                var type: String
                var title: String
                var gridPos: Place
                var targets: [Target]?
            }
            var panels: [Panel]
        }
        let panels = try JSONDecoder().decode(Dashboard.self, from: Data(Self.text("dashboard.json").utf8)).panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        #expect(Set(panels.map(\.gridPos)).count == panels.count)
        for panel in panels where panel.type != "row" {
            #expect(panel.targets?.isEmpty == false && !panel.title.isEmpty, "\(panel.id)")
        }
    }

    @Test("each alert says what to do")
    func actions() throws {
        let text = try Self.text("alerts.yaml")
        let alerts = text.matches(of: #/- alert: /#).count
        #expect(alerts >= 10)
        #expect(text.matches(of: #/\n +action: "/#).count == alerts)
    }
}
