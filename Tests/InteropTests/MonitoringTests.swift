import Foundation
import Testing

/// `deploy/monitoring`, as Prometheus reads it.
@Suite("Prometheus's own check")
struct MonitoringTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy/monitoring")

    @Test(
        "takes the alerts and their tests",
        .enabled(if: Programs.areInstalled("promtool"), "the Debian package prometheus is not installed"),
        arguments: [["check", "rules", "alerts.yaml"], ["test", "rules", "alerts-test.yaml"]])
    func rules(arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let files = arguments.map { $0.hasSuffix(".yaml") ? Self.folder.appendingPathComponent($0).path : $0 }
        let promtool = try ChildProcess(#require(Programs.installed("promtool")), files, in: folder)
        #expect(try await promtool.end(within: .seconds(60)) == 0, "\(promtool.output) \(promtool.errors)")
    }

    @Test(
        "takes what a relay with a call writes",
        .enabled(if: Programs.areInstalled("promtool", "curl"), "prometheus or curl is not installed"))
    func metrics() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--overload-control", "on", "--canvas", "320x180"], in: folder)
        let client = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "160x90", "--frame-rate", "5", "--quiet"],
            in: folder)
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        let script = "set -o pipefail; curl -sf \(relay.url("/metrics")) | promtool check metrics"
        let check = try ChildProcess(URL(fileURLWithPath: "/bin/bash"), ["-c", script], in: folder)
        let code = try await check.end(within: .seconds(60))
        // 3: remarks on style, of which docs/metrics.md has the names.
        #expect(code == 0 || code == 3, "\(check.output) \(check.errors)")
        withExtendedLifetime(client) {}
    }
}
