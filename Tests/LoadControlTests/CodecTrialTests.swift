import MediaCore
import Testing
import VideoCoding

@testable import LoadControl

#if VAAPI
    import ScriptedDriver
#endif

@Suite("A trial of an encoder")
struct CodecTrialTests {
    private static let canvases = [
        VideoDimensions(width: 160, height: 90), VideoDimensions(width: 320, height: 180),
        VideoDimensions(width: 640, height: 360), VideoDimensions(width: 1280, height: 720),
    ]

    @Test("finds that OpenH264 follows a new rate, on small canvases, too", arguments: canvases)
    func software(canvas: VideoDimensions) throws {
        let trial = try CodecTrial(of: nil, canvas: canvas, processorTime: { .zero })
        #expect(!trial.followsSlowly, "\(String(describing: trial.stepResponse)) frames")
        #expect(trial.frameTime > .zero)
    }

    #if VAAPI
        /// Longer than tests that run side by side hold each other up.
        private static let limit = Duration.seconds(30)

        @Test("tells a device that follows from one that does not", arguments: canvases)
        func device(canvas: VideoDimensions) throws {
            for (script, follows) in [("", true), ("slow 200", false)] {
                let driver = try ScriptedDriver(script: script, logs: false)
                let trial = try CodecTrial(
                    of: .driver(name: driver.deviceName), limit: Self.limit, canvas: canvas, processorTime: { .zero })
                #expect(trial.followsSlowly != follows, "\(String(describing: trial.stepResponse)) frames")
            }
        }

        @Test("finds that a QP for each frame follows where the device does not", arguments: canvases)
        func qps(canvas: VideoDimensions) throws {
            let driver = try ScriptedDriver(script: "slow 200")
            let trial = try CodecTrial(
                of: .driver(name: driver.deviceName), limit: Self.limit, controlsQP: true, canvas: canvas,
                processorTime: { .zero })
            #expect(!trial.followsSlowly, "\(String(describing: trial.stepResponse)) frames")
            #expect(driver.lines("frame").count { $0.contains("idr=1") } == 1)
            #expect(driver.lines("REFUSED").isEmpty)
        }
    #endif
}
