import Foundation
import Testing

/// The page in the lobby of a room, in the browser that runs it.
@Suite(
    "The page in a lobby, in Chromium", .serialized, .sharedBrowser,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageLobbyTests {
    @Test("a person whom a moderator does not let in may try again, and is offered no end of the waiting")
    func refusedInLobby() async throws {
        try await withPage { browser in
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.fetch = (url, options) => {
                  if (String(url).includes('/lobby/')) return Promise.resolve(new Response('{"state":"refused"}'));
                  if (options?.method !== 'POST') return fetch(url, options);
                  const headers = { Location: '/rooms/demo/lobby/w-1.key' };
                  const response = new Response(null, { status: 202, headers });
                  Object.defineProperty(response, 'url', { value: String(url) });
                  return Promise.resolve(response);
                };
                return true;
                """)
            let isOffered = "!document.getElementById('stop-waiting').hidden"
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(for: "the lobby", until: isOffered)
            try await browser.wait(
                for: "the refusal",
                until: "document.getElementById('join-error').textContent.includes('did not let you in')")
            let isStillOffered: Bool = try await browser.evaluate("return \(isOffered);")
            let canJoin: Bool = try await browser.evaluate("return !document.getElementById('join-button').disabled;")
            #expect(!isStillOffered && canJoin)
        }
    }

    @Test("a person who stops waiting in the lobby gives the place up, and asks for none anew")
    func leavesLobby() async throws {
        try await withPage { browser in
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.asked = [];
                window.fetch = (url, options) => {
                  const place = String(url).includes('/lobby/');
                  if (!place && options?.method !== 'POST') return fetch(url, options);
                  window.asked.push(`${options.method} ${url.pathname}`);
                  if (place && options.method === 'GET') return new Promise((answer) => { window.answer = answer; });
                  const headers = { Location: '/rooms/demo/lobby/w-1.key' };
                  const response = new Response(null, { status: place ? 204 : 202, headers });
                  Object.defineProperty(response, 'url', { value: String(url) });
                  return Promise.resolve(response);
                };
                return true;
                """)
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(for: "a question", until: "window.answer !== undefined")
            try await browser.click("#stop-waiting")
            let _: Bool = try await browser.evaluate(
                "window.answer(new Response(null, { status: 404 })); return true;")
            try await browser.wait(for: "the end of the waiting", until: "window.asked.length > 2")
            let asked: [String] = try await browser.evaluate("return window.asked;")
            #expect(
                asked == ["POST /whep/demo", "GET /rooms/demo/lobby/w-1.key", "DELETE /rooms/demo/lobby/w-1.key"])
        }
    }
}
