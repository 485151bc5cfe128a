import Foundation
import LinkEmulation
import MediaCore
import NIOCore
import PeerConnection
import SecureTransport

extension ClientSession {
    /// Returns the events since the last sample. Call it on the event loop.
    func takeSample(now: MonotonicInstant) -> ClientReport.Sample {
        let statistics = peer.statistics(now: now)
        let interval = measurements.current
        let span = max(now - previousSample, .milliseconds(1))
        measurements.current = .init()
        previousSample = now
        func rate(_ size: DataSize) -> Double { Self.rounded(BitRate(size, over: span)) }
        return ClientReport.Sample(
            seconds: Self.rounded(now - measurements.start), receivedFrames: interval.frames,
            receivedVideoBitsPerSecond: rate(interval.videoSize),
            receivedAudioBitsPerSecond: rate(interval.audioSize), width: measurements.dimensions?.width,
            height: measurements.dimensions?.height,
            freezeSeconds: Self.rounded(measurements.freezes.totalFreezeDuration(now: now)),
            longestGapSeconds: Self.rounded(measurements.freezes.takeRecentGap(now: now)),
            delaySeconds: measurements.lastDelay.map(Self.rounded),
            roundTripSeconds: statistics.roundTripTime.map(Self.rounded),
            packetsLost: Int(clamping: statistics.video.packetsLost), sentFrames: interval.sentFrames,
            sentVideoBitsPerSecond: rate(interval.sentVideoSize),
            sentAudioBitsPerSecond: rate(interval.sentAudioSize),
            videoTargetBitsPerSecond: videoSender == nil ? 0 : Self.rounded(statistics.videoBitRate))
    }

    /// Returns the state of the client.
    public func status() async throws -> ClientStatus {
        try await eventLoop.submit { [self] in
            let now = ClientClock.now()
            let statistics = peer.statistics(now: now)
            let last = samples.last
            return ClientStatus(
                elapsed: now - measurements.start, framesPerSecond: Double(last?.receivedFrames ?? 0),
                dimensions: measurements.dimensions, receiveBitRate: statistics.receiveBitRate,
                lossFraction: Self.lossFraction(statistics), roundTripTime: statistics.roundTripTime,
                freezeCount: measurements.freezes.totalFreezeCount(now: now),
                freezeDuration: measurements.freezes.totalFreezeDuration(now: now),
                endToEndDelay: measurements.lastDelay,
                uplinkTarget: videoSender == nil ? nil : statistics.videoBitRate,
                sendBitRate: statistics.sendBitRate, hasVideo: measurements.videoFrames > 0,
                isReconnecting: peer.connectionState == .reconnecting)
        }.get()
    }

    /// The whole session so far. On the event loop.
    func makeReport(end: String, now: MonotonicInstant) -> ClientReport {
        let statistics = peer.statistics(now: now)
        let span = max(now - measurements.start, .milliseconds(1))
        let shown = measurements.firstVideoFrame.map { max(now - $0, .milliseconds(1)) }
        let frames = measurements.videoFrames
        func rate(_ size: DataSize) -> Double { Self.rounded(BitRate(size, over: span)) }
        return ClientReport(
            name: options.name, url: "\(options.url)", participant: negotiation.location,
            joinedAt: joinedAt.formatted(.iso8601), durationSeconds: Self.rounded(span), end: end,
            join: .init(
                transport: options.transport.rawValue,
                secondsToAnswer: Self.rounded(measurements.start - measurements.posted),
                secondsToConnect: measurements.connected.map { Self.rounded($0 - measurements.posted) },
                secondsToFirstPicture: measurements.firstPicture.map { Self.rounded($0 - measurements.posted) }),
            receivedVideo: .init(
                frames: frames, keyframes: measurements.keyframes, framesDecoded: measurements.picturesDecoded,
                decodeErrors: measurements.decodeFailures, framesNotDecoded: measurements.framesNotDecoded,
                framesPerSecond: shown.map { (Double(frames) / $0.seconds * 100).rounded() / 100 } ?? 0,
                width: measurements.dimensions?.width, height: measurements.dimensions?.height,
                bytes: measurements.videoSize.bytes, bitsPerSecond: rate(measurements.videoSize),
                secondsToFirstFrame: measurements.firstVideoFrame.map { Self.rounded($0 - measurements.start) },
                freezeCount: measurements.freezes.totalFreezeCount(now: now),
                freezeSeconds: Self.rounded(measurements.freezes.totalFreezeDuration(now: now)),
                longestGapSeconds: Self.rounded(measurements.freezes.longestGap),
                packets: Int(clamping: statistics.video.packetsReceived),
                packetsLost: Int(clamping: statistics.video.packetsLost),
                lossFraction: Self.lossFraction(statistics),
                nacksSent: Int(clamping: statistics.video.nacksSent),
                fecPackets: Int(clamping: statistics.video.fecPacketsReceived),
                packetsRecovered: Int(clamping: statistics.video.packetsRecovered),
                keyframeRequestsSent: Int(clamping: statistics.video.keyframeRequestsSent),
                recoveriesWithoutKeyframe: Int(clamping: statistics.video.recoveryPointsUsed),
                pauseCount: measurements.freezes.pauseCount,
                pauseSeconds: Self.rounded(measurements.freezes.pauseDuration)),
            receivedAudio: .init(
                packets: measurements.audioPackets, bytes: measurements.audioSize.bytes,
                bitsPerSecond: rate(measurements.audioSize),
                redBlocksUsed: Int(clamping: statistics.audio.repetitionsUsed)),
            sentVideo: .init(
                frames: measurements.sentFrames, keyframes: measurements.sentKeyframes,
                framesSkipped: measurements.skippedFrames, bytes: measurements.sentVideoSize.bytes,
                bitsPerSecond: rate(measurements.sentVideoSize),
                targetBitsPerSecond: videoSender == nil ? 0 : Self.rounded(statistics.videoBitRate),
                lossFraction: statistics.videoFractionLost,
                keyframeRequestsReceived: Int(clamping: statistics.video.keyframeRequestsReceived),
                width: measurements.sentDimensions?.width, height: measurements.sentDimensions?.height,
                sizeChanges: measurements.sentSizeChanges, followsDemand: options.followsDemand,
                tileWidth: tile?.width, tileHeight: tile?.height,
                requestedBitsPerSecond: peer.requestedVideoLimit.map(Self.rounded)),
            sentAudio: .init(
                packets: measurements.sentAudioPackets, bytes: measurements.sentAudioSize.bytes,
                bitsPerSecond: rate(measurements.sentAudioSize), lossFraction: statistics.audioFractionLost),
            transport: .init(
                packetsSent: Int(clamping: statistics.counters.packetsSent),
                packetsReceived: Int(clamping: statistics.counters.packetsReceived),
                retransmissionsSent: Int(clamping: statistics.counters.retransmissions),
                fecPacketsSent: Int(clamping: statistics.counters.flexFECPacketsSent),
                redPacketsSent: Int(clamping: statistics.audio.redPacketsSent),
                nacksReceived: Int(clamping: statistics.counters.nacksReceived),
                packetsNotAuthenticated: Int(clamping: statistics.counters.unauthenticatedPackets),
                packetsReplayed: Int(clamping: statistics.counters.replayedPackets),
                packetsMalformed: Int(clamping: statistics.counters.malformedPackets),
                roundTripSeconds: statistics.roundTripTime.map(Self.rounded),
                targetBitsPerSecond: Self.rounded(statistics.targetBitRate)),
            delay: makeDelay(), uplink: uplink.map(Self.link), downlink: downlink.map(Self.link), samples: samples)
    }

    /// Returns the relay's account of the measured delay: ask while the relay still knows the participant.
    func relayDelay() async -> ClientReport.RelayDelay? {
        guard let mean = try? await eventLoop.submit({ [self] in measurements.delays.mean }).get(),
            let room = try? await RoomController(url: negotiation.memberURL(of: options.url)).report(),
            let member = room.participants.first(where: { negotiation.location.contains("/\($0.id)") }),
            let ledger = member.latency
        else { return nil }
        return ClientReport.RelayDelay(ledger, measured: mean)
    }

    private func makeDelay() -> ClientReport.Delay {
        ClientReport.Delay(
            samples: measurements.delays.count, meanSeconds: measurements.delays.mean.map(Self.rounded),
            medianSeconds: measurements.delays.quantile(0.5).map(Self.rounded),
            p95Seconds: measurements.delays.quantile(0.95).map(Self.rounded),
            maximumSeconds: measurements.delays.maximum.map(Self.rounded),
            participants: measurements.delaysByTag.sorted { $0.key < $1.key }.map { tag, delays in
                .init(tag: Int(tag), samples: delays.count, meanSeconds: delays.mean.map(Self.rounded))
            })
    }

    private static func link(_ link: EmulatedAccessLink<TransportAddress>) -> ClientReport.Link {
        ClientReport.Link(
            packetsSent: link.statistics.sentPackets, packetsDelivered: link.statistics.deliveredPackets,
            packetsLost: link.statistics.lostPackets, packetsDropped: link.statistics.droppedPackets,
            bytesDelivered: link.statistics.deliveredSize.bytes)
    }

    private static func lossFraction(_ statistics: PeerStatistics) -> Double {
        let lost = Double(max(0, statistics.video.packetsLost))
        let expected = Double(statistics.video.packetsReceived) + lost
        return expected > 0 ? (lost / expected * 1e5).rounded() / 1e5 : 0
    }

    /// Seconds to a tenth of a millisecond.
    private static func rounded(_ duration: Duration) -> Double { (duration.seconds * 1e4).rounded() / 1e4 }

    private static func rounded(_ rate: BitRate) -> Double { Double(rate.bitsPerSecond) }
}
