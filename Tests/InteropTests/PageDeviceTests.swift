import Foundation
import Testing

/// The page's camera and microphone, in the browser that has them.
@Suite(
    "The page's devices, in Chromium", .serialized, .sharedBrowser,
    .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
struct PageDeviceTests {
    @Test("a microphone that is muted while it opens stays muted")
    func muteWhileOpening() async throws {
        try await withPage { browser in
            let isOn: [Bool] = try await browser.evaluate(
                """
                const { LocalMedia } = await import('/web/local-media.js');
                const media = new LocalMedia();
                await media.openMicrophone();
                const opening = media.openMicrophone();
                await media.setMicrophone(false);
                await opening;
                const muted = [media.microphoneIsOn, media.microphone.enabled];
                await media.setMicrophone(true);
                return [...muted, media.microphoneIsOn, media.microphone.enabled];
                """)
            #expect(isOn == [false, false, true, true])
        }
    }

    @Test("devices that are let go of while the browser asks for them are not opened afterwards")
    func closeWhileOpening() async throws {
        try await withPage { browser in
            let asked: Int = try await browser.evaluate(
                """
                const { LocalMedia } = await import('/web/local-media.js');
                const media = new LocalMedia();
                let asked = 0;
                let refuse;
                navigator.mediaDevices.getUserMedia = () => {
                  asked += 1;
                  return new Promise((resolve, reject) => { refuse = reject; });
                };
                const opening = media.open({ camera: true, microphone: true });
                media.close();
                refuse(new DOMException('', 'NotFoundError'));
                await Promise.race([opening, new Promise((done) => setTimeout(done, 1000))]);
                return asked;
                """)
            #expect(asked == 1)
        }
    }

    @Test("a camera that is plugged in is turned on where one was wanted and missing")
    func pluggedIn() async throws {
        try await withPage { browser in
            let isOn: [Bool] = try await browser.evaluate(
                """
                const { LocalMedia } = await import('/web/local-media.js');
                const media = new LocalMedia();
                const { mediaDevices } = navigator;
                const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
                mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotFoundError'); };
                await media.openCamera();
                const isOn = [media.cameraIsOn, media.problems.camera === null];
                mediaDevices.getUserMedia = getUserMedia;
                mediaDevices.dispatchEvent(new Event('devicechange'));
                const opened = new Promise((done) => {
                  media.addEventListener('change', () => { if (media.cameraIsOn) done(); });
                });
                await Promise.race([opened, new Promise((done) => setTimeout(done, 10000))]);
                return [...isOn, media.cameraIsOn, media.problems.camera === null];
                """)
            #expect(isOn == [false, false, true, true])
        }
    }

    @Test("a person who refuses camera and microphone sees how to allow them")
    func refusal() async throws {
        try await withPage(Browser.Options(allowsDevices: false)) { browser in
            try await browser.wait(
                for: "an explanation",
                until: "/Allow it beside the address/.test(document.getElementById('device-problems').textContent)")
            try await browser.screenshot(to: TestOutput.file("permission-denied.png"))
            let isWrittenAgain: Bool = try await browser.evaluate(
                """
                let isWrittenAgain = false;
                const what = { childList: true, subtree: true };
                const observe = (id, changed) =>
                  new MutationObserver(changed).observe(document.getElementById(id), what);
                observe('device-problems', () => { isWrittenAgain = true; });
                const drawn = new Promise((done) => { observe('camera-choice', done); });
                navigator.mediaDevices.dispatchEvent(new Event('devicechange'));
                await drawn;
                return isWrittenAgain;
                """)
            #expect(!isWrittenAgain, "screen readers would read it out with each change of the devices")
        }
    }
}
