import Foundation
import Testing

/// The page during a call where there is little room for it.
@Suite(
    "The page on small screens, in Chromium", .serialized, .sharedBrowser,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageScreenTests {
    /// Watches a room on a screen of this size, in the page's pixels.
    private func withCall(_ width: Int, _ height: Int, _ body: (Browser) async throws -> Void) async throws {
        try await withPage { browser in
            try await browser.type("demo", into: "#room-name")
            try await browser.click("#watch-button")
            try await browser.wait(for: "the call", until: "!document.getElementById('call').hidden")
            try await browser.execute(
                "Emulation.setDeviceMetricsOverride",
                ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": true])
            try await browser.wait(
                for: "the size", until: "innerWidth === \(width) && innerHeight === \(height)")
            try await body(browser)
        }
    }

    @Test(
        "all layouts can be chosen on a phone, upright and on its side",
        arguments: [(360, 640), (640, 360), (844, 390)])
    func layoutMenu(width: Int, height: Int) async throws {
        try await withCall(width, height) { browser in
            try await browser.click("#layout")
            let isReachable: [Bool] = try await browser.evaluate(
                """
                const menu = document.getElementById('layout-menu');
                const { top, bottom } = menu.getBoundingClientRect();
                menu.scrollTop = menu.scrollHeight;
                const last = document.getElementById('layout-for-all').getBoundingClientRect();
                return [top >= 0, bottom <= innerHeight, last.bottom <= bottom];
                """)
            #expect(isReachable == [true, true, true])
        }
    }

    @Test("what is said of a person with a long name is seen to its end")
    func longName() async throws {
        try await withCall(360, 640) { browser in
            let isInside: [Bool] = try await browser.evaluate(
                """
                const { notice } = await import('/web/notices.js');
                notice(`${'W'.repeat(64)} has joined.`);
                const { left, right } = document.querySelector('.toast').getBoundingClientRect();
                return [left >= 0, right <= innerWidth];
                """)
            #expect(isInside == [true, true])
        }
    }

    @Test(
        "the list of people stands beside the picture on a small phone on its side",
        arguments: [(640, 360), (568, 320)])
    func peopleOnItsSide(width: Int, height: Int) async throws {
        try await withCall(width, height) { browser in
            try await browser.click("#people-button")
            let share: Double = try await browser.evaluate(
                "return document.getElementById('people-panel').getBoundingClientRect().height / innerHeight;")
            #expect(share > 0.6)
        }
    }

    @Test(
        "a moderator on a phone reaches everyone, and what can be done about them", arguments: [(360, 640), (844, 390)])
    func moderationOnPhone(width: Int, height: Int) async throws {
        try await withCall(width, height) { browser in
            let isSeen: [Bool] = try await browser.evaluate(
                """
                const { PeoplePanel } = await import('/web/people-panel.js');
                const { RoomState } = await import('/web/room-state.js');
                document.getElementById('people-panel').hidden = false;
                document.getElementById('call').classList.add('with-panel');
                document.getElementById('moderation').hidden = false;
                const room = new RoomState('p0');
                const participants = Array.from({ length: 6 }, (_, index) => (
                  { id: `p${index}`, name: `Person ${index}`, accessRole: index === 0 ? 'moderator' : 'presenter' }));
                room.apply({ name: 'room', data: { participants } });
                new PeoplePanel({}).draw(room, null);
                const row = document.getElementById('people').lastElementChild;
                const more = row.querySelector('[aria-expanded]');
                more.scrollIntoView({ block: 'nearest' });
                more.click();
                const { top, bottom } = row.querySelector('[data-action=remove]').getBoundingClientRect();
                const panel = document.getElementById('people-panel').getBoundingClientRect();
                const list = document.getElementById('people');
                const isListWhole = list.scrollHeight <= list.clientHeight + 1;
                return [top >= panel.top && bottom <= panel.bottom, isListWhole || innerHeight > innerWidth];
                """)
            #expect(isSeen == [true, true])
        }
    }

    @Test("on a phone on its side, too, people see that they are recorded")
    func recorded() async throws {
        try await withCall(844, 390) { browser in
            let heights: [Double] = try await browser.evaluate(
                """
                const height = (selector) => document.querySelector(selector).getBoundingClientRect().height;
                const before = height('.call-header');
                document.getElementById('recorded').hidden = false;
                return [before, height('#recorded')];
                """)
            #expect(heights[0] == 0 && heights[1] > 10)
        }
    }

    @Test("all controls of a call are on the narrowest screen", arguments: [(320, 568), (360, 640)])
    func narrowToolbar(width: Int, height: Int) async throws {
        try await withCall(width, height) { browser in
            let outside: [String] = try await browser.evaluate(
                """
                for (const id of ['microphone', 'camera', 'share']) document.getElementById(id).hidden = false;
                return [...document.querySelectorAll('.tool')]
                    .filter((tool) => tool.getBoundingClientRect().right > innerWidth).map(({ id }) => id);
                """)
            #expect(outside.isEmpty)
        }
    }
}
