import Compositing
import MediaCore

/// The pictures and placeholders of a room's sources.
extension Room {
    /// Pictures or placeholders of the plan's sources that have not ended.
    func compositionSources(_ plan: ViewPlan, now: MonotonicInstant) -> [SourceID: CompositionSource] {
        var sources: [SourceID: CompositionSource] = [:]
        sources.reserveCapacity(plan.requiredSources.count)
        for id in plan.requiredSources { sources[id] = compositionSource(id, now: now) }
        return sources
    }

    /// A source's picture or placeholder; nil if the source has ended.
    private func compositionSource(_ id: SourceID, now: MonotonicInstant) -> CompositionSource? {
        guard let participant = participant(id.participant), participant.sends(id.content) else { return nil }
        return CompositionSource(
            id: id, name: participant.name, content: tileContent(id.content, of: participant, now: now),
            decoration: decoration(id.content, of: participant))
    }

    /// Keeps the content of a source that is about to end, for pictures in which it still fades out.
    func keepExiting(_ content: SourceContent, of participant: Participant, now: MonotonicInstant) {
        let id = SourceID(participant: participant.id, content: content)
        if let source = compositionSource(id, now: now) { composition.keepExiting(source) }
    }

    private func tileContent(
        _ content: SourceContent, of participant: Participant, now: MonotonicInstant
    ) -> TileContent {
        guard let pipeline = participant.pipeline(for: content), let silence = pipeline.silence(now: now),
            let time = pipeline.newestTime
        else { return .placeholder(avatar: participant.avatar?.image) }
        // A static screen is not sent repeatedly; only the end of its stream ends it.
        let isScreen = content == .screenShare
        if !isScreen, silence > configuration.silentAfter || !participant.isCameraShown { pipeline.forgetPicture() }
        guard let picture = pipeline.newest else { return .placeholder(avatar: participant.avatar?.image) }
        // A source that nobody saw shows an old picture until its next keyframe: no older than a silent source's.
        guard isScreen || now - time <= configuration.silentAfter else {
            return .placeholder(avatar: participant.avatar?.image)
        }
        // A camera of a picture a second is not interrupted between two of them.
        let staleAfter = max(configuration.staleAfter, pipeline.pictureInterval * 2)
        return .picture(picture, rotation: pipeline.rotation, isStale: !isScreen && silence > staleAfter)
    }

    /// The microphone's state is shown on the camera's tile, not on the screen share's.
    private func decoration(_ content: SourceContent, of participant: Participant) -> TileDecoration? {
        guard configuration.labels else { return nil }
        return switch content {
        case .screenShare: TileDecoration(icons: .screen)
        case .camera:
            TileDecoration(
                icons: participant.sendsAudio && participant.isHeard ? [] : .microphoneMuted,
                isSpeaking: audio.isSpeaking(participant.id))
        }
    }
}
