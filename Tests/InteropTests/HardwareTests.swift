#if VAAPI
    import Foundation
    import FoundationNetworking
    import Glibc
    import ScriptedDriver
    import Testing

    /// Rooms whose pictures the VA driver for tests encodes.
    @Suite("A relay that encodes on a device", .serialized)
    struct HardwareTests {
        private func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> (
            code: Int32, errors: String
        ) {
            let child = try ChildProcess(Programs.product("confrelay"), ["--port", "0"] + arguments, in: folder)
            return (try await child.end(within: .seconds(20)), child.errors)
        }

        @Test("holds a call of four, whose streams ffmpeg decodes")
        func call() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver()
            let relay = try await RelayProgram(
                ["--canvas", "640x360", "--frame-rate", "10", "--codec", "vaapi"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            let clients = try ["Ada", "Ben", "Cy", "Dee"].map { name in
                try ChildProcess(
                    Programs.product("confclient"),
                    ["join", relay.url("/rooms/demo"), "--name", name, "--size", "320x180", "--frame-rate", "10"]
                        + ["--duration", "8", "--quiet", "--record", "\(name).mp4"], in: folder)
            }
            for client in clients { #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)") }
            #expect(driver.lines("frame").count > 40)
            #expect(driver.lines("REFUSED").isEmpty)
            #expect(driver.lines("RateControl").count >= driver.lines("frame").count)
            for name in ["Ada", "Ben", "Cy", "Dee"] {
                let decoder = try ChildProcess(
                    try #require(Programs.installed("ffmpeg")),
                    ["-v", "error", "-xerror", "-i", "\(name).mp4", "-map", "0:v", "-f", "null", "-"], in: folder)
                #expect(try await decoder.end(within: .seconds(60)) == 0, "\(decoder.errors)")
            }
        }

        @Test("goes on in software when the device hangs")
        func hang() async throws {
            let folder = try TemporaryFolder()
            // Without temporal layers, of which the driver takes no three.
            let driver = try ScriptedDriver(script: "packed 0x0\nlayers 1\nvaEndPicture#20 hang")
            let relay = try await RelayProgram(
                ["--canvas", "320x180", "--frame-rate", "10", "--codec", "vaapi", "--log-level", "info"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            let clients = try ["Ada", "Ben"].map { name in
                try ChildProcess(
                    Programs.product("confclient"),
                    ["join", relay.url("/rooms/demo"), "--name", name, "--size", "320x180", "--frame-rate", "10"]
                        + ["--self-view", "always", "--duration", "8", "--snapshot", "\(name).png"], in: folder)
            }
            for client in clients { #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)") }
            #expect(relay.child.errors.contains("software encodes meanwhile"))
            for name in ["Ada", "Ben"] { #expect(folder.size(of: "\(name).png") > 1000) }
        }

        @Test(
            "decodes on a device what three people send, and in software after it has hung", arguments: [false, true])
        func decoding(hangs: Bool) async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver(script: hangs ? "vaEndPicture#20 hang" : "")
            let relay = try await RelayProgram(
                ["--canvas", "640x360", "--frame-rate", "10", "--vaapi-decode"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            let clients = try ["Ada", "Ben", "Cy"].map { name in
                try ChildProcess(
                    Programs.product("confclient"),
                    ["join", relay.url("/rooms/demo"), "--name", name, "--size", "320x180", "--frame-rate", "10"]
                        + ["--quiet", "--snapshot", "\(name).png"], in: folder)
            }
            for name in ["Ada", "Ben", "Cy"] {
                try await relay.participant(name, in: "demo") { $0.uplink.framesDecoded > 40 }
            }
            let url = try #require(URL(string: relay.url("/metrics")))
            let metrics = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
            func value(_ name: String) throws -> Int {
                let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("confrelay_\(name) ") })
                return try #require(line.split(separator: " ").last.flatMap { Int($0) })
            }
            if hangs {
                #expect(try value("gpu_decode_faults_total") == 3)
                #expect(try value("gpu_pictures_decoded_total") >= 3 * 19)
                #expect(relay.child.errors.split(separator: "\n").count { $0.contains("software decodes") } == 3)
            } else {
                #expect(try value("gpu_pictures_decoded_total") > 60)
                #expect(driver.lines("REFUSED").isEmpty)
            }
            for client in clients { client.signal(SIGINT) }
            for client in clients { #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)") }
            for name in ["Ada", "Ben", "Cy"] { #expect(folder.size(of: "\(name).png") > 1000) }
        }

        @Test("ends with one line and 69 where the device is not there")
        func missing() async throws {
            let folder = try TemporaryFolder()
            for wish in [["--codec", "vaapi"], ["--vaapi-decode"]] {
                let (code, errors) = try await run(wish + ["--vaapi-device", "/dev/dri/renderD191"], in: folder)
                #expect(code == 69)
                #expect(errors.split(separator: "\n").count == 1, "\(errors)")
                #expect(errors.contains("/dev/dri/renderD191"))
            }
        }

        @Test("starts in software where there is none, and says so once", .enabled(if: !hasRenderNode))
        func none() async throws {
            let folder = try TemporaryFolder()
            let relay = try await RelayProgram(["--codec", "auto", "--log-level", "info"], in: folder)
            #expect(relay.child.errors.split(separator: "\n").count { $0.contains("software encodes") } == 1)
        }

        private static var hasRenderNode: Bool { FileManager.default.fileExists(atPath: "/dev/dri") }
    }
#endif
