import CongestionControl
import Foundation
import Glibc
import MediaCore

/// The same work by GStreamer: each stream decoded, all composed, and encoded for each receiver, or once for all. Plain
/// RTP on loopback, without audio.
struct GStreamerCapacity {
    let way: CapacityWay
    let participants: Int
    let clip: TestClip
    let duration: Int

    /// Decoders, compositor and encoders have to be made.
    private static let warmUp = Duration.seconds(6)

    func run() async throws -> CapacityResult {
        let receivers = way == .gstreamerShared ? 1 : participants
        let sink = try RTPFrameCounter(streams: receivers)
        let ports = try (0..<participants).map { _ in try UDPSocket.freePort() }
        let pipeline = try ChildProgram(
            path: "/usr/bin/env", arguments: ["gst-launch-1.0", "--quiet"] + pipeline(from: ports, to: sink.ports))
        defer { pipeline.end() }
        let load = try RTPLoad(clip: clip, ports: ports)
        let sending = Task.detached(priority: .high) { try await load.run() }
        defer { sending.cancel() }
        try await Task.sleep(for: Self.warmUp)
        try pipeline.checkRunning()
        let clock = try ProcessClock(process: pipeline.identifier)
        let ownClock = try ProcessClock(process: getpid())
        _ = sink.take()
        let (start, cores, ownCores) = (ContinuousClock.now, try clock.now(), try ownClock.now())
        var counts = [Int](repeating: 0, count: receivers)
        while ContinuousClock.now - start < .seconds(duration) {
            try await Task.sleep(for: .milliseconds(50))
            counts = zip(counts, sink.take()).map(+)
        }
        try pipeline.checkRunning()
        let seconds = (ContinuousClock.now - start).seconds
        let rates = counts.map { Double($0) / seconds }
        return CapacityResult(
            way: way, participants: participants, cores: (try clock.now() - cores).seconds / seconds,
            clientCores: (try ownClock.now() - ownCores).seconds / seconds,
            leastFramesPerSecond: rates.min() ?? 0, framesPerSecond: rates.reduce(0, +) / Double(max(1, rates.count)),
            megabytesEach: ProcessMemory.megabytes(of: pipeline.identifier) / Double(participants))
    }

    private func pipeline(from ports: [UInt16], to sinks: [UInt16]) -> [String] {
        let columns = Int(Double(participants).squareRoot().rounded(.up))
        let rows = (participants + columns - 1) / columns
        let (width, height) = (Workload.canvas.width / columns / 2 * 2, Workload.canvas.height / rows / 2 * 2)
        var text = "compositor name=grid background=black latency=20000000"
        for index in ports.indices {
            text += " sink_\(index)::xpos=\(index % columns * width) sink_\(index)::ypos=\(index / columns * height)"
            text += " sink_\(index)::width=\(width) sink_\(index)::height=\(height)"
        }
        text += " ! video/x-raw,format=I420,width=\(Workload.canvas.width),height=\(Workload.canvas.height)"
        text += ",framerate=\(Workload.frameRate)/1 ! tee name=all"
        let kilobits = Workload.allocation.video.bitsPerSecond / 1000
        for port in sinks {
            text += " all. ! queue max-size-buffers=2 leaky=downstream"
            text += " ! x264enc speed-preset=superfast tune=zerolatency threads=1 bitrate=\(kilobits) key-int-max=3000"
            text +=
                " ! rtph264pay mtu=1200 aggregate-mode=zero-latency ! udpsink host=127.0.0.1 port=\(port) sync=false"
        }
        for (index, port) in ports.enumerated() {
            text += " udpsrc port=\(port) address=127.0.0.1"
            text += " caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96"
            text +=
                " ! rtph264depay ! avdec_h264 max-threads=1 ! queue max-size-buffers=2 leaky=downstream ! grid.sink_\(index)"
        }
        return text.split(separator: " ").map(String.init)
    }
}
