import Foundation
import Glibc
import Testing

/// The page in real browsers, used as people use it.
@Suite(
    "The page in Chromium", .serialized,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageTests {
    /// Small, so that browsers without a graphics card keep up.
    private static let relayOptions = ["--canvas", "640x360", "--frame-rate", "15"]

    /// A relay and some people's browsers, which are closed whatever becomes of the test.
    private func meet(
        _ people: [(name: String, colour: PersonColour, tone: Double)], relay options: [String] = relayOptions,
        isDetailed: Bool = false,
        _ body: (RelayProgram, [Person], TemporaryFolder) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(options, in: folder)
        let driver = try await ChromeDriver(in: folder)
        var here: [Person] = []
        let result: Result<Void, any Error>
        do {
            for person in people {
                here.append(
                    try await Person(
                        person.name, person.colour, tone: person.tone, isDetailed: isDetailed, driver, in: folder))
            }
            result = .success(try await body(relay, here, folder))
        } catch {
            result = .failure(error)
        }
        for person in here { await person.browser.close() }
        withExtendedLifetime((relay, driver, folder)) {}
        try result.get()
    }

    private static let ada = ("Ada", PersonColour.red, 440.0)
    private static let ben = ("Ben", PersonColour.green, 660.0)
    private static let cy = ("Cy", PersonColour.blue, 990.0)

    @Test("three people join by clicking, see and hear the two others, choose a layout, and leave")
    func threePeople() async throws {
        try await meet([Self.ada, Self.ben, Self.cy]) { relay, people, _ in
            for person in people { try await person.join("demo", of: relay) }
            for person in people {
                try await person.watch()
                let others = people.filter { $0.name != person.name }
                try await person.see("both others, and not oneself") { shares in
                    others.allSatisfy { shares[$0.colour, default: 0] > 0.1 }
                        && shares[person.colour, default: 0] < 0.02
                }
                try await person.hear(others.map(\.tone))
                try await person.hear([person.tone], false)
                for other in others { try await person.read(nil, of: other.name) }
            }
            let ada = people[0]
            let isUndisturbed: Bool = try await ada.browser.evaluate(
                """
                navigator.connection.dispatchEvent(new Event('change'));
                return document.getElementById('connection').hidden;
                """)
            #expect(isUndisturbed, "another estimate of the network's rate is no other network")
            let plays: Bool = try await ada.browser.evaluate(
                """
                const video = document.getElementById('remote-video');
                const goesOn = new Promise((done) => video.addEventListener('playing', done, { once: true }));
                video.pause();
                await goesOn;
                return !video.paused;
                """)
            #expect(plays, "a call cannot be paused")
            let received = try await ada.received()
            #expect(received.width == 640 && received.height == 360)
            try await ada.browser.screenshot(to: TestOutput.file("three-people.png"))
            try await eventually("five seconds without a freeze", within: .seconds(60)) {
                let before = try await ada.received()
                try await Task.sleep(for: .seconds(5))
                let after = try await ada.received()
                return after.freezeCount == before.freezeCount && after.framesDecoded > before.framesDecoded + 25
                    ? true : nil
            }

            try await ada.browser.click("#people-button")
            try await ada.browser.click("[aria-label='Show Cy large']")
            try await ada.see("Cy large") {
                $0[.blue, default: 0] > 0.5 && $0[.blue, default: 0] > 3 * $0[.green, default: 0]
            }
            try await ada.browser.screenshot(to: TestOutput.file("pinned.png"))
            try await people[1].see("the grid still") { abs($0[.red, default: 0] - $0[.blue, default: 0]) < 0.1 }
            try await ada.browser.click("[aria-label='Unpin Cy']")
            try await ada.see("the grid again") { abs($0[.green, default: 0] - $0[.blue, default: 0]) < 0.1 }

            try await people[2].browser.click("#leave")
            try await people[2].browser.wait(
                for: "Cy to be out", until: "!document.getElementById('join').hidden")
            try await ada.see("Ben alone") { $0[.blue, default: 0] < 0.02 && $0[.green, default: 0] > 0.4 }
            #expect(try await relay.room("demo")?.participants.map(\.name).sorted() == ["Ada", "Ben"])
            #expect(try await ada.browser.console() == [], "nothing is refused by the content security policy, or else")
        }
    }

    @Test("a person can hide someone, still hear them, and turn on self-view, all by clicking")
    func hideAndSelfView() async throws {
        try await meet([Self.ada, Self.ben, Self.cy]) { relay, people, _ in
            let (ada, ben, cy) = (people[0], people[1], people[2])
            for person in people { try await person.join("demo", of: relay) }
            try await ada.see("both others") { $0[.green, default: 0] > 0.1 && $0[.blue, default: 0] > 0.1 }
            try await ada.browser.click("#people-button")
            try await ada.browser.click("[aria-label='Hide Cy']")
            try await ada.see("Ben alone") { $0[.green, default: 0] > 0.4 && $0[.blue, default: 0] < 0.02 }
            try await ada.read("hidden from you", of: "Cy")
            try await ada.hear([cy.tone])
            try await ben.see("Cy still") { $0[.blue, default: 0] > 0.1 }
            try await ada.browser.click("[aria-label='Show me in my picture']")
            try await ada.see("Ben and oneself") { $0[.green, default: 0] > 0.1 && $0[.red, default: 0] > 0.1 }
            try await ada.browser.screenshot(to: TestOutput.file("hidden-and-self-view.png"))
            try await ada.browser.click("[aria-label='Show Cy again']")
            try await ada.browser.click("[aria-label='Leave me out of my picture']")
            try await ada.see("both others again") {
                $0[.green, default: 0] > 0.1 && $0[.blue, default: 0] > 0.1 && $0[.red, default: 0] < 0.02
            }
            #expect(try await ada.browser.console() == [])
        }
    }

    @Test("mute and camera off hide audio and picture, and both can be undone")
    func mute() async throws {
        try await meet([Self.ada, Self.ben]) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            for person in people { try await person.join("demo", of: relay) }
            try await ada.see("Ben") { $0[.green, default: 0] > 0.4 }
            try await ada.hear([ben.tone])

            try await ben.browser.click("#microphone")
            try await ada.browser.click("#people-button")
            try await ada.read("microphone off", of: "Ben")
            try await ada.hear([ben.tone], false)
            try await ben.browser.click("#camera")
            try await ada.read("microphone and camera off", of: "Ben")
            try await ada.see("a placeholder") { $0[.green, default: 0] < 0.02 }

            try await ben.browser.click("#microphone")
            try await ben.browser.click("#camera")
            try await ada.read(nil, of: "Ben")
            try await ada.see("Ben again") { $0[.green, default: 0] > 0.4 }
            try await ada.hear([ben.tone])

            // What the relay could not be told, it is told when the page is back.
            let _: Bool = try await ben.browser.evaluate(
                """
                window.reachable = window.fetch;
                window.fetch = (url, options) => (String(url).endsWith('/media')
                    ? Promise.reject(new TypeError('no network')) : window.reachable(url, options));
                return true;
                """)
            try await ben.browser.click("#microphone")
            let _: Bool = try await ben.browser.evaluate(
                "window.fetch = window.reachable; window.dispatchEvent(new Event('online')); return true;")
            try await ada.read("microphone off", of: "Ben")

            let notices: String = try await ben.browser.evaluate(
                """
                document.getElementById('self-video').srcObject.getTracks()[0].dispatchEvent(new Event('ended'));
                return document.getElementById('notices').textContent;
                """)
            #expect(notices.contains("The camera was unplugged"))
        }
    }

    @Test("a shared screen is shown large beside the camera, until it ends")
    func screenShare() async throws {
        try await meet([Self.ada, Self.ben]) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            for person in people { try await person.join("demo", of: relay) }
            try await ada.see("Ben") { $0[.green, default: 0] > 0.4 }
            try await ben.browser.click("#share")
            try await ben.browser.wait(
                for: "Ben to share", until: "document.getElementById('share').textContent.trim() === 'Stop sharing'")
            try await ada.browser.click("#people-button")
            try await ada.read("shares the screen", of: "Ben")
            try await ada.see("Ben small, beside something else") { 0.01...0.2 ~= $0[.green, default: 0] }
            let streams = try await ben.sent()
            #expect(streams.count == 2)
            #expect(streams.allSatisfy { $0.framesEncoded > 0 })
            try await ada.browser.screenshot(to: TestOutput.file("screen-share.png"))

            try await ben.browser.click("#share")
            try await ada.see("Ben large again") { $0[.green, default: 0] > 0.4 }
            try await ada.read(nil, of: "Ben")
            // The same stream is used for the next screen.
            try await ben.browser.click("#share")
            try await ada.read("shares the screen", of: "Ben")

            // A screen that is shared while the page comes back is sent when it is back.
            try await ben.browser.click("#share")
            try await ada.read(nil, of: "Ben")
            let _: Bool = try await ben.browser.evaluate(
                """
                const { fetch } = window;
                const isShared = () => document.getElementById('share').textContent.trim() === 'Stop sharing';
                window.fetch = async (url, options) => {
                  while (options?.method === 'PATCH' && !isShared()) await new Promise((done) => setTimeout(done, 50));
                  return fetch(url, options);
                };
                window.dispatchEvent(new Event('online'));
                return true;
                """)
            try await ben.browser.click("#share")
            try await ada.read("shares the screen", of: "Ben")
        }
    }

    @Test("a camera sends no more pixels than its tile has")
    func tileSize() async throws {
        try await meet([Self.ada, Self.ben], relay: ["--canvas", "320x180", "--frame-rate", "15"]) { relay, people, _ in
            for person in people { try await person.join("demo", of: relay) }
            for person in people {
                try await eventually("\(person.name) sends as many pixels as are shown", within: .seconds(30)) {
                    let stream = try await person.sent().first
                    return stream?.width == 320 && stream?.height == 180 ? true : nil
                }
            }
        }
    }

    @Test(
        "a browser whose page ignores requests still sends no more than REMB asks for: little while its tile is small")
    func receiverEstimatedMaximumBitrate() async throws {
        // Receivers are sent so little that the tile's size decides.
        let options =
            Self.relayOptions
            + ["--forwarding", "off", "--self-view", "always", "--ladder", "off"]
            + ["--start-bitrate", "250k", "--max-bitrate", "250k"]
        try await meet([Self.ada, Self.ben], relay: options, isDetailed: true) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            try await ada.join("demo", of: relay, running: Self.ignoringTiles)
            try await ben.join("demo", of: relay)
            func mean() async throws -> Int {
                var sum = 0
                for _ in 0..<5 {
                    try await Task.sleep(for: .seconds(1))
                    sum += try await relay.participant("Ada", in: "demo").uplink.bitRate
                }
                return sum / 5
            }
            /// Waits until Ada is asked for a rate within `bound` and sends nearly that; from then on the rate must
            /// never be higher.
            func sends(_ expected: ClosedRange<Int>, askedFor bound: ClosedRange<Int>) async throws {
                try await relay.participant("Ada", in: "demo") { bound.contains($0.uplink.maximumBitRate ?? 0) }
                var last = 0
                // A browser that had no time for a while begins low, and goes up from there.
                try await eventually("\(expected) bit/s, not \(last), for some seconds", within: .seconds(90)) {
                    last = try await mean()
                    return expected.contains(last) ? true : nil
                }
                let after = try await mean()
                #expect(after <= expected.upperBound, "\(after) bit/s")
            }
            // Half as wide and high as the canvas: 122 kbit/s, with head-room, and audio.
            try await sends(80_000...270_000, askedFor: 140_000...240_000)
            let isSet: Bool = try await ben.browser.evaluate(
                """
                return fetch('/rooms/demo').then((answer) => answer.json()).then((room) => fetch('/rooms/demo/layout', {
                  method: 'PUT', headers: { 'Content-Type': 'application/json' },
                  body: JSON.stringify({
                    layout: 'solo', participant: room.participants.find((one) => one.name === 'Ada').id }),
                })).then((answer) => answer.ok);
                """)
            #expect(isSet)
            // All of it: 345 kbit/s.
            try await sends(300_000...600_000, askedFor: 400_000...540_000)
        }
    }

    /// Makes the page ignore the relay's requests, so that the browser reacts to REMB alone.
    private static let ignoringTiles = "RTCRtpSender.prototype.setParameters = async () => {}"

    @Test(
        "a browser that was not watched for some time is unlimited as soon as it is watched, and sends its full size again"
    )
    func watchedAgain() async throws {
        let options = Self.relayOptions + ["--forwarding", "off"]
        try await meet([Self.ada, Self.ben], relay: options, isDetailed: true) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            func sendsFullSize(within limit: Duration) async throws {
                try await eventually("Ada sends 640x360", within: limit) {
                    try await ada.sent().first?.width == 640 ? true : nil
                }
            }
            /// For some time Ada is asked for a rate that keeps her size, and for more as soon as she is watched.
            func isWatched(after watch: () async throws -> Void) async throws {
                try await relay.participant("Ada", in: "demo") { $0.uplink.maximumBitRate == 390_000 }
                try await Task.sleep(for: .seconds(15))
                try await watch()
                try await relay.participant("Ada", in: "demo", within: .seconds(5)) {
                    ($0.uplink.maximumBitRate ?? 0) > 440_000
                }
                try await sendsFullSize(within: .seconds(30))
            }
            try await ada.join("demo", of: relay, running: Self.ignoringTiles)
            try await isWatched { try await ben.join("demo", of: relay) }
            try await ben.browser.click("#people-button")
            try await ben.browser.click("[aria-label='Hide Ada']")
            try await isWatched { try await ben.browser.click("[aria-label='Show Ada again']") }
        }
    }

    @Test("two in a call are sent each other's own packets; a third ends that and it comes back, without a freeze")
    func forwarding() async throws {
        try await meet([Self.ada, Self.ben, Self.cy]) { relay, people, _ in
            let (ada, ben, cy) = (people[0], people[1], people[2])
            func passedThrough(_ count: Int) async throws {
                try await eventually("\(count) are sent sources' packets", within: .seconds(60)) {
                    let passed = try await relay.room("demo")?.forwarding
                    return passed?.receivers == count && passed?.audioReceivers == count ? true : nil
                }
            }
            func seeAndHearOnlyEachOther() async throws {
                for (person, other) in [(ada, ben), (ben, ada)] {
                    try await person.hear([other.tone])
                    try await person.hear([person.tone, cy.tone], false)
                    try await person.see("\(other.name) alone") {
                        $0[other.colour, default: 0] > 0.4 && $0[.blue, default: 0] < 0.02
                    }
                }
            }
            for person in [ada, ben] { try await person.join("demo", of: relay) }
            for person in [ada, ben] { try await person.watch() }
            try await passedThrough(2)
            try await seeAndHearOnlyEachOther()
            let encoded = try #require(try await relay.room("demo")).encoding.frames
            let before = try await ada.received()
            try await Task.sleep(for: .seconds(4))
            let after = try await ada.received()
            #expect(after.framesDecoded > before.framesDecoded + 20, "the picture moves")
            #expect(try await relay.room("demo")?.encoding.frames == encoded, "and nothing is encoded for it")

            try await cy.join("demo", of: relay)
            try await passedThrough(0)
            try await ada.see("both others") { $0[.green, default: 0] > 0.1 && $0[.blue, default: 0] > 0.1 }
            try await ada.hear([ben.tone, cy.tone])
            try await cy.browser.click("#leave")
            try await passedThrough(2)
            try await seeAndHearOnlyEachOther()
            let last = try await ada.received()
            // Three browsers on a busy machine may stall by themselves.
            #expect(last.frozenSeconds - after.frozenSeconds < 2, "no picture stood still for long")
            #expect(last.framesDecoded > after.framesDecoded + 60)
            #expect(try await ada.browser.console() == [])
        }
    }

    @Test("a reload goes back into the call, as the same person and without asking")
    func reload() async throws {
        try await meet([Self.ada, Self.ben]) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            for person in people { try await person.join("demo", of: relay) }
            try await ada.see("Ben") { $0[.green, default: 0] > 0.4 }
            try await ada.browser.click("#microphone")
            try await ben.browser.click("#people-button")
            try await ben.read("microphone off", of: "Ada")

            try await ada.browser.reload()
            try await ada.browser.wait(
                for: "Ada to be back", until: "!document.getElementById('call').hidden")
            try await ada.see("Ben") { $0[.green, default: 0] > 0.4 }
            try await ben.see("Ada") { $0[.red, default: 0] > 0.4 }
            try await ben.read("microphone off", of: "Ada")
            #expect(try await relay.room("demo")?.participants.map(\.name).sorted() == ["Ada", "Ben"])
        }
    }

    @Test("after a restart of the relay everybody is back in the room, having been told meanwhile")
    func relayRestart() async throws {
        try await meet([Self.ada, Self.ben]) { relay, people, folder in
            for person in people { try await person.join("demo", of: relay) }
            for person in people { try await person.watch() }
            relay.child.signal(SIGKILL)
            _ = try await relay.child.end(within: .seconds(10))
            for person in people {
                try await person.browser.wait(
                    for: "\(person.name) to be told", until: "!document.getElementById('connection').hidden")
            }
            try await people[0].browser.screenshot(to: TestOutput.file("reconnecting.png"))
            let next = try await RelayProgram(Self.relayOptions, port: relay.port, in: folder)
            for person in people {
                try await person.browser.wait(
                    for: "\(person.name) to be back", within: .seconds(60),
                    until: "document.getElementById('connection').hidden")
                try await person.watch()
            }
            try await people[0].see("Ben") { $0[.green, default: 0] > 0.4 }
            try await people[1].see("Ada") { $0[.red, default: 0] > 0.4 }
            #expect(try await next.room("demo")?.participants.count == 2)
            withExtendedLifetime(next) {}
        }
    }

    @Test("without camera and microphone the page says so, and allows joining and watching")
    func withoutDevices() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(Self.relayOptions, in: folder)
        let driver = try await ChromeDriver(in: folder)
        let ada = try await Person("Ada", .red, tone: 440, driver, in: folder)
        let viewer = try await Browser(driver, Browser.Options(hasDevices: false))
        let result: Result<Void, any Error>
        do {
            try await ada.join("demo", of: relay)
            try await viewer.open(relay.url("/rooms/demo"))
            try await viewer.wait(
                for: "the missing devices to be named",
                until: "/camera|microphone/.test(document.getElementById('device-problems').textContent)")
            try await viewer.screenshot(to: TestOutput.file("without-devices.png"))
            for (button, role) in [("#watch-button", "watch"), ("#join-button", "sendAndReceive")] {
                try await viewer.type("Viewer", into: "#own-name")
                try await viewer.click(button)
                try await relay.participant("Viewer", in: "demo") { $0.role == role && $0.downlink.framesEncoded > 5 }
                let person = Person(name: "Viewer", colour: .blue, tone: 0, browser: viewer)
                try await person.see("Ada") { $0[.red, default: 0] > 0.3 }
                try await viewer.click("#leave")
                try await viewer.wait(for: "the viewer to be out", until: "!document.getElementById('join').hidden")
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await ada.browser.close()
        await viewer.close()
        withExtendedLifetime((relay, driver, folder)) {}
        try result.get()
    }

    @Test("on a link that gets slower the bitrate follows, the picture keeps moving, and the delay stays bounded")
    func slowLink() async throws {
        let link = ["--emulate-downlink", "rate=1500k/400k@40s,delay=40ms,queue=400ms"]
        try await meet([Self.ada, Self.ben], relay: Self.relayOptions + link, isDetailed: true) { relay, people, _ in
            let ada = people[0]
            // The link counts from the relay's start. A busy machine looks like a slow link before that, too.
            let slower = ContinuousClock.now + .seconds(40)
            for person in people { try await person.join("demo", of: relay) }
            try await ada.watch()
            try await ada.browser.click("#statistics-button")
            try await relay.participant("Ada", in: "demo", within: .seconds(60)) { $0.downlink.targetBitRate > 600_000 }
            try await Task.sleep(until: slower)
            try await relay.participant("Ada", in: "demo", within: .seconds(60)) { $0.downlink.targetBitRate < 420_000 }
            try await Task.sleep(for: .seconds(5))
            let before = try await ada.received()
            try await Task.sleep(for: .seconds(20))
            let after = try await ada.received()
            let seconds = (after.milliseconds - before.milliseconds) / 1000
            let bits = Double(after.videoBytes + after.audioBytes - before.videoBytes - before.audioBytes) * 8
            #expect(bits / seconds < 420_000, "no more comes than the link carries")
            #expect(bits / seconds > 60_000, "the link is used")
            #expect(after.framesDecoded > before.framesDecoded + Int(seconds * 5), "the picture moves")
            #expect((after.frozenSeconds - before.frozenSeconds) / seconds < 0.25, "it seldom stands still for long")
            let buffered =
                (after.bufferedSeconds - before.bufferedSeconds)
                / Double(max(1, after.bufferedFrames - before.bufferedFrames))
            #expect(buffered < 0.4, "the browser's buffer stays short")
            try await ada.browser.screenshot(to: TestOutput.file("slow-link.png"))
        }
    }
}
