import Compositing
import Conference
import MediaCore

/// A fault in a room, in words: the drawing shows the same in colours.
struct TimelineFinding: Equatable {
    enum Severity: Equatable {
        /// The source is visible or audible now.
        case now
        /// The source was visible or audible in the last minute.
        case lately
    }

    var severity: Severity
    var text: String
}

extension RoomTimelineSnapshot {
    /// The faults of the last minute with their causes, present faults first.
    var findings: [TimelineFinding] {
        let all =
            sources.flatMap(findings) + relayFindings + encoders.flatMap(findings) + audio.flatMap(findings)
            + views.flatMap(findings)
        return all.filter { $0.severity == .now } + all.filter { $0.severity == .lately }
    }

    // MARK: Pictures in

    private func findings(_ source: Source) -> [TimelineFinding] {
        guard source.ended == nil else { return [] }
        if let last = source.states.last, last.end == nil, last.state == .frozen || last.state == .gone {
            let what = last.state == .frozen ? "stands still" : "is gone"
            // The time it is gone includes the time for which it stood still before.
            let still = source.states.dropLast().last.flatMap { $0.state == .frozen && last.state == .gone ? $0 : nil }
            let text =
                "\(source.title)’s picture \(what) since \(TimelineText.seconds(-(still ?? last).start)): "
                + (last.cause ?? still?.cause).map { source.explanation(of: $0) }.or("no new picture came")
            return [TimelineFinding(severity: .now, text: text)]
        }
        let freezes = source.states.filter { $0.state == .frozen && ($0.end ?? 0) > firstBucket }
        guard !freezes.isEmpty else { return [] }
        let total = freezes.reduce(0) { $0 + max(0, ($1.end ?? 0) - max($1.start, firstBucket)) }
        let times = freezes.count == 1 ? "once" : "\(freezes.count) times"
        let causes = freezes.compactMap(\.cause)
        let cause = causes.max { left, right in
            causes.count { $0 == left } < causes.count { $0 == right }
        }
        return [
            TimelineFinding(
                severity: .lately,
                text: "\(source.title)’s picture stood still \(times), for \(TimelineText.seconds(total)) in all: "
                    + cause.map { source.explanation(of: $0) }.or("pictures came too far apart"))
        ]
    }

    // MARK: The relay

    private var relayFindings: [TimelineFinding] {
        var findings: [TimelineFinding] = []
        if let measures { findings.append(TimelineFinding(severity: .now, text: measures)) }
        let (skipped, missed) = (ticks.skipped.total, ticks.missed.total)
        let late = ticks.late.total
        let room = TimelineText.milliseconds(tickInterval * 1000)
        if skipped > 0 {
            findings.append(
                relayFinding(
                    "The relay itself was too busy for this room: \(TimelineText.count(skipped, "tick")) skipped. "
                        + "Everybody’s picture stood still meanwhile", ticks.skipped))
        }
        if missed + late > 0 {
            let slowest = TimelineText.milliseconds(ticks.slowest.max() ?? 0)
            let left = missed > 0 ? "\(TimelineText.count(missed, "tick")) left out" : ""
            let behind = late > 0 ? "\(late) late" : ""
            findings.append(
                relayFinding(
                    "The relay did not compose in time: "
                        + "\([left, behind].filter { !$0.isEmpty }.joined(separator: " and ")); "
                        + "up to \(slowest) where \(room) are there",
                    zip(ticks.missed, ticks.late).map { $0 &+ $1 }))
        }
        if ticks.fellBack.total > 0 {
            findings.append(
                relayFinding(
                    "\(TimelineText.count(ticks.fellBack.total, "picture")) could not be composed; the last good ones "
                        + "were shown instead", ticks.fellBack))
        }
        return findings
    }

    /// True if so many ticks were missed that nothing can be concluded about participants.
    private var isOverloaded: Bool {
        let skipped = ticks.skipped.total
        return skipped > 0 && Double(skipped) > 0.1 * Double(ticks.taken.total + skipped)
    }

    private func relayFinding(_ text: String, _ counts: [UInt16]) -> TimelineFinding {
        TimelineFinding(severity: counts.suffix(20).contains { $0 > 0 } ? .now : .lately, text: text)
    }

    // MARK: Pictures out

    /// The share of left-out pictures below which they do not matter.
    private static let muchLeftOut = 0.1

    private func findings(_ encoder: Encoder) -> [TimelineFinding] {
        guard encoder.ended == nil, !encoder.members.isEmpty else { return [] }
        let who = TimelineText.isolated(encoder.members)
        var findings: [TimelineFinding] = []
        let (encoded, leftOut) = (encoder.encoded.total, encoder.leftOut.total)
        if Double(leftOut) > Self.muchLeftOut * Double(encoded + leftOut) {
            let recent = Double(encoder.leftOut.suffix(30).total)
            let isNow = recent > Self.muchLeftOut * (recent + Double(encoder.encoded.suffix(30).total))
            let part = 100 * leftOut / (encoded + leftOut)
            let waited =
                2 * zip(encoder.leftOut, encoder.waiting).reduce(0) { $0 + ($1.1 > 0 ? Int($1.0) : 0) } > leftOut
            let rate = encoder.targetBitRate.compactMap(\.self).last.map(TimelineText.rate(kilobits:)) ?? ""
            let why =
                if isOverloaded {
                    "the relay is too busy"
                } else if waited {
                    "the way to them carries no more (\(rate))"
                } else {
                    "the relay had no time to encode them"
                }
            findings.append(
                TimelineFinding(
                    severity: isNow ? .now : .lately,
                    text: "\(part) % of the pictures for \(who) were left out: \(why)"))
        }
        for layerDrops in encoder.layerDrops where Double(layerDrops.frames) > Self.muchLeftOut * Double(encoded) {
            findings.append(
                TimelineFinding(
                    severity: .lately,
                    text: "\(layerDrops.frames) of \(TimelineText.count(encoded, "picture")) were left out for "
                        + "\(TimelineText.isolated(layerDrops.person.name)) alone: the way to them carries less than "
                        + "the others’"
                ))
        }
        if encoder.keyframeRequests.count > 2 {
            let names = encoder.keyframeRequests.reduce(into: [String]()) { names, request in
                if !names.contains(request.name) { names.append(request.name) }
            }
            findings.append(
                TimelineFinding(
                    severity: encoder.keyframeRequests.contains { $0.time > -2 } ? .now : .lately,
                    text: "\(TimelineText.list(names.map(TimelineText.isolated))) asked for "
                        + "\(encoder.keyframeRequests.count) keyframes: pictures to them are lost on the way"))
        }
        return findings
    }

    // MARK: Audio

    /// Milliseconds of made-up audio that are heard.
    private static let muchConcealed = 400

    private func findings(_ audio: Audio) -> [TimelineFinding] {
        let concealed = audio.concealed.total
        guard audio.ended == nil, concealed >= Self.muchConcealed else { return [] }
        return [
            TimelineFinding(
                severity: audio.concealed.suffix(20).total > 40 ? .now : .lately,
                text:
                    "\(TimelineText.seconds(Double(concealed) / 1000)) of "
                    + "\(TimelineText.isolated(audio.person.name))’s audio were made up: "
                    + (isOverloaded
                        ? "the relay was too busy to take it in time"
                        : "packets from them came too late or not at all"))
        ]
    }

    // MARK: Instructions

    private func findings(_ view: View) -> [TimelineFinding] {
        view.issues.map {
            TimelineFinding(
                severity: .now, text: "The composition for \(TimelineText.isolated(view.receivers)) is wrong: \($0)")
        }
    }
}

extension RoomTimelineSnapshot.Source {
    /// The participant and the content.
    var title: String {
        let name = TimelineText.isolated(person.name)
        return content == .screenShare ? "\(name)’s screen" : name
    }

    /// Returns the reason for a picture that stands still, with the responsible part.
    func explanation(of cause: RoomTimelineSnapshot.FreezeCause) -> String {
        switch cause {
        case .nothingArrived: "nothing came from them. It is their device or their way to the relay"
        case .packetsLost:
            "\(TimelineText.count(packetsLost.total, "packet")) of theirs lost on the way to the relay; "
                + "the relay asked for \(TimelineText.count(keyframeRequests.total, "keyframe"))"
        case .undecodable: "frames came, and the decoder could not use them"
        case .relayBusy: "frames came, but the relay had no time to decode them"
        }
    }
}

extension String? {
    fileprivate func or(_ text: String) -> String { self ?? text }
}

extension Sequence<UInt16> {
    /// The sum, which in itself may be larger than a bucket's figure.
    var total: Int { reduce(0) { $0 + Int($1) } }
}
