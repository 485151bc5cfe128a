import AudioMixing
import Compositing
import CongestionControl
import EncoderSharing
public import MediaCore
import PeerConnection
import RoomAPI
import SDP
import VideoCoding

extension Relay {
    /// The state of all rooms, for `GET /rooms` and `/metrics`.
    public func snapshot(now: MonotonicInstant) -> RelaySnapshot {
        var joins = joinCounters
        var copies = copies
        copies.fromDevice &+= configuration.surfaceCopies.count
        joins.unconnected = unconnected.count
        return RelaySnapshot(
            rooms: rooms.values.map { $0.snapshot(now: now) }.sorted { $0.id < $1.id }, datagrams: datagrams,
            joins: joins, isDraining: isDraining, overload: overload.snapshot, decoding: decoding.snapshot,
            composing: composing, copies: copies)
    }

    /// The state of one room; `nil` when there is none of that name.
    public func snapshot(room id: String, now: MonotonicInstant) -> RoomSnapshot? {
        rooms[id]?.snapshot(now: now)
    }
}

extension Room {
    func snapshot(now: MonotonicInstant) -> RoomSnapshot {
        RoomSnapshot(
            id: id,
            participants: participants.filter { !$0.grants.isHidden && $0.remote == nil }.map {
                snapshot(of: $0, now: now)
            },
            elsewhere: participants.compactMap { member in
                member.remote.map {
                    RemoteParticipantSnapshot(
                        id: member.publicID, name: member.name, role: member.role, relay: $0.link.node)
                }
            },
            ticks: composition.ticks,
            missedTicks: composition.missedTicks, composedPictures: composition.composedPictures,
            pictures: composition.pictures, lateAudioTicks: audio.lateTicks, audioFailures: audio.failures,
            layout: layout, overlays: overlays, activeSpeaker: activeSpeaker?.publicID,
            encoding: encoders.snapshot { id in
                participant(id).flatMap { $0.grants.isHidden ? nil : $0.publicID }
            }, measures: measures,
            forwarding: forwardingSnapshot())
    }

    private func snapshot(of participant: Participant, now: MonotonicInstant) -> ParticipantSnapshot {
        let audioState = audio.state(of: participant.id)
        let downlink = encoders.downlink(of: participant.id)
        var snapshot = participant.snapshot(
            encoded: downlink.map {
                EncodedDownlink(
                    pipeline: $0, group: encoders.source(of: participant.id) ?? encoders.group(of: participant.id),
                    source: encoders.source(of: participant.id)?.id)
            }, audio: audioState, now: now)
        let summary = summary(of: participant)
        snapshot.microphone = summary.microphone
        snapshot.camera = summary.camera
        snapshot.isSpeaking = summary.isSpeaking
        snapshot.connection = summary.connection
        snapshot.downlink.explanation = explanation(for: participant, now: now)
        snapshot.downlink.sharedView = sharesView(participant)
        snapshot.downlink.layersDropped = downlink?.layersDropped(now: now) ?? 0
        snapshot.downlink.forwarding = forwardingSnapshot(of: participant)
        snapshot.downlink.audioForwarding = audioForwardingSource(of: participant)?.publicID
        snapshot.downlink.packetsForwarded =
            (forwarding.link(of: participant.id)?.packets ?? 0) &+ (audioState?.link.packets ?? 0)
        if let size = forwarding.dimensions(sentTo: participant.id) {
            (snapshot.downlink.width, snapshot.downlink.height) = (size.width, size.height)
        }
        snapshot.avatar = summary.avatar
        snapshot.tiles = SourceContent.allCases.compactMap { content in
            demands.layer(of: SourceID(participant: participant.id, content: content)).map {
                TileSnapshot(content: content, width: $0.tile.width, height: $0.tile.height)
            }
        }
        return snapshot
    }
}

/// A receiver's pipeline, with the group whose frames it gets or will get, and the group's number.
private struct EncodedDownlink {
    var pipeline: DownlinkPipeline
    var group: EncodeGroup?
    var source: EncodeGroupID?
}

extension Participant {
    fileprivate func snapshot(
        encoded: EncodedDownlink?, audio: AudioPlane.State?, now: MonotonicInstant
    ) -> ParticipantSnapshot {
        let statistics = peer.statistics(now: now)
        return ParticipantSnapshot(
            id: publicID, name: name, role: role.rawValue, duration: (now - joined).seconds,
            uplink: uplinkSnapshot(statistics, audio: audio), downlink: downlinkSnapshot(statistics, encoded: encoded),
            roundTripTime: statistics.roundTripTime?.milliseconds, latency: encoded == nil ? [] : latency(statistics),
            uplinkLatency: uplinkLatency, layout: layout, screenShare: screenShareSnapshot)
    }

    private var screenShareSnapshot: ScreenShareSnapshot? {
        guard sharesScreen, let screenShare, let picture = screenShare.newest else { return nil }
        let size = screenShare.rotation.upright(picture.dimensions)
        return ScreenShareSnapshot(
            width: size.width, height: size.height, framesDecoded: screenShare.framesDecoded,
            framesDropped: screenShare.framesDropped, framesSkipped: screenShare.framesSkipped,
            maximumBitRate: peer.receivedVideoLimit(.screenShare)?.bitsPerSecond, skipMode: screenShare.skipMode)
    }

    private func uplinkSnapshot(_ statistics: PeerStatistics, audio: AudioPlane.State?) -> UplinkSnapshot {
        let size = uplink?.newest?.dimensions
        return UplinkSnapshot(
            bitRate: statistics.receiveBitRate.bitsPerSecond, packets: statistics.counters.packetsReceived,
            packetsLost: statistics.video.packetsLost, width: size?.width ?? 0, height: size?.height ?? 0,
            framesReceived: statistics.video.framesReceived, framesDecoded: uplink?.framesDecoded ?? 0,
            framesDropped: statistics.video.framesWithheld &+ (uplink?.framesDropped ?? 0),
            framesSkipped: uplink?.framesSkipped ?? 0,
            framesRefused: (uplink?.framesRefused ?? 0) &+ (screenShare?.framesRefused ?? 0),
            maximumBitRate: peer.receivedVideoLimit()?.bitsPerSecond, skipMode: uplink?.skipMode ?? .full,
            keyframes: statistics.video.keyframesReceived, keyframeRequests: statistics.video.keyframeRequestsSent,
            nacks: statistics.video.nacksSent,
            fecPackets: statistics.video.fecPacketsReceived, packetsRecovered: statistics.video.packetsRecovered,
            decodeQueue: uplink?.queuedFrames ?? 0, malformedPackets: statistics.counters.malformedPackets,
            packetsRateLimited: packetsRateLimited,
            audioPackets: statistics.audio.packetsReceived, redBlocksUsed: statistics.audio.repetitionsUsed,
            audioPacketsNotDecoded: audio?.packetsNotDecoded ?? 0,
            audioLevel: audio?.report?.level.decibelsBelowOverload ?? 127,
            audioLevelRefuted: audio?.isLevelRefuted ?? false,
            audioDelay: audio?.report?.statistics.playoutDelay.milliseconds ?? 0)
    }

    private func downlinkSnapshot(_ statistics: PeerStatistics, encoded: EncodedDownlink?) -> DownlinkSnapshot {
        let (downlink, group) = (encoded?.pipeline, encoded?.group)
        let rung = group?.rung ?? downlink?.rung
        let dimensions = rung?.dimensions ?? downlink?.dimensions
        return DownlinkSnapshot(
            targetBitRate: statistics.targetBitRate.bitsPerSecond,
            videoBitRate: downlink?.bitRate.sustained.bitsPerSecond ?? 0, bitRate: statistics.sendBitRate.bitsPerSecond,
            videoPaused: statistics.isVideoPaused,
            packets: statistics.counters.packetsSent, loss: statistics.videoFractionLost,
            width: dimensions?.width ?? 0, height: dimensions?.height ?? 0,
            maximumFrameRate: rung?.frameRate ?? 0, limit: group?.limit,
            group: encoded?.source?.rawValue, groupBitRate: group?.bitRate.sustained.bitsPerSecond ?? 0,
            framesEncoded: downlink?.framesEncoded ?? 0, framesLayerDropped: downlink?.framesLayerDropped ?? 0,
            groupChanges: downlink?.groupChanges ?? 0, framesDropped: downlink?.framesDropped ?? 0,
            keyframes: downlink?.keyframes ?? 0, keyframeRequests: statistics.video.keyframeRequestsReceived,
            retransmissions: statistics.counters.retransmissions, repair: statistics.repair,
            recovery: recoverySnapshot(encoded),
            fecPackets: statistics.counters.flexFECPacketsSent, redPackets: statistics.audio.redPacketsSent,
            pacerQueue: statistics.pacerQueue.bytes,
            controllerState: statistics.controllerState)
    }

    private func recoverySnapshot(_ encoded: EncodedDownlink?) -> RecoverySnapshot {
        let counters = encoded?.pipeline.recovery ?? RecoveryCounters()
        return RecoverySnapshot(
            method: encoded?.group?.recoveryMethod.name ?? LossRecovery.keyframes.name, refreshes: counters.refreshes,
            refreshesUsed: counters.refreshesUsed, keyframes: counters.keyframes)
    }

    private var uplinkLatency: [StageSnapshot] {
        guard let uplink else { return [] }
        return LatencyStage.uplink.map {
            StageSnapshot(stage: $0.name, histogram: uplink.stages[$0])
        }
    }

    private func latency(_ statistics: PeerStatistics) -> [StageSnapshot] {
        LatencyStage.allCases.map { StageSnapshot(stage: $0.name, histogram: statistics.latency[$0]) }
            + [
                StageSnapshot(stage: "total", histogram: statistics.latency.total),
                StageSnapshot(stage: "forwarding", histogram: peer.forwardingLatency),
            ]
    }
}
