import Dispatch
import MediaCore
public import NIOCore
import SDP
import SecureTransport

extension ClientSession {
    /// Opens the inputs, joins the room and starts sending.
    ///
    /// - Throws: A `ClientError` for files that cannot be read or written, and for a relay that does not answer or
    ///   refuses.
    public static func join(_ options: JoinOptions, on eventLoop: any EventLoop) async throws -> ClientSession {
        // Mistakes in files are found before anyone sees the participant.
        let sources = try MediaSources(options)
        for path in [options.snapshotPath, options.flightRecorderPath].compactMap(\.self) { try JSONFile.check(path) }
        return try await join(options, sources: .init(sources), on: eventLoop)
    }

    /// Joins with sources that are open already.
    static func join(
        _ options: JoinOptions, sources: SourceBox, on eventLoop: any EventLoop
    ) async throws -> ClientSession {
        let recorder = try options.recordPath.map { path throws(ClientError) in
            try MovieRecorder(path: path)
        }
        SRTPContext.prepareLibrary()
        var options = options
        for _ in 0...RoomURL.maximumRedirections {
            do {
                return try await join(options, sources: sources, recorder: recorder, on: eventLoop)
            } catch let redirection as Negotiation.Redirection {
                options.url = redirection.url
            }
        }
        throw ClientError.relayRefused(
            url: "\(options.url)", status: 307, reason: "relays send us on and on, and none has the room")
    }

    /// Joins at one relay.
    ///
    /// - Throws: `Negotiation.Redirection` if another has the room.
    private static func join(
        _ options: JoinOptions, sources: SourceBox, recorder: MovieRecorder?, on eventLoop: any EventLoop
    ) async throws -> ClientSession {
        let host = try await Signalling(options.url).localAddress(on: eventLoop)
        let inbox = Inbox()
        let socket: NIOLoopBound<MediaSocket>
        do {
            socket = try await MediaSocket.bind(
                host: host, on: eventLoop,
                receive: { inbox.session?.received($0, from: $1, arrival: $2) },
                batchEnded: { inbox.session?.pump(now: ClientClock.now()) })
        } catch {
            throw ClientError.failed(reason: "a UDP socket cannot be opened: \(error)")
        }
        do {
            let address = try await eventLoop.submit { socket.value.localAddress }.get()
            guard let address else { throw ClientError.failed(reason: "the UDP socket has no address") }
            let certificate = try Self.certificate(options)
            let (offer, pending) = Negotiation.offer(
                options, sources: (sources.hasVideo, sources.followsBitRate, sources.hasAudio), address: address,
                fingerprint: certificate?.fingerprint)
            var negotiation = try await Negotiation.join(options, offer: offer, pending: pending)
            if let candidates = negotiation.session.transport?.remoteCandidates {
                negotiation.session.transport?.remoteCandidates = await MediaSocket.reachable(
                    candidates, from: address, on: eventLoop)
            }
            let joined = negotiation
            var options = options
            options.url.placement = nil
            options.url.rejoinKey = nil
            let settled = options
            return try await eventLoop.submit {
                let session = try ClientSession(
                    options: settled, eventLoop: eventLoop, negotiation: joined, certificate: certificate,
                    socket: socket.value, sources: sources.take(), recorder: recorder)
                inbox.session = session
                session.start()
                return session
            }.get()
        } catch {
            _ = try? await eventLoop.flatSubmit { socket.value.close() }.get()
            throw error
        }
    }

    /// Returns the certificate for the DTLS handshake; nil without one.
    private static func certificate(_ options: JoinOptions) throws(ClientError) -> DTLSCertificate? {
        guard options.transport == .dtls else { return nil }
        do {
            return try DTLSCertificate()
        } catch {
            throw .failed(reason: "no certificate can be made: \(error)")
        }
    }

    /// Carries datagrams to the session once there is one.
    ///
    /// `@unchecked Sendable` holds because it is touched on the session's event loop only.
    private final class Inbox: @unchecked Sendable {
        weak var session: ClientSession?
    }

    /// Carries opened sources, which one caller at a time may use, to the session.
    ///
    /// `@unchecked Sendable` holds because the sources are taken out once, by the session that they are made for, and
    /// nobody else keeps them.
    final class SourceBox: @unchecked Sendable {
        private let sources: MediaSources
        let hasVideo: Bool
        let followsBitRate: Bool
        let hasAudio: Bool

        init(_ sources: MediaSources) {
            self.sources = sources
            hasVideo = sources.video != nil
            followsBitRate = sources.video?.followsBitRate ?? true
            hasAudio = sources.audio != nil
        }

        func take() -> MediaSources { sources }
    }

    /// Waits until the session ends by itself: the relay leaves, or something fails. `leave` still has to be called.
    public func waitForEnd() async -> End {
        (try? await endPromise.futureResult.get()) ?? .left
    }

    /// Leaves the room: RTCP BYE, then `DELETE`; finishes files; and reports.
    ///
    /// - Parameter end: The reason: `duration`, `interrupted`, `relay-left`, `moved` or `failed`.
    /// - Returns: The report, and the failure if there was one: a file that could not be written, or no media at all.
    public func leave(end: String) async throws -> (report: ClientReport, error: ClientError?) {
        // First of all, since a relay that is gone may be asked for seconds, which are no part of the session.
        var report = try await eventLoop.submit { [self] in
            let now = ClientClock.now()
            if !isClosed { samples.keep(takeSample(now: now)) }
            return makeReport(end: end, now: now)
        }.get()
        report.delay.relay = await relayDelay()
        let feed = try await eventLoop.submit { [self] in
            stop()
            endPromise.succeed(.left)
            return roomFeed
        }.get()
        await feed?.value
        await Signalling(options.url).end(negotiation.location)
        _ = try? await eventLoop.flatSubmit { [self] in socket.close() }.get()
        var problem = await finishFiles()
        if report.receivedVideo.frames == 0, report.receivedAudio.packets == 0 {
            problem = problem ?? .noMedia(reason: "neither pictures nor audio arrived from \(options.url)")
        } else if negotiation.session.video?.receives == true, report.receivedVideo.frames == 0 {
            problem = problem ?? .noMedia(reason: "audio arrived from \(options.url), but no picture")
        }
        return (report, problem)
    }

    /// Ends the recordings and writes the snapshot; the first thing that goes wrong is returned.
    private func finishFiles() async -> ClientError? {
        var problem: ClientError?
        if let recorder {
            problem = await withCheckedContinuation { continuation in
                recorder.queue.async {
                    continuation.resume(returning: Self.failure { () throws(ClientError) in try recorder.finish() })
                }
            }
        }
        if let videoReceiver, let path = options.snapshotPath {
            let failure: ClientError? = await withCheckedContinuation { continuation in
                videoReceiver.queue.async {
                    continuation.resume(
                        returning: Self.failure { () throws(ClientError) in try videoReceiver.writeSnapshot(to: path) })
                }
            }
            problem = problem ?? failure
        }
        if let flight {
            let failure = await flight.close()
            problem = problem ?? failure
        }
        return problem
    }

    private static func failure(_ body: () throws(ClientError) -> Void) -> ClientError? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
