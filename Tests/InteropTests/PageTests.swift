import Foundation
import Glibc
import Testing

/// The page in real browsers, used as people use it.
@Suite(
    "The page in Chromium", .serialized,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageTests {
    @Test("three people join by clicking, see and hear the two others, choose a layout, and leave")
    func threePeople() async throws {
        try await meet([.ada, .ben, .cy]) { relay, people, _ in
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
            try await eventually("three seconds without a freeze", within: .seconds(60)) {
                let before = try await ada.received()
                try await Task.sleep(for: .seconds(3))
                let after = try await ada.received()
                return after.freezeCount == before.freezeCount && after.framesDecoded > before.framesDecoded + 15
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
        try await meet([.ada, .ben, .cy]) { relay, people, _ in
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
        try await meet([.ada, .ben]) { relay, people, _ in
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

            // The changes of which the relay could not be told, it is told when the page is back.
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
        try await meet([.ada, .ben]) { relay, people, _ in
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

    @Test("a reload goes back into the call, as the same person and without asking")
    func reload() async throws {
        try await meet([.ada, .ben]) { relay, people, _ in
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

            // Some browsers ask for the devices again.
            try await ada.browser.execute(
                "Page.addScriptToEvaluateOnNewDocument",
                ["source": "navigator.mediaDevices.getUserMedia = () => new Promise(() => {});"])
            try await ada.browser.reload()
            try await ada.browser.wait(
                for: "the page to say what it does",
                until: """
                    document.getElementById('join-notice').checkVisibility()
                        && document.getElementById('join-notice').textContent.includes('coming back')
                    """)
        }
    }

    @Test("a raised hand stays raised when the page joins anew, and a hand that a moderator lowered stays lowered")
    func raisedHand() async throws {
        try await meet([.ada, .ben]) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            for person in people { try await person.join("demo", of: relay) }
            try await ben.see("Ada") { $0[.red, default: 0] > 0.4 }
            for person in people { try await person.browser.click("#people-button") }
            func joinAnew() async throws {
                let _: Bool = try await ben.browser.evaluate(
                    """
                    document.getElementById('notices').replaceChildren();
                    const { fetch } = window;
                    window.fetch = (url, options) => options?.method === 'PATCH'
                      ? Promise.resolve(new Response(null, { status: 404 })) : fetch(url, options);
                    window.dispatchEvent(new Event('online'));
                    return true;
                    """)
                try await ben.browser.wait(
                    for: "Ben to be back",
                    until: "document.getElementById('notices').textContent.includes('You are back')")
            }
            func seeHand(_ isRaised: Bool) async throws {
                try await ada.browser.wait(
                    for: "Ben alone, with a hand that is \(isRaised ? "raised" : "lowered")",
                    until: """
                        document.querySelectorAll('.person').length === 2
                        && [...document.querySelectorAll('.person')].some((row) =>
                        row.querySelector('.person-name').textContent === 'Ben'
                        && (row.querySelector('.marks').dataset.icons ?? '').includes('hand') === \(isRaised))
                        """)
            }
            // Other rows have such a button, too, which nobody sees.
            let raise = "[aria-label='Raise my hand']:not([hidden])"
            try await ben.browser.wait(for: "Ben's own row", until: "document.querySelector(\"\(raise)\") !== null")
            try await ben.browser.click(raise)
            try await ben.browser.wait(
                for: "words that say alone what a click does",
                until: "document.querySelector(\"[aria-label='Lower my hand']:not([aria-pressed])\") !== null")
            try await seeHand(true)
            try await joinAnew()
            try await seeHand(true)
            try await ada.browser.click("#lower-hands")
            try await seeHand(false)
            try await joinAnew()
            try await seeHand(false)
        }
    }

    @Test("events that end while the page comes back are followed again")
    func eventsAfterComingBack() async throws {
        try await meet([.ada, .ben]) { relay, people, _ in
            let (ada, ben) = (people[0], people[1])
            try await ada.join("demo", of: relay)
            try await ben.join(
                "demo", of: relay,
                running: """
                    const { fetch } = window;
                    let end = new AbortController();
                    window.fetch = async (url, options) => {
                      if (options?.method === 'PATCH') end.abort();
                      const response = await fetch(url, options);
                      if (!String(url).includes('/events')) return response;
                      end = new AbortController();
                      return new Response(response.body.pipeThrough(new TransformStream(), { signal: end.signal }));
                    };
                    """)
            try await ben.see("Ada") { $0[.red, default: 0] > 0.4 }
            let _: Bool = try await ben.browser.evaluate("window.dispatchEvent(new Event('online')); return true;")
            try await ben.browser.wait(
                for: "Ben to be back",
                until: "document.getElementById('notices').textContent.includes('You are back')")
            try await ben.browser.click("#people-button")
            try await ada.browser.click("#microphone")
            try await ben.read("microphone off", of: "Ada")
        }
    }

    @Test("after a restart of the relay everybody is back in the room, having been told meanwhile")
    func relayRestart() async throws {
        try await meet([.ada, .ben]) { relay, people, folder in
            for person in people { try await person.join("demo", of: relay) }
            for person in people {
                try await person.watch()
                let _: Bool = try await person.browser.evaluate(
                    """
                    const text = document.getElementById('connection-text');
                    new MutationObserver(() => { window.firstReason ??= text.textContent; })
                        .observe(text, { childList: true });
                    return true;
                    """)
            }
            relay.child.signal(SIGKILL)
            _ = try await relay.child.end(within: .seconds(10))
            for person in people {
                try await person.browser.wait(
                    for: "\(person.name) to be told", until: "!document.getElementById('connection').hidden")
                let reason: String = try await person.browser.evaluate("return window.firstReason;")
                #expect(reason.contains("The relay does not answer."), "sooner than ICE notices")
            }
            // Screen readers read an alert out again at each change.
            try await people[0].browser.wait(
                for: "the time until the next attempt, beside the alert",
                until: """
                    /^Trying again/.test(document.getElementById('connection-pause').textContent)
                        && !/Trying/.test(document.querySelector('#connection [role=alert]').textContent)
                    """)
            try await people[0].browser.screenshot(to: TestOutput.file("reconnecting.png"))
            let next = try await RelayProgram(RelayProgram.browserOptions, port: relay.port, in: folder)
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
        let relay = try await RelayProgram(RelayProgram.browserOptions, in: folder)
        let driver = try await ChromeDriver(in: folder)
        let ada = try await Person("Ada", .red, tone: 440, driver, in: folder)
        let viewer = try await Browser(driver, Browser.Options(hasDevices: false))
        let result: Result<Void, any Error>
        do {
            try await ada.join("demo", of: relay)
            try await viewer.open(relay.url("/rooms/demo"))
            try await viewer.wait(
                for: "the missing devices to be named",
                until: "/camera.*microphone/s.test(document.getElementById('device-problems').textContent)")
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
}
