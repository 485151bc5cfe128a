import Foundation
import Testing

/// The page keeps proofs for another attempt to join, and for a reload.
@Suite(
    "The page's way back, in Chromium", .serialized, .sharedBrowser,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageReturnTests {
    private static let isInCall = "!document.getElementById('call').hidden"

    private func watchDemo(_ browser: Browser) async throws {
        try await browser.type("demo", into: "#room-name")
        try await browser.click("#watch-button")
    }

    /// Answers the page's joins in place of the relay, and keeps the tickets that they have.
    ///
    /// - Parameter statuses: The statuses of joins: 202 gives a place. The last one is repeated.
    private func answerAsLobby(_ browser: Browser, statuses: [Int]) async throws {
        let _: Bool = try await browser.evaluate(
            """
            const { fetch } = window;
            window.tickets = [];
            window.fetch = (url, options) => {
              if (String(url).includes('/lobby/')) return Promise.resolve(new Response('{"state":"admitted"}'));
              if (options?.method !== 'POST') return fetch(url, options);
              const statuses = \(statuses);
              const status = statuses[Math.min(window.tickets.length, statuses.length - 1)];
              window.tickets.push(url.searchParams.get('ticket') ?? 'none');
              const headers = status === 202 ? { Location: '/rooms/demo/lobby/w-1.key' } : { 'Retry-After': '0' };
              const response = new Response(null, { status, headers });
              Object.defineProperty(response, 'url', { value: String(url) });
              return Promise.resolve(response);
            };
            return true;
            """)
    }

    @Test("a person who was let in from the lobby does not wait again when the room has no seat for the moment")
    func admission() async throws {
        try await withPage { browser in
            try await answerAsLobby(browser, statuses: [202, 503])
            try await watchDemo(browser)
            try await browser.wait(for: "another attempt", until: "window.tickets.length > 2")
            let tickets: [String] = try await browser.evaluate("return window.tickets.slice(0, 3);")
            #expect(tickets == ["none", "w-1.key", "w-1.key"])
        }
    }

    @Test("a reload of the join page does not go into a call that was left by another address")
    func joinPage() async throws {
        try await withPage { browser in
            try await watchDemo(browser)
            try await browser.wait(for: "the call", until: Self.isInCall)
            let room: String = try await browser.evaluate("return location.href;")
            try await browser.open("about:blank")
            try await browser.open(room)
            let isJoinPage = "document.getElementById('own-name').checkVisibility()"
            try await browser.wait(for: "the join page", until: isJoinPage)
            try await browser.reload()
            try await browser.wait(for: "the join page again", until: isJoinPage)
            let isComingBack: Bool = try await browser.evaluate(
                "return document.getElementById('join-notice').checkVisibility();")
            #expect(!isComingBack)
        }
    }

    @Test("a person who is alone with a viewer is not said to be alone")
    func viewer() async throws {
        try await withPage { browser in
            func says(_ text: String) -> String {
                "document.getElementById('waiting-text').textContent === '\(text)'"
            }
            try await watchDemo(browser)
            try await browser.wait(for: "an empty room", until: says("Nobody else is here yet"))
            let status: Int = try await browser.evaluate(
                """
                const viewer = new RTCPeerConnection();
                for (const kind of ['audio', 'video']) viewer.addTransceiver(kind, { direction: 'recvonly' });
                await viewer.setLocalDescription();
                const body = viewer.localDescription.sdp;
                const headers = { 'Content-Type': 'application/sdp' };
                return (await fetch('/whep/demo', { method: 'POST', headers, body })).status;
                """)
            #expect(status == 201)
            try await browser.wait(for: "the viewer", until: says("Everyone else only watches"))
        }
    }

    @Test("what was said in passing in a call is not seen outside of it")
    func noticesOfCall() async throws {
        try await withPage { browser in
            try await watchDemo(browser)
            try await browser.wait(for: "the call", until: Self.isInCall)
            let notices: [Int] = try await browser.evaluate(
                """
                const { notice } = await import('/web/notices.js');
                const list = document.getElementById('notices');
                notice('Ada has left.', 60);
                const before = list.children.length;
                document.getElementById('leave').click();
                return [before, list.children.length];
                """)
            #expect(notices == [1, 0])
        }
    }

    @Test("a relay that is gone again is not waited for, and the last picture stays until another one comes")
    func goneAgain() async throws {
        try await withPage { browser in
            try await watchDemo(browser)
            try await browser.wait(
                for: "the picture", until: "document.getElementById('remote-video').srcObject?.active === true")
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.picture = document.getElementById('remote-video').srcObject;
                window.fetch = async (url, options) => {
                  if (options?.method === 'PATCH') return new Response(null, { status: 404 });
                  const response = await fetch(url, options);
                  if (options?.method === 'POST') {
                    await fetch(new URL(response.headers.get('Location'), response.url), { method: 'DELETE' });
                  }
                  return response;
                };
                window.dispatchEvent(new Event('online'));
                return true;
                """)
            try await browser.wait(
                for: "the reason",
                until: "document.getElementById('connection-text').textContent.includes('gone again')")
            let isSeen: Bool = try await browser.evaluate(
                """
                const { srcObject } = document.getElementById('remote-video');
                return srcObject === window.picture && srcObject.active;
                """)
            #expect(isSeen)
        }
    }

    @Test("a screen goes on where who comes back has another role, unless that role forbids it")
    func screenOfAnotherRole() async throws {
        try await withPage { browser in
            let isForbidden: [Bool] = try await browser.evaluate(
                """
                const { RoomState } = await import('/web/room-state.js');
                const states = [
                  ['moderator', false], ['presenter', false], ['participant', false], ['participant', true],
                ];
                return states.map(([accessRole, screenShare]) => {
                  const room = new RoomState('ada');
                  room.apply({ name: 'room', data: { participants: [{ id: 'ada', accessRole, screenShare }] } });
                  return room.mayNotShareScreen;
                });
                """)
            #expect(isForbidden == [false, false, true, false])
        }
    }

    @Test("who began a room still has the key to moderate it after a reload, and after leaving it")
    func moderatorKey() async throws {
        try await withPage { browser in
            try await watchDemo(browser)
            try await browser.wait(for: "the call", until: Self.isInCall)
            let kept = "return JSON.parse(sessionStorage.getItem('confrelay.call')).moderatorKey;"
            let key: String = try await browser.evaluate(kept)
            try await browser.execute(
                "Page.addScriptToEvaluateOnNewDocument",
                [
                    "source": """
                    {
                      const { fetch } = window;
                      window.fetch = (url, options) => {
                        if (options?.method === 'POST') window.sentKey = options.headers['Moderator-Key'];
                        return fetch(url, options);
                      };
                    }
                    """
                ])
            try await browser.reload()
            try await browser.wait(for: "the call again", until: Self.isInCall)
            let sent = "const key = window.sentKey ?? ''; window.sentKey = ''; return key;"
            #expect(try await browser.evaluate(sent) == key && !key.isEmpty)
            // The room was empty during the reload: this one has another key.
            let newKey: String = try await browser.evaluate(kept)
            try await browser.click("#leave")
            try await browser.click("#watch-button")
            try await browser.wait(for: "the call once more", until: Self.isInCall)
            #expect(try await browser.evaluate(sent) == newKey)
        }
    }
}
