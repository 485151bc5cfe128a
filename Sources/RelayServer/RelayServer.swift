import Conference
import Foundation
import Hummingbird
import HummingbirdCore
import LoadControl
public import Logging
import MediaCore
import NIOCore
import NIOPosix
import RTP
import RoomMedia
import SecureTransport
public import ServiceLifecycle

/// A relay with its sockets: media on UDP and signalling on TCP, on one port.
public final class RelayServer: Service {
    /// The server's addresses.
    public let endpoint: Endpoint

    let driver: RelayDriver
    /// The machine's addresses at the start, if answers name them; nil: they name what the options say.
    let machineAddresses: [TransportAddress]?
    private let mediaChannel: any Channel
    private let mediaGroup: MultiThreadedEventLoopGroup
    private let signallingGroup: MultiThreadedEventLoopGroup
    private let binder: PortBinder
    private let flightFolder: FlightFolder?
    let recordings: RecordingStore?
    private let streams: StreamHub?
    private let outputs: HostRules?
    private let players: PlayerRules?
    private let listeners: StreamListeners?
    private let certificates: CertificateStore?
    private let connections: ConnectionRegister
    private let iceServers: [ICEServer]
    private let turnSecret: TURNSecret?
    private let events: EventOutputs?
    private let traces: TraceExporter?
    private let tracer: JoinTracer?
    private let allowedOrigins: AllowedOrigins
    private let clients: ClientDirectory
    private let keys: KeyStore?
    private let administration: PortBinder?
    private let administrationAddress: TransportAddress?
    let cluster: ClusterService?
    private let etcd: EtcdClient?
    let logger: Logger
    private let calibration: CalibrationRun?
    private let agones: AgonesReporter?
    private let onListening: @Sendable (Endpoint) -> Void

    /// Binds the port and makes the relay. Nothing is served until `run`.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the server and its relay.
    ///   - logger: The logger for the server's messages.
    ///   - onListening: Called once, when all sockets are open and served.
    public static func bind(
        _ configuration: RelayServerConfiguration, logger: Logger,
        onListening: @escaping @Sendable (Endpoint) -> Void = { _ in }
    ) async throws(StartupError) -> RelayServer {
        try await RelayServer(configuration, logger: logger, onListening: onListening) { relayConfiguration in
            Relay(configuration: relayConfiguration, wallClock: .system(), now: .now())
        }
    }

    /// Does the same around another relay core.
    init(
        _ configuration: RelayServerConfiguration, logger: Logger, onListening: @escaping @Sendable (Endpoint) -> Void,
        makeRelay: @escaping @Sendable (RelayConfiguration) -> any RelayCore
    ) async throws(StartupError) {
        ProcessMemory.returnAtOnce()
        try OpenFileLimit.check(OpenFileLimit.raise(), allows: configuration.maximumConnections)
        try AddressSpaceLimit.check(AddressSpaceLimit.current, workers: configuration.workers)
        flightFolder = try Self.makeFlightFolder(configuration, logger: logger)
        recordings = try Self.makeRecordings(configuration)
        var configuration = configuration
        certificates = try Self.read(&configuration, logger: logger)
        try HardwareSelection(configuration, logger: logger).select(for: &configuration.relay)
        events = try EventOutputs.open(configuration, logger: logger)
        keys = try configuration.accessKeys.map { path throws(StartupError) in
            try KeyStore(file: path, logger: logger)
        }
        etcd = try configuration.cluster.map { settings throws(StartupError) in try EtcdClient(settings.etcd) }
        configuration.relay.certificate = try Self.makeCertificate()
        SRTPContext.prepareLibrary()
        mediaGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        binder = PortBinder(host: configuration.host, eventLoop: mediaGroup.next())
        administrationAddress = configuration.administrationAddress
        administration = administrationAddress.map { [mediaGroup] in
            PortBinder(administrationAt: $0, eventLoop: mediaGroup.next())
        }
        let bound: TransportAddress
        do throws(StartupError) {
            mediaChannel = try await binder.bind(port: configuration.port)
            if let administrationAddress { try await administration?.tryTCP(port: administrationAddress.port) }
            guard let address = mediaChannel.localAddress.flatMap({ TransportAddress($0) }) else {
                throw .addressNotAvailable(configuration.host)
            }
            bound = address
        } catch {
            await etcd?.close()
            try? await mediaGroup.shutdownGracefully()
            throw error
        }
        let areAddressesGiven = !configuration.publicAddresses.isEmpty
        let mediaAddresses =
            areAddressesGiven
            ? configuration.publicAddresses.map { $0.with(port: bound.port) } : LocalAddresses.reaching(bound)
        machineAddresses = !areAddressesGiven && bound.isUnspecified ? mediaAddresses : nil
        Self.log(mediaAddresses, to: logger)
        configuration.relay.mediaAddresses = mediaAddresses
        if let flightFolder { configuration.relay.makeFlightRecorder = { flightFolder.makeRecorder($0) } }
        streams = StreamHub(configuration, logger: logger)
        outputs = configuration.outputs
        listeners = StreamListeners(configuration, logger: logger)
        players = configuration.players ?? listeners.map { _ in PlayerRules() }
        traces = configuration.traceCollector.map {
            TraceExporter(endpoint: $0, transport: WebhookClient(), logger: logger)
        }
        tracer = traces.map { JoinTracer(exporter: $0) }
        agones =
            configuration.reportsToAgones
            ? AgonesReporter(
                environment: ProcessInfo.processInfo.environment, transport: WebhookClient(), logger: logger) : nil
        connections = ConnectionRegister(
            ConnectionAdmission(
                maximum: configuration.maximumConnections, reserve: SignallingLimits.reservedConnections,
                trustedProxies: configuration.trustedProxies))
        iceServers = configuration.iceServers
        turnSecret = configuration.turnSecret
        allowedOrigins = configuration.allowedOrigins
        clients = ClientDirectory(trustedProxies: configuration.trustedProxies)
        self.logger = logger
        self.onListening = onListening
        endpoint = Endpoint(address: bound, isEncrypted: certificates != nil)
        signallingGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        calibration = CalibrationRun(configuration)
        driver = RelayDriver(
            eventLoop: mediaChannel.eventLoop, workerCount: configuration.workers,
            downlink: configuration.emulatedDownlink, onOverloadEvent: OverloadLog(logger: logger).record,
            onNotice: { [log = RelayLog(logger: logger), tracer] notice in
                log.record(notice)
                tracer?.record(notice)
            },
            onEvent: events.map { events in { @Sendable event in events.record(event) } },
            makeRelay: { [relay = configuration.relay] in makeRelay(relay) })
        cluster = ClusterService(
            configuration.cluster, engine: etcd, ownURL: endpoint.url(at: mediaAddresses.first ?? bound),
            driver: driver, logger: logger)
    }

    /// Serves until a graceful shutdown is requested; then all participants are sent a goodbye and the sockets are
    /// closed.
    ///
    /// - Throws: `StartupError` if the TCP port was taken meanwhile, `ServiceError` if a socket failed.
    public func run() async throws {
        events?.start()
        traces?.start()
        let outcome: Result<Void, any Error>
        do {
            try await serve()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        listeners?.close()
        await driver.stop()
        // Until then the cluster sends joins here, and what follows may wait for servers and disks.
        await cluster?.close()
        await driver.close()
        await events?.close()
        await traces?.close()
        await flightFolder?.close()
        try? await signallingGroup.shutdownGracefully()
        try? await mediaGroup.shutdownGracefully()
        try outcome.get()
    }

    /// Reads the TLS certificate, that for etcd, and the keys of tokens again, for the connections and requests that
    /// come, and opens the event log's file anew. The log says if they cannot be used.
    public func reloadFiles() async {
        let etcd = etcd?.hasFiles == true ? etcd : nil
        if certificates == nil, events == nil, keys == nil, etcd == nil {
            logger.notice("nothing to read again: the relay has no certificate, event log or keys of tokens")
        }
        certificates?.reload()
        events?.reopenLog()
        await keys?.reload()
        do throws(StartupError) {
            try await etcd?.readFilesAgain()
            if etcd != nil { logger.notice("the files of etcd's TLS were read again") }
        } catch {
            logger.error("etcd's earlier TLS files stay in use: \(error)")
        }
    }

    /// The interval at which the certificate's files are checked.
    private static let certificateCheckInterval = Duration.seconds(10)

    private func watchCertificate() async {
        guard let certificates else { return }
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.certificateCheckInterval)) != nil { certificates.reloadIfChanged() }
        }
    }

    /// Hands the driver what works beside the calls.
    private func attachHubs() async {
        if let recordings { await driver.setRecordings(recordings, logger: logger, now: { .now() }) }
        if let streams { await driver.setStreams(streams) }
        if let outputs {
            await driver.setOutputs(logger: logger) { target in
                { turn, isAbandoned throws(OutputFailure) in
                    try NetworkSink(to: target, rules: outputs, turn: turn, isAbandoned: isAbandoned)
                }
            }
        }
        if let players { await driver.setPlayers(players, logger: logger) }
    }

    private func serve() async throws {
        await attachHubs()
        try await driver.start(mediaChannel: mediaChannel)
        await cluster?.waitUntilReachable(upTo: ClusterService.startPatience)
        let router = makeSignallingRouter()
        try await listeners?.open(
            admission: StreamAdmission(access: router.access, driver: driver, quotas: router.quotas))
        // Not before what may fail: a failure ends the loop that takes the result.
        let calibrated = calibrate()
        let signalling = makeApplication(
            router.makeRouter(), address: endpoint.address, connections: connections,
            onRunning: { [onListening, endpoint, keys, logger] in
                onListening(endpoint)
                if keys == nil, !endpoint.address.isLoopback {
                    logger.warning(
                        "everybody who reaches \(endpoint.address) may join every room; --auth-keys asks for tokens")
                }
            })
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (administered, announceAdministered) = AsyncStream.makeStream(of: Never.self)
                group.addTask { [self] in
                    // A program that waits until the relay listens may use both addresses at once.
                    for await _ in administered {}
                    guard !Task.isCancelled else { return }
                    try await run(signalling, port: endpoint.address.port, binder: binder)
                }
                if let administrationAddress, let administration {
                    group.addTask { [self] in
                        try await administer(
                            router, at: administrationAddress, binder: administration,
                            onRunning: announceAdministered.finish)
                        announceAdministered.finish()
                    }
                } else {
                    announceAdministered.finish()
                }
                group.addTask { [driver] in
                    try await driver.waitUntilClosed()
                }
                group.addTask { await calibrated.value }
                group.addTask { [self] in await watchCertificate() }
                group.addTask { [self] in await followClock() }
                group.addTask { [self] in await followAddresses() }
                group.addTask { [self] in await deleteExpiredRecordings() }
                group.addTask { [self] in await makeFilms() }
                group.addTask { [cluster] in await cancelWhenGracefulShutdown { await cluster?.run() } }
                if let agones {
                    group.addTask { [driver] in
                        await cancelWhenGracefulShutdown {
                            var reporter = agones
                            await reporter.run { await driver.ask { $0.occupancy.participants } }
                        }
                    }
                }
                // Either all end, after a shutdown was asked for, or one fails: an error that leaves here cancels the
                // others, which `waitForAll` does not.
                for try await _ in group {}
            }
        } onGracefulShutdown: { [driver, listeners, cluster] in
            listeners?.close()
            // Nothing of this is left for the loop when `serve` has returned and the loop ends.
            Task {
                // The directory has to know who is in which room at the end.
                await cluster?.readOccupancy()
                await driver.stop()
            }
        }
    }

    /// Measures the machine, on a thread of its own: no call waits for it.
    ///
    /// - Returns: The end of it.
    private func calibrate() -> Task<Void, Never> {
        Task { [calibration, driver, logger] in
            guard let calibration else { return }
            let result = await withCheckedContinuation { continuation in
                Thread.detach(named: "calibration") {
                    let result = Result { try calibration.measure() }
                    ProcessMemory.returnFree()
                    continuation.resume(returning: result)
                }
            }
            switch result {
            case .success(let calibration): await driver.act { relay, now in relay.adopt(calibration, now: now) }
            case .failure(let error): logger.warning("\(error); seats are not counted")
            }
        }
    }

    /// Runs an application until the end. `binder` explains why a port cannot be listened on.
    func run(_ application: some ApplicationProtocol, port: UInt16, binder: PortBinder) async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw binder.startupError(error, transport: .tcp, port: Int(port))
        }
    }

    private func makeSignallingRouter() -> SignallingRouter {
        var generator = SystemRandomNumberGenerator()
        let sessions = SessionNames(using: &generator)
        let quotas = RequestQuotas()
        let access = AccessControl(keys: keys, driver: driver, sessions: sessions, quotas: quotas)
        return SignallingRouter(
            driver: driver, mediaPort: endpoint.address.port, isEncrypted: endpoint.isEncrypted,
            isLocalAddress: { LocalAddresses.contain($0) }, connections: connections, certificates: certificates,
            iceServers: iceServers, turnSecret: turnSecret, events: events, tracer: tracer, sessions: sessions,
            recordings: recordings, streams: streams?.streams, outputRules: outputs, playerRules: players,
            sites: SitePolicy(allowedOrigins: allowedOrigins, isEncrypted: endpoint.isEncrypted), clients: clients,
            quotas: quotas, access: access,
            hasAdministrationAddress: administrationAddress != nil, cluster: cluster)
    }

    func makeApplication(
        _ router: Router<SignallingContext>, address: TransportAddress, connections: ConnectionRegister,
        onRunning: @escaping @Sendable () -> Void
    ) -> Application<RouterResponder<SignallingContext>> {
        var quietLogger = logger
        quietLogger.logLevel = max(logger.logLevel, .warning)
        return Application(
            router: router,
            server: HTTPServerBuilder { [certificates] responder in
                SignallingChannel(connections: connections, certificates: certificates, responder: responder)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: Int(address.port)),
                serverName: "confrelay/\(RelayVersion.current)"),
            onServerRunning: { _ in onRunning() },
            eventLoopGroupProvider: .shared(signallingGroup),
            logger: quietLogger)
    }
}
