import MediaCore
import NIOCore
import NIOPosix
import PeerConnection
import SDP

/// Going to another relay of the cluster when this one is gone.
extension ClientSession {
    /// The time between two looks at the relay's silence.
    private static let watchInterval = TimeAmount.milliseconds(250)
    /// A silence after which the relay is asked whether it is there. Relays send audio at least every 400 ms.
    private static let suspiciousSilence = Duration.seconds(1)
    private static let probeTimeout = TimeAmount.seconds(1)

    /// Where the room is: in a cluster not always where the client asked.
    public var url: RoomURL { options.url }

    /// The same room at other relays, where the client is the same participant; empty where there is no cluster.
    public var rejoinURLs: [RoomURL] {
        negotiation.alternates.map { url in
            var url = url
            url.rejoinKey = negotiation.rejoinKey
            url.moderatorKey = moderatorKey
            return url
        }
    }

    /// Waits until the relay asks the client to go to another one of its cluster, because it is about to end. The
    /// session goes on.
    ///
    /// - Returns: False: it has not, and the session has ended.
    public func waitForMove() async -> Bool { (try? await movePromise.futureResult.get()) ?? false }

    /// The time for which other relays are tried when the client's own is gone: until its lease has ended for certain.
    private static let rejoinLimit = Duration.seconds(15)

    /// Joins again at the other relays of the cluster, in turn. This session is not left.
    ///
    /// - Parameters:
    ///   - options: All but the room's URL. Their files are opened anew.
    ///   - lost: When the relay was lost, or asked to be left.
    /// - Throws: The last relay's error, if none takes the client within 15 s.
    public func joinElsewhere(
        _ options: JoinOptions, since lost: ContinuousClock.Instant
    ) async throws -> ClientSession {
        try await joinElsewhere(options, since: lost) { options throws(ClientError) in try MediaSources(options) }
    }

    /// - Parameter makeSources: Opens the sources of each attempt.
    func joinElsewhere(
        _ options: JoinOptions, since lost: ContinuousClock.Instant,
        makeSources: @Sendable (JoinOptions) throws -> MediaSources
    ) async throws -> ClientSession {
        let urls = rejoinURLs
        guard !urls.isEmpty else { throw ClientError.relayLeft(reason: "the relay names no other one") }
        var options = options
        var attempt = 0
        while true {
            do {
                options.url = urls[attempt % urls.count]
                return try await Self.join(options, sources: .init(makeSources(options)), on: eventLoop)
            } catch let error as ClientError {
                guard ContinuousClock.now - lost < Self.rejoinLimit else { throw error }
                attempt += 1
                // Clients of one relay come all at once; the second round is spread.
                try await Task.sleep(for: .milliseconds(attempt < urls.count ? 0 : Int.random(in: 200...600)))
            }
        }
    }

    /// The longest wait for media of a new session, and the time between two looks for them.
    private static let mediaPatience = Duration.seconds(3)
    private static let mediaCheck = Duration.milliseconds(20)

    /// Waits until the relay's first frame has come, or for a client that receives no video until it is connected. Not
    /// for ever, nor in a cancelled task.
    public func waitForMedia() async {
        let end = ClientClock.now() + Self.mediaPatience
        while ClientClock.now() < end, (try? await eventLoop.submit { self.hasMedia }.get()) == false {
            guard (try? await Task.sleep(for: Self.mediaCheck)) != nil else { return }
        }
    }

    private var hasMedia: Bool {
        negotiation.session.video?.receives == true
            ? measurements.firstVideoFrame != nil : peer.connectionState == .connected
    }

    /// Notices within about a second that the relay is dead. On the event loop.
    func watchRelay() {
        relayWatch = eventLoop.scheduleRepeatedTask(
            initialDelay: Self.watchInterval, delay: Self.watchInterval
        ) { [weak self] _ in self?.probeSilentRelay() }
    }

    /// A silent relay may have a bad network. It is dead if it does not accept connections either.
    private func probeSilentRelay() {
        let silence = ClientClock.now() - (peer.lastAuthenticated ?? measurements.start)
        guard !isClosed, !isProbingRelay, silence > Self.suspiciousSilence else { return }
        isProbingRelay = true
        ClientBootstrap(group: eventLoop).connectTimeout(Self.probeTimeout)
            .connect(host: options.url.host, port: options.url.port)
            .whenComplete { [weak self] result in
                guard let self else { return }
                self.isProbingRelay = false
                switch result {
                case .success(let channel): channel.close(promise: nil)
                case .failure:
                    self.end(.relayLeft(reason: "the relay at \(self.options.url) is gone"))
                }
            }
    }
}
