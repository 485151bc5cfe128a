import Foundation
import Testing

/// Parts of the page that need no call, in the browser that runs them.
@Suite(
    "The page's parts, in Chromium", .serialized, .sharedBrowser,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageModuleTests {
    @Test("a camera's picture covers its tile, with few sizes to choose from")
    func scaleDownFactor() async throws {
        try await withPage { browser in
            let factors: [Double] = try await browser.evaluate(
                """
                const { scaleDownFactor } = await import('/web/tile-size.js');
                const camera = { width: 1280, height: 720 };
                return [null, [1280, 720], [1920, 1080], [640, 360], [639, 359], [426, 240], [641, 361], [16, 16], [0, 0]]
                    .map((size) => scaleDownFactor(camera, size && { width: size[0], height: size[1] }))
                    .concat(scaleDownFactor({ width: 720, height: 1280 }, { width: 360, height: 360 }), scaleDownFactor({}, camera),
                      scaleDownFactor(camera, { width: 0, height: 0 }, 2));
                """)
            // Nobody sees the tile of zero by zero, so that it stays as it is.
            #expect(factors == [1, 1, 1, 2, 2, 3, 1.5, 8, 1, 2, 1, 2])
        }
    }

    @Test("ICE servers are read from Link fields, and other links are ignored")
    func linkHeader() async throws {
        struct Server: Decodable, Equatable {
            var urls: String
            var username: String?
            var credential: String?
        }
        try await withPage { browser in
            let servers: [Server] = try await browser.evaluate(
                #"""
                const { iceServers } = await import('/web/link-header.js');
                return iceServers('<stun:stun.example.net>; rel="ice-server", '
                    + '<turn:turn.example.net?transport=udp>; rel="ice-server"; username="a, \\"b\\""; credential="x;y", '
                    + '<https://example.net/>; rel="ice-server", <stun:other.example.net>; rel=next, nonsense, <, ;;');
                """#)
            #expect(
                servers == [
                    Server(urls: "stun:stun.example.net"),
                    Server(urls: "turn:turn.example.net?transport=udp", username: #"a, "b""#, credential: "x;y"),
                ])
            let none: [Server] = try await browser.evaluate(
                "return (await import('/web/link-header.js')).iceServers(null);")
            #expect(none.isEmpty)
        }
    }

    @Test("a browser without a codec of the call shows which one, and what to do")
    func codecProblem() async throws {
        try await withPage { browser in
            let texts: [String] = try await browser.evaluate(
                """
                const { codecProblem } = await import('/web/browser-codecs.js');
                const has = (...types) => (kind) => ({
                    codecs: types.filter((type) => type.startsWith(kind)).map((mimeType) => ({ mimeType })),
                });
                return [has('video/VP8', 'video/H264', 'audio/opus'), has('video/VP8', 'audio/opus'), has('video/H264'),
                    () => undefined].map((capabilities) => codecProblem(capabilities));
                """)
            #expect(texts[0] == "" && texts[3] == "")
            #expect(texts[1].contains("no H.264 video,") && texts[2].contains("no Opus audio,"))
        }
    }

    @Test(
        "a browser that cannot play a stream goes on saying so, and so does one whose viewer is refused",
        arguments: [(200, "unplayable"), (401, "refused"), (404, "waiting")])
    func unplayableStream(status: Int, state: String) async throws {
        try await withPage { browser in
            let states: [String] = try await browser.evaluate(
                #"""
                const { StreamPlayer } = await import('/web/stream-player.js');
                const index = '#EXTM3U\n#EXT-X-STREAM-INF:CODECS="none"\nlive.m3u8\n';
                window.fetch = async () => new Response(index, { status: \#(status) });
                const player = new StreamPlayer(document.createElement('video'), '/');
                const states = [];
                const two = new Promise((done) => {
                  player.addEventListener('state', ({ detail }) => { if (states.push(detail.state) === 2) done(); });
                });
                player.play();
                await two;
                player.stop();
                return states;
                """#)
            #expect(states == [state, state])
        }
    }

    @Test("a browser without WebRTC says so when a person joins")
    func noWebRTC() async throws {
        try await withPage { browser in
            let _: Bool = try await browser.evaluate("return delete window.RTCPeerConnection;")
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(
                for: "the reason",
                until: "document.getElementById('join-error').textContent.includes('has no WebRTC')")
        }
    }

    @Test("while the relay has no seat the page counts down to the time that the relay names, and then joins by itself")
    func retries() async throws {
        try await withPage { browser in
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.refusals = 0;
                window.fetch = (url, options) => {
                    if (options?.method !== 'POST' || window.refusals > 0) return fetch(url, options);
                    window.refusals += 1;
                    const problem = JSON.stringify({ status: 503, detail: 'the relay is full' });
                    return Promise.resolve(new Response(problem, { status: 503, headers: { 'Retry-After': '3' } }));
                };
                return true;
                """)
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(
                for: "a countdown",
                until: """
                    /Trying again in [1-4] s/.test(document.getElementById('join-button').textContent)
                        && /The relay is full/.test(document.getElementById('join-error').textContent)
                    """)
            try await browser.wait(for: "the call", until: "!document.getElementById('call').hidden")
            let refusals: Int = try await browser.evaluate("return window.refusals;")
            #expect(refusals == 1)
        }
    }

    @Test("who only wants to watch still does after the PIN; who joins after all has camera and microphone")
    func watchingByPIN() async throws {
        try await withPage { browser in
            let camera = "document.getElementById('preview-video').videoWidth > 0"
            func asked(_ count: Int) async throws {
                try await browser.wait(
                    for: "refusal \(count)",
                    until: """
                        window.paths.length === \(count) && !document.getElementById('join-button').disabled
                            && !document.getElementById('pin-field').hidden
                        """)
            }
            try await browser.wait(for: "the camera", until: camera)
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.paths = [];
                window.fetch = (url, options) => {
                  if (options?.method !== 'POST') return fetch(url, options);
                  window.paths.push(url.pathname);
                  return Promise.resolve(new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'PIN' } }));
                };
                return true;
                """)
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await asked(1)
            try await browser.type("271828\u{E007}", into: "#room-pin")
            try await asked(2)
            try await browser.click("#join-button")
            try await asked(3)
            try await browser.wait(for: "the camera again", until: camera)
            let paths: [String] = try await browser.evaluate("return window.paths;")
            #expect(paths == ["/whep/demo", "/whep/demo", "/rooms/demo/participants"])
        }
    }

    @Test("who comes without a token is told what to do, in words for people")
    func invitation() async throws {
        try await withPage { browser in
            let _: Bool = try await browser.evaluate(
                """
                const { fetch } = window;
                window.fetch = (url, options) =>
                    options?.method === 'POST' ? Promise.resolve(new Response(null, { status: 401 })) : fetch(url, options);
                return true;
                """)
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(
                for: "the words",
                until: "document.getElementById('join-error').textContent.includes('Open the whole link')")
        }
    }

    @Test("the debug page draws a room within its own security policy")
    func debugPage() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(in: folder)
        let client = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--size", "160x90", "--frame-rate", "5", "--audio", "none", "--quiet"],
            in: folder)
        try await relay.participant("Guest", in: "demo")
        let browser = try await Browser(ChromeDriver(in: folder), Browser.Options())
        let result: Result<Void, any Error>
        do {
            try await browser.open(relay.url("/rooms/demo/debug"))
            try await browser.wait(
                for: "a drawing", until: "document.querySelector('#debug-drawing svg text') !== null")
            #expect(try await browser.console() == [])
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await browser.close()
        withExtendedLifetime((relay, client, folder)) {}
        try result.get()
    }

    @Test("a link's token is taken where the page is open already, and not left in the address")
    func tokenOfOpenPage() async throws {
        try await withPage { browser in
            let texts: [String] = try await browser.evaluate(
                """
                const { takeToken } = await import('/web/access.js');
                const { proofHeaders } = await import('/web/signalling.js');
                takeToken();
                const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
                location.hash = '#token=a.b.c';
                await changed;
                return [proofHeaders().Authorization, location.hash];
                """)
            #expect(texts == ["Bearer a.b.c", ""])
        }
    }

    @Test("events that cease without an end of their connection are lost")
    func silentFeed() async throws {
        try await withPage { browser in
            let isLost: Bool = try await browser.evaluate(
                """
                const { RoomFeed } = await import('/web/room-feed.js');
                const { setTimeout } = window;
                window.setTimeout = (action, milliseconds) => setTimeout(action, milliseconds / 1000);
                let signal;
                window.fetch = async (url, options) => {
                  signal = options.signal;
                  return new Response(new ReadableStream());
                };
                await new Promise((done) => new RoomFeed('/', '').addEventListener('lost', done));
                return signal.aborted;
                """)
            #expect(isLost)
        }
    }

    @Test("events that the relay refuses are asked for again when it says")
    func refusedFeed() async throws {
        try await withPage { browser in
            let seconds: Double = try await browser.evaluate(
                """
                const { RoomFeed } = await import('/web/room-feed.js');
                window.fetch = async () => new Response(null, { status: 429, headers: { 'Retry-After': '30' } });
                const feed = new RoomFeed('/', '');
                await new Promise((done) => feed.addEventListener('lost', done));
                return feed.retryAfter;
                """)
            #expect(seconds == 30)
        }
    }

    @Test("the relay is told of a screen's end until it answers")
    func endOfScreen() async throws {
        try await withPage { browser in
            let isShown: [Bool] = try await browser.evaluate(
                """
                const { ScreenShare } = await import('/web/screen-share.js');
                const { Unreachable } = await import('/web/signalling.js');
                const { setTimeout } = window;
                window.setTimeout = (action, milliseconds) => setTimeout(action, milliseconds / 1000);
                const isShown = [];
                const screen = new ScreenShare(async () => {
                  isShown.push(screen.isOn);
                  if (isShown.length === 2 || isShown.length === 3) throw new Unreachable();
                }, () => {});
                await screen.begin(Object.assign(new EventTarget(), { stop() {} }));
                await screen.end();
                return isShown;
                """)
            #expect(isShown == [true, false, false, false])
        }
    }

    @Test("an exchange of descriptions ends with its connection")
    func closedLink() async throws {
        try await withPage { browser in
            let outcome: String = try await browser.evaluate(
                """
                const { PeerLink } = await import('/web/peer-link.js');
                const link = new PeerLink({ watchOnly: true, iceServers: [] });
                const other = new RTCPeerConnection();
                await other.setRemoteDescription({ type: 'offer', sdp: await link.offer() });
                await other.setLocalDescription();
                const accepted = link.accept(other.localDescription.sdp).then(() => 'accepted', () => 'failed');
                link.close();
                return accepted;
                """)
            #expect(outcome == "failed")
        }
    }

    @Test("the diagnosis names what keeps the picture from being sharper")
    func diagnosis() async throws {
        try await withPage { browser in
            let qualities: [String] = try await browser.evaluate(
                """
                const { diagnose } = await import('/web/diagnosis.js');
                const fine = { frameRate: 30, loss: 0, roundTripTime: 30, undecoded: 0, freezes: 0, width: 1280, height: 720,
                    targetBitRate: 2e6, relay: null };
                const all = (changes) => diagnose(Array.from({ length: 6 }, () => ({ ...fine, ...changes })));
                const limited = (limit) => ({ relay: { limit, targetBitRate: 3e5 } });
                return [diagnose([]), all({}), all({ frameRate: 0 }), all({ undecoded: 0.3 }), all({ loss: 0.1 }),
                    all(limited('network')), all(limited('receiver')), all(limited('processing')), all({ freezes: 1 }),
                    all({ roundTripTime: 700 }),
                    all({ frameRate: 0, relay: { videoPaused: true, targetBitRate: 5e4 } }),
                    all({ relay: { sharedView: true, targetBitRate: 2e6 } })].map(({ quality, headline, text }) => {
                    if (!headline || !text || /undefined|NaN/.test(text)) throw new Error(text);
                    return quality;
                });
                """)
            #expect(
                qualities == [
                    "unknown", "good", "poor", "poor", "poor", "fair", "fair", "fair", "fair", "fair", "poor",
                    "good",
                ])
        }
    }

    @Test("every control of the join page is reached by Tab, and has a name; a wrong room is refused where it is typed")
    func keyboard() async throws {
        try await withPage { browser in
            try await browser.wait(
                for: "the camera", until: "document.getElementById('preview-video').videoWidth > 0")
            try await browser.click("#room-name")
            var reached: [String] = []
            for _ in 0..<9 {
                reached.append(try await browser.evaluate("return document.activeElement.id;"))
                try await browser.press("\u{E004}")
            }
            #expect(
                Set(reached).isSuperset(of: [
                    "room-name", "own-name", "join-button", "watch-button", "preview-microphone", "preview-camera",
                    "microphone-choice", "camera-choice",
                ]))
            let unnamed: [String] = try await browser.evaluate(
                """
                return [...document.querySelectorAll('button, input, select, video')].filter((element) =>
                    !element.textContent.trim() && !element.getAttribute('aria-label') && !(element.labels?.length > 0))
                    .map((element) => element.outerHTML);
                """)
            #expect(unnamed == [])
            try await browser.type("no room!\u{E007}", into: "#room-name")
            try await browser.wait(for: "a refusal", until: "!document.getElementById('room-error').hidden")
            let focused: String = try await browser.evaluate("return document.activeElement.id;")
            #expect(focused == "room-name")
            #expect(try await browser.console() == [])
        }
    }
}
