import Conference
import VectorGraphics

/// The audio rows.
extension TimelineSVG {
    private static let audioHeight = 32.0
    private static let mixHeight = 30.0
    /// The level that is drawn as silence, in decibels below overload.
    private static let quietest = 70.0
    /// The reduction that fills the mix's row, in decibels.
    private static let largestReduction = 12.0

    func audioRows(_ svg: inout SVGBuilder, y: Double) -> Double {
        var y = section(
            "Audio",
            legend: [
                ("t-voice", "voice"), ("t-audio", "other audio"), ("t-kept-out", "kept out of the mix"),
                ("t-line t-gain", "gain in the mix"), ("t-concealed", "made up for lost packets"),
                ("t-line t-heard", "what they hear"), ("t-limited", "taken away by the limiter"),
            ], &svg, y: y)
        for audio in snapshot.audio { y = row(audio, &svg, y: y) }
        return mixRow(&svg, y: y)
    }

    /// Returns the present state in a few words.
    private func detail(of audio: RoomTimelineSnapshot.Audio) -> String {
        if let ended = audio.ended { return "left \(TimelineText.seconds(-ended)) ago" }
        guard let last = zip(audio.level, audio.gain).suffix(10).last(where: { $0.0 != nil }), let level = last.0 else {
            return "no audio sent"
        }
        return "\(level >= 127 ? "silent" : "−\(level) dB") · gain \(TimelineText.gain(last.1))"
    }

    private func row(_ audio: RoomTimelineSnapshot.Audio, _ svg: inout SVGBuilder, y: Double) -> Double {
        let height = Self.audioHeight
        let detail = detail(of: audio)
        rowFrame(
            audio.person.name, detail: detail,
            tooltip: "Audio of \(TimelineText.isolated(audio.person.name)) (\(audio.person.id)): \(detail)",
            height: height,
            isOver: audio.ended != nil, &svg, y: y)
        let baseline = y + height
        let scale = (height - 4) / Self.quietest
        for (kind, isShown) in Self.levelKinds {
            let values = audio.level.indices.map { index in
                guard let level = audio.level[index], isShown(audio, index) else { return 0.0 }
                return max(0, Self.quietest - Double(level))
            }
            let path = area(values, baseline: baseline, scale: scale)
            if !path.isEmpty { svg.element("path", ["class": .text(kind), "d": .text(path.data)]) }
        }
        let heard = steps(
            bridged(audio.mixLevel).map { $0.map { max(0, Self.quietest - Double($0)) } }, baseline: baseline,
            scale: scale)
        svg.element("path", ["class": "t-line t-heard", "d": .text(heard.data)])
        let gains = steps(
            bridged(zip(audio.level, audio.gain).map { $0 == nil ? nil : $1 }), baseline: baseline - 1,
            scale: height - 3)
        svg.element("path", ["class": "t-line t-gain", "d": .text(gains.data)])
        let concealed = area(audio.concealed.map { $0 > 0 ? 1 : 0 }, baseline: y + 4, scale: 4)
        if !concealed.isEmpty { svg.element("path", ["class": "t-concealed", "d": .text(concealed.data)]) }
        tooltips(&svg, y: y, height: height) { text(of: audio, in: $0) }
        return y + height + 4
    }

    private static let levelKinds: [(kind: String, isShown: @Sendable (RoomTimelineSnapshot.Audio, Int) -> Bool)] = [
        ("t-voice", { $0.gain[$1] > 0 && $0.isVoice[$1] }), ("t-audio", { $0.gain[$1] > 0 && !$0.isVoice[$1] }),
        ("t-kept-out", { $0.gain[$1] <= 0 }),
    ]

    private func text(of audio: RoomTimelineSnapshot.Audio, in span: Range<Int>) -> String? {
        let levels = audio.level[span.clamped(to: audio.level.indices)].compactMap(\.self)
        let heard = audio.mixLevel[span.clamped(to: audio.mixLevel.indices)].compactMap(\.self)
        guard !levels.isEmpty || !heard.isEmpty else { return nil }
        var parts: [String] = []
        if let loudest = levels.min() {
            let gains = audio.gain[span.clamped(to: audio.gain.indices)]
            parts.append(loudest >= 127 ? "silent" : "up to −\(loudest) dB")
            parts.append(
                "gain in the mix \(TimelineText.gain(gains.min() ?? 0)) to \(TimelineText.gain(gains.max() ?? 0))")
            let concealed = audio.concealed[span.clamped(to: audio.concealed.indices)].total
            if concealed > 0 { parts.append("\(concealed) ms made up for lost packets") }
        } else {
            parts.append("no audio sent")
        }
        if let loudest = heard.min() { parts.append(loudest >= 127 ? "hears silence" : "hears up to −\(loudest) dB") }
        return "\(TimelineText.isolated(audio.person.name)), \(name(of: span)): \(parts.joined(separator: ", "))"
    }

    private func mixRow(_ svg: inout SVGBuilder, y: Double) -> Double {
        let height = Self.mixHeight
        let gain = snapshot.mix.limiterGain.last ?? 1
        rowFrame(
            "The mix", detail: gain < 1 ? "limiter \(TimelineText.decibelText(gain: gain))" : "limiter at rest",
            tooltip: "The sum of all audio. Where it is too loud its limiter turns it down", height: height,
            isOver: false, &svg, y: y)
        let scale = (height - 2) / Self.largestReduction
        let reduction = area(
            snapshot.mix.limiterGain.map { gain in
                gain < 1 ? -min(-TimelineText.decibels(gain: gain), Self.largestReduction) : 0
            }, baseline: y, scale: scale)
        if !reduction.isEmpty { svg.element("path", ["class": "t-limited", "d": .text(reduction.data)]) }
        tooltips(&svg, y: y, height: height) { span in
            let gains = snapshot.mix.limiterGain[span.clamped(to: snapshot.mix.limiterGain.indices)]
            let encodes = snapshot.mix.encodes[span.clamped(to: snapshot.mix.encodes.indices)].total
            guard encodes > 0 || gains.contains(where: { $0 < 1 }) else { return nil }
            return "The mix, \(name(of: span)): limiter down to \(TimelineText.decibelText(gain: gains.min() ?? 1)), "
                + "\(encodes) packets encoded"
        }
        return y + height + 4
    }
}
