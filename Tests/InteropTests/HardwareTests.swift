#if VAAPI
    import Foundation
    import FoundationNetworking
    import Glibc
    import ScriptedDriver
    import Testing

    /// Rooms whose pictures the VA driver for tests encodes.
    @Suite("A relay that encodes on a device", .serialized)
    struct HardwareTests {
        private static let names = ["Ada", "Ben", "Cy", "Dee"]

        private func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> (
            code: Int32, errors: String
        ) {
            let child = try ChildProcess(Programs.product("confrelay"), ["--port", "0"] + arguments, in: folder)
            return (try await child.end(within: .seconds(20)), child.errors)
        }

        /// Has people join who send 320x180 at ten frames a second.
        private func join(
            _ names: [String], _ relay: RelayProgram, in folder: TemporaryFolder, _ options: (String) -> [String]
        ) throws -> [ChildProcess] {
            try names.map { name in
                try ChildProcess(
                    Programs.product("confclient"),
                    ["join", relay.url("/rooms/demo"), "--name", name, "--size", "320x180", "--frame-rate", "10"]
                        + ["--quiet"] + options(name), in: folder)
            }
        }

        /// Ends people's calls.
        private func end(_ clients: [ChildProcess]) async throws {
            for client in clients { client.signal(SIGINT) }
            for client in clients { #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)") }
        }

        /// Waits until pictures have gone on for somebody.
        private func seesMore(_ name: String, _ relay: RelayProgram) async throws {
            let before = try await relay.participant(name, in: "demo").downlink.framesEncoded
            try await relay.participant(name, in: "demo") { $0.downlink.framesEncoded > before + 10 }
        }

        @Test("holds a call of four, whose streams ffmpeg decodes")
        func call() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver()
            let relay = try await RelayProgram(
                ["--canvas", "640x360", "--frame-rate", "10", "--codec", "vaapi"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            // The relay has tried the driver at its start.
            let trial = (frames: driver.lines("frame").count, rates: driver.lines("RateControl").count)
            let clients = try join(Self.names, relay, in: folder) { ["--record", "\($0).mp4"] }
            try await eventually("some seconds of frames for each", within: .seconds(60)) {
                driver.lines("frame").count - trial.frames > 120 ? true : nil
            }
            try await end(clients)
            let frames = driver.lines("frame").count - trial.frames
            #expect(driver.lines("REFUSED").isEmpty)
            #expect(driver.lines("RateControl").count - trial.rates >= frames)
            for name in Self.names {
                let decoder = try ChildProcess(
                    try #require(Programs.installed("ffmpeg")),
                    ["-v", "error", "-xerror", "-i", "\(name).mp4", "-map", "0:v", "-f", "null", "-"], in: folder)
                #expect(try await decoder.end(within: .seconds(60)) == 0, "\(decoder.errors)")
            }
        }

        @Test("goes on in software when the device hangs")
        func hang() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver(script: "vaEndPicture#20 hang")
            let relay = try await RelayProgram(
                ["--canvas", "320x180", "--frame-rate", "10", "--codec", "vaapi", "--log-level", "info"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            let clients = try join(["Ada", "Ben"], relay, in: folder) {
                ["--self-view", "always", "--snapshot", "\($0).png"]
            }
            try await eventually("the change to software: \(relay.child.errors)", within: .seconds(60)) {
                relay.child.errors.contains("software encodes meanwhile") ? true : nil
            }
            try await seesMore("Ada", relay)
            try await end(clients)
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
            let clients = try join(["Ada", "Ben", "Cy"], relay, in: folder) {
                ["--snapshot", "\($0).png"]
            }
            // Software decodes until the device is open and a keyframe has come.
            let metrics = try await GPUMetrics.wait(for: relay) { values in
                hangs ? values["decode_faults"] == 3 : values["pictures_decoded"] ?? 0 > 60
            }
            if hangs {
                // The first of the twenty opened the device, and nobody got its picture.
                #expect(metrics.values["pictures_decoded"] ?? 0 >= 3 * 18)
                #expect(relay.child.errors.split(separator: "\n").count { $0.contains("software decodes") } == 3)
            } else {
                #expect(metrics.values["decode_faults"] == 0)
                #expect(driver.lines("REFUSED").isEmpty)
            }
            try await end(clients)
            for name in ["Ada", "Ben", "Cy"] { #expect(folder.size(of: "\(name).png") > 1000) }
        }

        /// Has four send what does not move, so that the same is seen at any time, and keeps what the first sees.
        private func call(_ relay: RelayProgram, snapshot: String, in folder: TemporaryFolder) async throws {
            var clients: [ChildProcess] = []
            for name in Self.names {
                let arguments =
                    ["join", relay.url("/rooms/demo"), "--name", name, "--video", "\(name).h264", "--audio", "none"]
                    + ["--frame-rate", "10", "--quiet", "--snapshot", "\(clients.isEmpty ? "" : name)\(snapshot)"]
                clients.append(try ChildProcess(Programs.product("confclient"), arguments, in: folder))
                try await relay.participant(name, in: "demo") { $0.uplink.framesReceived > 0 }
            }
            // Until the rate has risen and the picture has become good.
            try await relay.participant("Dee", in: "demo", within: .seconds(60)) { $0.uplink.framesDecoded > 40 }
            for client in clients {
                client.signal(SIGINT)
                #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)")
            }
        }

        @Test("decodes, composes and encodes a call of four on a device, and shows what software shows within 38 dB")
        func everything() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver()
            let ffmpeg = try #require(Programs.installed("ffmpeg"))
            for (index, name) in Self.names.enumerated() {
                let still = "testsrc2=size=320x180:rate=10,select=eq(n\\,\(index * 7)),loop=-1:1,hue=h=\(index * 60)"
                let clip = try ChildProcess(
                    ffmpeg,
                    ["-v", "error", "-f", "lavfi", "-i", still, "-t", "3", "-pix_fmt", "yuv420p", "-c:v", "libx264"]
                        + ["-profile:v", "baseline", "-g", "10", "-crf", "16", "-f", "h264", "\(name).h264"], in: folder
                )
                #expect(try await clip.end(within: .seconds(60)) == 0, "\(clip.errors)")
            }
            let options = ["--canvas", "640x360", "--frame-rate", "10", "--start-bitrate", "2M", "--max-bitrate", "4M"]
            let hardware = ["--codec", "vaapi", "--vaapi-decode", "--vaapi-compose"]
            let relay = try await RelayProgram(
                options + hardware + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            try await call(relay, snapshot: "device.png", in: folder)
            let metrics = try await GPUMetrics(of: relay)
            #expect(metrics.values["pictures_decoded"] ?? 0 > 100)
            #expect(metrics.values["pictures_composed"] ?? 0 > 40)
            #expect(metrics.values["decode_faults"] == 0 && metrics.values["compose_faults"] == 0)
            #expect(driver.lines("frame").count > 40)
            #expect(driver.lines("REFUSED").isEmpty)
            let software = try await RelayProgram(options, in: folder)
            try await call(software, snapshot: "software.png", in: folder)
            let comparison = try ChildProcess(
                ffmpeg,
                ["-i", "device.png", "-i", "software.png", "-lavfi"]
                    + ["[0]format=yuv420p[a];[1]format=yuv420p[b];[a][b]psnr", "-f", "null", "-"], in: folder)
            #expect(try await comparison.end(within: .seconds(60)) == 0)
            let psnr = comparison.errors.firstMatch(of: /average:([\d.]+|inf)/).flatMap { Double($0.1) }
            #expect(psnr ?? 0 >= 38, "\(comparison.errors.suffix(300))")
        }

        @Test(
            "shows two people in Chromium each other by a device alone",
            .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
        func browsers() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver()
            let relay = try await RelayProgram(
                ["--canvas", "640x360", "--frame-rate", "10", "--forwarding", "off", "--codec", "vaapi"]
                    + ["--vaapi-decode", "--vaapi-compose", "--vaapi-device", "driver:\(driver.deviceName)"],
                in: folder)
            let chrome = try await ChromeDriver(in: folder)
            let people = [
                try await Person("Ada", .red, tone: 440, chrome, in: folder),
                try await Person("Ben", .green, tone: 660, chrome, in: folder),
            ]
            let result: Result<Void, any Error>
            do {
                for person in people { try await person.join("demo", of: relay) }
                for (person, other) in zip(people, people.reversed()) {
                    try await person.see("the other") { $0[other.colour, default: 0] > 0.2 }
                    try await person.browser.screenshot(to: TestOutput.file("hardware-\(person.name).png"))
                }
                _ = try await GPUMetrics.wait(for: relay) { values in
                    ["pictures_decoded", "pictures_composed"].allSatisfy { values[$0] ?? 0 > 10 }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for person in people { await person.browser.close() }
            try result.get()
            #expect(driver.lines("frame").count > 10)
            #expect(driver.lines("REFUSED").isEmpty)
        }

        @Test("composes on a device, and in software after it has hung")
        func composing() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver(script: "vaEndPicture#20 hang")
            let relay = try await RelayProgram(
                ["--canvas", "640x360", "--frame-rate", "10", "--vaapi-compose"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            let clients = try join(["Ada", "Ben", "Cy"], relay, in: folder) {
                ["--snapshot", "\($0).png"]
            }
            _ = try await GPUMetrics.wait(for: relay) { $0["compose_faults"] == 1 }
            try await seesMore("Ada", relay)
            try await end(clients)
            let metrics = try await GPUMetrics(of: relay)
            #expect(metrics.values["compose_faults"] == 1)
            #expect(metrics.values["pictures_composed"] == 19)
            #expect(relay.child.errors.split(separator: "\n").count { $0.contains("software composes") } == 1)
            for name in ["Ada", "Ben", "Cy"] { #expect(folder.size(of: "\(name).png") > 1000) }
        }

        @Test("is measured at the relay's start")
        func calibration() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver()
            let relay = try await RelayProgram(
                ["--canvas", "320x180", "--overload-control", "on", "--codec", "vaapi", "--vaapi-decode"]
                    + ["--vaapi-compose", "--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            for _ in 0..<1000 where !relay.child.errors.contains("calibrated: ") {
                try await Task.sleep(for: .milliseconds(30))
            }
            let line = try #require(
                relay.child.errors.split(separator: "\n").first { $0.contains("calibrated: ") }, "\(relay.child.errors)"
            )
            #expect(line.split(separator: " on a GPU").count == 4, "\(line)")
        }

        @Test("gives each frame a QP where the driver follows a new rate slowly")
        func slowDriver() async throws {
            let folder = try TemporaryFolder()
            let driver = try ScriptedDriver(script: "slow 200")
            let relay = try await RelayProgram(
                ["--canvas", "320x180", "--frame-rate", "10", "--codec", "vaapi"]
                    + ["--vaapi-device", "driver:\(driver.deviceName)"], in: folder)
            #expect(relay.child.errors.contains("follows a new rate slowly"), "\(relay.child.errors)")
            let before = driver.lines("frame").count
            let clients = try join(["Ada"], relay, in: folder) {
                ["--self-view", "always", "--snapshot", "\($0).png"]
            }
            try await eventually("frames of the driver", within: .seconds(60)) {
                driver.lines("frame").count > before + 10 ? true : nil
            }
            try await end(clients)
            #expect(driver.lines("REFUSED").isEmpty)
            #expect(folder.size(of: "Ada.png") > 1000)
        }

        @Test("ends with one line and 69 where the device is not there")
        func missing() async throws {
            let folder = try TemporaryFolder()
            for wish in [["--codec", "vaapi"], ["--vaapi-decode"], ["--vaapi-compose"]] {
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

        /// The counters of `/metrics` about GPUs, by their names without `confrelay_gpu_` and `_total`.
        private struct GPUMetrics {
            var values: [String: Int] = [:]

            init(of relay: RelayProgram) async throws {
                let url = try #require(URL(string: relay.url("/metrics")))
                let text = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
                for match in text.matches(of: /\nconfrelay_gpu_(\w+)_total (\d+)/) {
                    values[String(match.1)] = Int(match.2)
                }
            }

            /// Waits until the counters meet a condition.
            static func wait(
                for relay: RelayProgram, until condition: ([String: Int]) -> Bool
            ) async throws -> GPUMetrics {
                var last: [String: Int] = [:]
                return try await eventually("counters; the last are \(last)", within: .seconds(60)) {
                    let metrics = try await GPUMetrics(of: relay)
                    last = metrics.values
                    return condition(last) ? metrics : nil
                }
            }
        }

        private static var hasRenderNode: Bool { FileManager.default.fileExists(atPath: "/dev/dri") }
    }
#endif
