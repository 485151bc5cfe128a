import Foundation
import Testing

/// The page of moderators, and of those whom they moderate.
@Suite(
    "Moderation in Chromium", .serialized,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct ModerationPageTests {
    /// Opens the page and asks to join, as a person does.
    private func ask(_ person: Person, _ room: String, of relay: RelayProgram) async throws {
        try await person.browser.open(relay.url("/rooms/\(room)"))
        try await person.browser.wait(
            for: "\(person.name)'s camera", until: "document.getElementById('preview-video').videoWidth > 0")
        try await person.browser.type(person.name, into: "#own-name")
        try await person.browser.click("#join-button")
    }

    private func isShown(_ id: String) -> String { "!document.getElementById('\(id)').hidden" }

    private func says(_ id: String, _ text: String) -> String {
        "document.getElementById('\(id)').textContent.includes('\(text)')"
    }

    private func waitForCall(_ person: Person) async throws {
        try await person.browser.wait(for: "\(person.name) to be in the call", until: isShown("call"))
    }

    /// A person's row in the list of a moderator.
    private func act(_ action: String, on other: String, by person: Person) async throws {
        try await person.browser.wait(
            for: "\(other) in the list", until: "document.querySelector(\"[aria-label='Moderate \(other)']\") !== null")
        let isOpen: Bool = try await person.browser.evaluate(
            """
            const row = document.querySelector("[aria-label='Moderate \(other)']").closest('.person');
            const more = row.querySelector("[aria-label='Moderate \(other)']");
            if (more.getAttribute('aria-expanded') === 'false') more.click();
            if (!row.querySelector('.person-moderation').checkVisibility()) return false;
            row.querySelector("[data-action='\(action)']").click();
            return true;
            """)
        #expect(isOpen, "the button says truly that the row is open")
    }

    @Test("a button for somebody in the lobby stays the same while the list is drawn again")
    func lobbyButtons() async throws {
        try await withPage { browser in
            let areKept: [Bool] = try await browser.evaluate(
                """
                const { ModerationPanel } = await import('/web/moderation-panel.js');
                const room = { isModerator: true, waiting: 1, entry: {} };
                let people = [{ id: 'w-1', name: 'Cy' }];
                const call = { room, moderate: async () => people };
                const panel = new ModerationPanel(call, () => {}, new AbortController().signal);
                const button = async () => {
                  panel.draw();
                  await new Promise((resolve) => { setTimeout(resolve); });
                  return document.querySelector('[data-admit="w-1"]');
                };
                const [first, second] = [await button(), await button()];
                people = [{ id: 'w-2', name: 'Di' }];
                return [first !== null && first === second, await button() !== null];
                """)
            #expect(areKept == [true, false])
        }
    }

    @Test("a moderator lets people in from the lobby, mutes, sets a PIN, removes and keeps out; all by clicking")
    func moderation() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "640x360", "--frame-rate", "15"], in: folder)
        let driver = try await ChromeDriver(in: folder)
        let ada = try await Person("Ada", .red, tone: 440, driver, in: folder)
        let ben = try await Person("Ben", .green, tone: 660, driver, in: folder)
        let cy = try await Person("Cy", .blue, tone: 990, driver, in: folder)
        let result: Result<Void, any Error>
        do {
            try await lobby(ada, ben, relay)
            try await guessPIN(ada, cy, relay)
            // Cy's page waits meanwhile until it may ask again.
            try await mute(ada, ben)
            try await spotlight(ada)
            try await enterPIN(cy)
            try await remove(ada, ben, relay)
            result = .success(())
        } catch {
            for person in [ada, ben, cy] {
                try? await person.browser.screenshot(to: TestOutput.file("moderation-failed-\(person.name).png"))
            }
            result = .failure(error)
        }
        for person in [ada, ben, cy] { await person.browser.close() }
        withExtendedLifetime((relay, driver, folder)) {}
        try result.get()
    }

    private func lobby(_ ada: Person, _ ben: Person, _ relay: RelayProgram) async throws {
        try await ada.join("demo", of: relay)
        try await ada.browser.click("#people-button")
        try await ada.browser.wait(for: "the moderator's controls", until: isShown("moderation"))
        try await ada.browser.click("#room-lobby")
        try await ada.browser.wait(
            for: "the lobby", until: "document.getElementById('room-lobby').checked")
        try await eventually("Ben has to wait", within: .seconds(30)) {
            try await ask(ben, "demo", of: relay)
            try await ben.browser.wait(for: "an answer", until: "\(isShown("lobby-note")) || \(isShown("call"))")
            let waits: Bool = try await ben.browser.evaluate("return \(isShown("lobby-note"));")
            return waits ? true : nil
        }
        try await ben.browser.screenshot(to: TestOutput.file("lobby-waiting.png"))
        try await ada.browser.wait(for: "Ben in the lobby", until: "document.querySelector('[data-admit]') !== null")
        try await ada.browser.screenshot(to: TestOutput.file("lobby-moderator.png"))
        let isReadable: Bool = try await ada.browser.evaluate(
            """
            const { color, backgroundColor } = getComputedStyle(document.querySelector('[data-admit]'));
            return color !== backgroundColor;
            """)
        #expect(isReadable, "the button's text differs from its ground")
        try await waitAfterReload(ada, ben)
        try await ada.browser.click("[data-admit]")
        try await waitForCall(ben)
        try await ada.see("Ben") { $0[.green, default: 0] > 0.4 }
        try await ada.hear([ben.tone])
        try await comeBack(ada, ben)
    }

    /// Ben's page is loaded again in the lobby, waits in the same place at once, and turns nothing on again.
    private func waitAfterReload(_ ada: Person, _ ben: Person) async throws {
        let place = "return document.querySelector('[data-admit]').dataset.admit;"
        let before: String = try await ada.browser.evaluate(place)
        try await ben.browser.click("#preview-microphone")
        try await ben.browser.reload()
        try await ben.browser.wait(for: "Ben to wait again", until: isShown("lobby-note"))
        let isOn: String = try await ben.browser.evaluate(
            "return document.getElementById('preview-microphone').getAttribute('aria-pressed');")
        #expect(isOn == "false", "the microphone stays off")
        try await ben.browser.click("#preview-microphone")
        let after: String = try await ada.browser.evaluate(place)
        let places: Int = try await ada.browser.evaluate("return document.querySelectorAll('[data-admit]').length;")
        #expect(after == before && places == 1)
    }

    /// Ben comes back so late that he has to wait again, and sees that in the call.
    private func comeBack(_ ada: Person, _ ben: Person) async throws {
        let _: Bool = try await ben.browser.evaluate(
            """
            const { fetch } = window;
            window.fetch = (url, options) => {
              if (options?.method === 'PATCH') return Promise.resolve(new Response(null, { status: 404 }));
              url.searchParams?.delete('resume');
              return fetch(url, options);
            };
            window.dispatchEvent(new Event('online'));
            return true;
            """)
        try await ada.browser.wait(for: "Ada to be told", until: says("notices", "waits in the lobby"))
        let isSentThere: Bool = try await ada.browser.evaluate("return \(says("notices", "Open People"));")
        #expect(!isSentThere, "Ada's list is open")
        try await ben.browser.wait(for: "Ben to be told", until: says("connection-text", "a moderator lets you in"))
        try await ben.browser.wait(for: "no join page", until: "document.getElementById('join').hidden")
        try await ada.browser.wait(for: "Ben in the lobby", until: "document.querySelector('[data-admit]') !== null")
        try await ada.browser.click("[data-admit]")
        try await ben.browser.wait(for: "Ben to be back", until: "document.getElementById('connection').hidden")
        try await ada.see("Ben again") { $0[.green, default: 0] > 0.4 }
    }

    private func mute(_ ada: Person, _ ben: Person) async throws {
        try await act("mute", on: "Ben", by: ada)
        try await ada.hear([ben.tone], false)
        try await ada.read("muted by a moderator", of: "Ben")
        try await ada.browser.screenshot(to: TestOutput.file("muted-by-moderator.png"))
        try await ben.browser.wait(
            for: "a reload to leave the microphone off",
            until: "JSON.parse(sessionStorage.getItem('confrelay.call')).microphone === false")
        // Nobody hears the microphone that is on again: the page says so, and shows it off.
        try await ben.browser.click("#microphone")
        try await ben.browser.wait(for: "Ben to be told", until: says("notices", "You can unmute when you are asked"))
        try await ben.browser.wait(for: "the microphone to be off", until: says("microphone", "Unmute"))
        try await ada.hear([ben.tone], false)
        try await act("mute", on: "Ben", by: ada)
        try await ben.browser.wait(for: "the question", until: says("notices", "Ada asks you to unmute."))
        try await ben.browser.click("#microphone")
        try await ada.hear([ben.tone])
    }

    private func spotlight(_ ada: Person) async throws {
        for words in ["End spotlight", "Spotlight"] {
            try await act("spotlight", on: "Ben", by: ada)
            try await ada.browser.wait(
                for: words,
                until: """
                    document.querySelector("[aria-label='Moderate Ben']").closest('.person')
                    .querySelector("[data-action='spotlight']").textContent === '\(words)'
                    """)
        }
    }

    /// Types a PIN and presses Enter. The text of the refusal before is gone when it was sent.
    private func enter(_ pin: String, _ person: Person) async throws {
        _ = try await person.browser.evaluate(
            "document.getElementById('join-error').textContent = ''; return true", as: Bool.self)
        try await person.browser.type("\(pin)\u{E007}", into: "#room-pin")
    }

    private func guessPIN(_ ada: Person, _ cy: Person, _ relay: RelayProgram) async throws {
        try await ada.browser.click("#room-lobby")
        try await ada.browser.type("größe7", into: "#new-pin")
        try await ada.browser.click("#pin-form button")
        try await ada.browser.wait(
            for: "the PIN to be set", until: "document.getElementById('new-pin').placeholder.startsWith('set')")
        try await ask(cy, "demo", of: relay)
        try await cy.browser.wait(for: "the question for the PIN", until: isShown("pin-field"))
        try await cy.browser.wait(
            for: "words for people, not for programs", until: says("join-error", "This room has a PIN."))
        // The page asks again by itself when it may, so what it says of a refusal is noted. Wrong PINs come fast while
        // it asks: a person on a slow machine is slower than the tries that are allowed meanwhile.
        let guesses = try await cy.browser.evaluate(
            """
            const text = document.getElementById('join-error');
            window.refusals = [];
            new MutationObserver(() => window.refusals.push(text.textContent)).observe(text, { childList: true });
            const guess = async () => {
              const answer = await fetch('/rooms/demo/participants?name=Cy', {
                method: 'POST', headers: { 'Content-Type': 'application/sdp', 'Room-PIN': '000000' }, body: 'v=0',
              });
              return answer.status;
            };
            const answers = [];
            for (let attempt = 0; attempt < 7; attempt += 1) answers.push(await guess());
            window.guessing = setInterval(guess, 300);
            return answers;
            """, as: [Int].self)
        #expect(guesses.prefix(5) == [401, 401, 401, 401, 401] && guesses.last == 429, "\(guesses)")
        try await enter("000011", cy)
        try await cy.browser.wait(
            for: "too many wrong PINs", within: .seconds(60),
            until: "window.refusals.some((text) => /too many wrong/i.test(text))")
        try await cy.browser.screenshot(to: TestOutput.file("wrong-pin.png"))
        _ = try await cy.browser.evaluate("clearInterval(window.guessing); return true;", as: Bool.self)
    }

    private func enterPIN(_ cy: Person) async throws {
        try await cy.browser.wait(
            for: "the wrong PIN to be refused when it may be looked at", within: .seconds(60),
            until: "!document.getElementById('join-button').disabled && \(says("join-error", "PIN is wrong"))")
        try await enter("größe7", cy)
        try await waitForCall(cy)
    }

    private func remove(_ ada: Person, _ ben: Person, _ relay: RelayProgram) async throws {
        for isMeant in [false, true] {
            let wasInCall: Bool = try await ben.browser.evaluate("return \(isShown("call"));")
            #expect(wasInCall, "nobody is removed by one click beside another button")
            _ = try await ada.browser.evaluate("window.confirm = () => \(isMeant); return true;", as: Bool.self)
            try await act("remove", on: "Ben", by: ada)
            if !isMeant { try await Task.sleep(for: .seconds(1)) }
        }
        try await ben.browser.wait(for: "Ben to be out", until: isShown("join"))
        try await ben.browser.wait(for: "the reason", until: says("join-notice", "Ada removed you"))
        try await ben.browser.screenshot(to: TestOutput.file("removed.png"))
        try await ask(ben, "demo", of: relay)
        try await ben.browser.wait(for: "a refusal", until: says("join-error", "removed you"))
    }
}
