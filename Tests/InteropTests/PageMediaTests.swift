import Testing

/// The sizes, rates and packets of the media that browsers at the page send and are sent.
@Suite(
    "Media of the page, in Chromium", .serialized,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageMediaTests {
    @Test("a camera sends no more pixels than its tile has")
    func tileSize() async throws {
        try await meet([.ada, .ben], relay: ["--canvas", "320x180", "--frame-rate", "15"]) { relay, people, _ in
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
            RelayProgram.browserOptions
            + ["--forwarding", "off", "--self-view", "always", "--ladder", "off"]
            + ["--start-bitrate", "250k", "--max-bitrate", "250k"]
        try await meet([.ada, .ben], relay: options, isDetailed: true) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            try await ada.join("demo", of: relay, running: Self.ignoringTiles)
            try await ben.join("demo", of: relay)
            func mean() async throws -> Int {
                var sum = 0
                for _ in 0..<3 {
                    try await Task.sleep(for: .seconds(1))
                    sum += try await relay.participant("Ada", in: "demo").uplink.bitRate
                }
                return sum / 3
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
        "a browser that was not watched for some time is unlimited once it is watched, and sends its full size again"
    )
    func watchedAgain() async throws {
        let options = RelayProgram.browserOptions + ["--forwarding", "off"]
        try await meet([.ada, .ben], relay: options, isDetailed: true) { relay, people, _ in
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
        try await meet([.ada, .ben, .cy]) { relay, people, _ in
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
            try await Task.sleep(for: .seconds(2))
            let after = try await ada.received()
            #expect(after.framesDecoded > before.framesDecoded + 10, "the picture moves")
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

    @Test("on a link that gets slower the bitrate follows, the picture keeps moving, and the delay stays bounded")
    func slowLink() async throws {
        let link = ["--emulate-downlink", "rate=1500k/400k@25s,delay=40ms,queue=400ms"]
        try await meet([.ada, .ben], relay: RelayProgram.browserOptions + link, isDetailed: true) { relay, people, _ in
            let ada = people[0]
            // The link counts from the relay's start. A busy machine looks like a slow link before that, too.
            let slower = ContinuousClock.now + .seconds(25)
            for person in people { try await person.join("demo", of: relay) }
            try await ada.watch()
            try await ada.browser.click("#statistics-button")
            try await relay.participant("Ada", in: "demo", within: .seconds(60)) { $0.downlink.targetBitRate > 600_000 }
            try await Task.sleep(until: slower)
            try await relay.participant("Ada", in: "demo", within: .seconds(60)) { $0.downlink.targetBitRate < 420_000 }
            try await Task.sleep(for: .seconds(5))
            let before = try await ada.received()
            try await Task.sleep(for: .seconds(12))
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
