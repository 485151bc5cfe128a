import Foundation
public import MediaCore
public import NIOCore

/// A load run: its clients, from their joins to the report.
public final class LoadRun: Sendable {
    private static let joinInterval = Duration.milliseconds(50)

    /// The combined state of the clients.
    public struct Status: Sendable {
        public var elapsed: Duration
        public var joined: Int
        public var failed: Int
        public var framesPerSecond: Double
        public var minimumFramesPerSecond: Double
        public var receiveBitRate: BitRate
        public var sendBitRate: BitRate
        public var freezeDuration: Duration

        /// A line for people to read.
        public var line: String {
            func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
            return "\(tenths(elapsed.seconds)) s | \(joined) clients"
                + (failed > 0 ? " (\(failed) failed)" : "")
                + " | \(tenths(framesPerSecond)) fps, the least \(tenths(minimumFramesPerSecond))"
                + " | in \(receiveBitRate) | out \(sendBitRate) | frozen \(tenths(freezeDuration.seconds)) s"
        }
    }

    private let options: LoadOptions
    private let clients: [LoadClient]
    /// They end with the clients' calls.
    private let calls: [Task<ClientSession.End, Never>]
    private let failures: [(name: String, error: ClientError)]
    private let start: MonotonicInstant
    private let processorTimeAtStart: Duration

    private init(
        options: LoadOptions, clients: [LoadClient], failures: [(name: String, error: ClientError)],
        start: MonotonicInstant, processorTimeAtStart: Duration
    ) {
        self.options = options
        self.clients = clients
        calls = clients.map { client in Task { await client.follow() } }
        self.failures = failures
        self.start = start
        self.processorTimeAtStart = processorTimeAtStart
    }

    /// Makes the shared clip, reads the shared recording, and joins the clients one after the other. If a client cannot
    /// join, the others continue. When the task is cancelled, all leave, and one in a lobby gives its place up.
    ///
    /// - Throws: The `ClientError` of the clip or the recording, or the first client's if no client could join;
    ///   `CancellationError`.
    public static func start(_ options: LoadOptions, on group: any EventLoopGroup) async throws -> LoadRun {
        // Mistakes in files are found before anyone sees a client.
        let outputs = [options.client.recordPath, options.decodingCount > 0 ? options.client.snapshotPath : nil]
        for path in outputs.compactMap(\.self) { try JSONFile.check(path) }
        let clips = options.clips.isEmpty ? try sharedClips(options) : options.clips
        let audio = options.client.audio == .tone ? try OpusClipSource.makeClip(name: options.client.name) : nil
        let recording: [Float]? =
            if case .file(let path) = options.client.audio { try LoopedSource.read(wavFile: path) } else { nil }
        let start = ClientClock.now()
        let processorTime = ProcessorTime.spent()
        func join(_ client: JoinOptions, index: Int) async throws -> LoadClient {
            let clips = options.clips.isEmpty ? clips : [clips[index % clips.count]]
            return try await LoadClient(client, on: group.next()) {
                var sources = MediaSources()
                if !clips.isEmpty {
                    sources.video = ClipSource(clips: clips, offset: index)
                } else {
                    sources.video = try client.video.open(name: client.name, settings: client.videoSettings)
                }
                if let audio {
                    sources.audio = OpusClipSource(clip: audio)
                } else if let recording {
                    sources.audio = try EncodedPCMSource(LoopedSource(samples: recording))
                }
                return sources
            }
        }
        var clients: [LoadClient] = []
        var failures: [(name: String, error: ClientError)] = []
        do {
            for index in 0..<options.count {
                if index > 0 { try await Task.sleep(for: joinInterval) }
                let client = options.client(index, sendsClip: !clips.isEmpty)
                do {
                    clients.append(try await join(client, index: index))
                } catch let error as ClientError {
                    // The requests of a cancelled task fail, and those of each further client would.
                    try Task.checkCancellation()
                    failures.append((client.name, error))
                }
            }
        } catch {
            // The requests of a cancelled task are cancelled, too.
            await Task { [clients] in _ = try? await leave(clients, end: "failed") }.value
            throw error
        }
        if clients.isEmpty, let first = failures.first { throw first.error }
        return LoadRun(
            options: options, clients: clients, failures: failures, start: start, processorTimeAtStart: processorTime)
    }

    /// The clips that all send: a raw stream unchanged; or the test camera, encoded once for all, in several sizes, the
    /// largest first, if clients follow their tiles. Empty if each client makes its own video.
    private static func sharedClips(_ options: LoadOptions) throws -> [PreEncodedClip] {
        if case .file(let path) = options.client.video {
            guard let format = try options.client.video.format(settings: options.client.videoSettings),
                !format.isEncodedAnew, let frameRate = format.fixedFrameRate
            else { return [] }
            return try PreEncodedClip.read(path: path, frameRate: frameRate).map { [$0] } ?? []
        }
        guard options.client.video == .synthetic else { return [] }
        let full = options.client.videoSettings.dimensions ?? VideoInputSettings.defaultDimensions
        var clips: [PreEncodedClip] = []
        for quarters in options.client.followsDemand ? SendSize.quarters.reversed() : [4] {
            let size = SendSize.scaled(full, quarters: quarters)
            guard size != clips.last?.dimensions else { continue }
            let share = Double(size.area) / Double(max(full.area, 1))
            clips.append(
                try PreEncodedClip.make(
                    name: options.client.name, dimensions: size, frameRate: options.client.videoSettings.frameRate,
                    // Smaller pictures need more bits for each of their samples.
                    bitRate: options.client.maximumBitRate * share.squareRoot() * share.squareRoot().squareRoot(),
                    backEnd: options.client.encoder))
        }
        return clips
    }

    /// The clients that could not join.
    public var joinErrors: [ClientError] { failures.map(\.error) }

    /// Returns the state of the clients.
    public func status() async throws -> Status {
        var status = Status(
            elapsed: ClientClock.now() - start, joined: clients.count, failed: failures.count, framesPerSecond: 0,
            minimumFramesPerSecond: .infinity, receiveBitRate: .zero, sendBitRate: .zero, freezeDuration: .zero)
        for client in clients {
            let client = try await client.status()
            status.framesPerSecond += client.framesPerSecond / Double(max(clients.count, 1))
            status.minimumFramesPerSecond = min(status.minimumFramesPerSecond, client.framesPerSecond)
            status.receiveBitRate = status.receiveBitRate + client.receiveBitRate
            status.sendBitRate = status.sendBitRate + client.sendBitRate
            status.freezeDuration += client.freezeDuration
        }
        return status
    }

    /// Waits until a relay leaves, and no other takes its client, or the first client fails.
    public func waitForEnd() async -> ClientSession.End {
        let (ends, continuation) = AsyncStream.makeStream(of: ClientSession.End.self)
        for call in calls {
            // Each of these ends when its client leaves, at the latest.
            Task { continuation.yield(await call.value) }
        }
        return await ends.first { _ in true } ?? .left
    }

    /// Ends the sessions of the clients, all at once.
    private static func leave(_ clients: [LoadClient], end: String) async throws -> [LoadClient.Result] {
        try await withThrowingTaskGroup { group in
            for (index, client) in clients.enumerated() {
                group.addTask { (index, try await client.leave(end: end)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Ends all sessions and summarizes them.
    ///
    /// - Parameter end: The reason: `duration`, `interrupted`, `relay-left` or `failed`.
    public func leave(end: String) async throws -> (report: LoadReport, error: ClientError?) {
        let duration = ClientClock.now() - start
        let processorTime = ProcessorTime.spent() - processorTimeAtStart
        let results = try await Self.leave(clients, end: end)
        let reports = results.compactMap(\.reports.last)
        let rates = reports.map(\.receivedVideo.framesPerSecond)
        let report = LoadReport(
            url: "\(options.client.url)", count: options.count, joined: clients.count,
            failures: failures.map { .init(name: $0.name, reason: $0.error.description) },
            moves: results.flatMap(\.moves), durationSeconds: (duration.seconds * 1e4).rounded() / 1e4, end: end,
            cpuSeconds: (processorTime.seconds * 1e3).rounded() / 1e3,
            totals: .init(
                receivedVideoBitsPerSecond: reports.reduce(0) { $0 + $1.receivedVideo.bitsPerSecond },
                sentVideoBitsPerSecond: reports.reduce(0) { $0 + $1.sentVideo.bitsPerSecond },
                minimumFramesPerSecond: rates.min() ?? 0,
                meanFramesPerSecond: rates.isEmpty ? 0 : rates.reduce(0, +) / Double(rates.count),
                freezeSeconds: reports.reduce(0) { $0 + $1.receivedVideo.freezeSeconds },
                packetsLost: reports.reduce(0) { $0 + $1.receivedVideo.packetsLost },
                clientsWithoutVideo: reports.count { $0.receivedVideo.frames == 0 }),
            clients: results.flatMap(\.reports))
        return (report, failures.first?.error ?? results.compactMap(\.error).first)
    }
}

/// The processor time of this process.
enum ProcessorTime {
    /// The user and system time since the process began.
    static func spent() -> Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func duration(_ time: timeval) -> Duration {
            .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
        }
        return duration(usage.ru_utime) + duration(usage.ru_stime)
    }
}

/// Many clients of one room in one process.
public struct LoadOptions: Sendable {
    /// The options of each client; its name gets a number. With `video` as `synthetic` all share one clip, encoded
    /// once.
    public var client: JoinOptions
    public var count: Int
    /// The number of clients that decode what they receive; the others only count packets.
    public var decodingCount: Int
    /// Clips that the clients send in turn, in place of the video in `client`; empty for that.
    public var clips: [PreEncodedClip] = []
    /// The observer of each client's frames, by the client's number from zero.
    public var observer: @Sendable (_ client: Int) -> (any FrameObserver)? = { _ in nil }

    public init(client: JoinOptions, count: Int, decodingCount: Int = 0) {
        self.client = client
        self.count = max(0, count)
        self.decodingCount = min(max(0, decodingCount), self.count)
    }

    /// The options of one client.
    ///
    /// - Parameter sendsClip: True if it sends a clip, whose rate cannot be reduced.
    fileprivate func client(_ index: Int, sendsClip: Bool) -> JoinOptions {
        var client = client
        client.name = "\(client.name) \(index + 1)"
        client.seed = client.seed &+ UInt64(index) &* 2
        client.decodesVideo = index < decodingCount
        if index > 0 || !client.decodesVideo { client.snapshotPath = nil }
        if index > 0 { client.recordPath = nil }
        client.observer = observer(index)
        // Room for headers and audio above the clip's rate.
        if sendsClip { client.maximumBitRate = client.maximumBitRate * 1.5 + .kilobits(100) }
        return client
    }
}
