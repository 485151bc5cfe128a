extension OfferedStream {
    /// Chooses the streams of an offer that are accepted, and their content: one audio stream and one video stream of
    /// each content.
    ///
    /// Continued streams keep their content. Of the other video streams, one that states screen share becomes the
    /// screen share. Of those that state nothing, the first becomes the camera and the second the screen share. We only
    /// receive screen shares; we send none.
    static func assigned(
        _ offered: [OfferedStream], policy: AnswerPolicy, rejections: inout [OfferAnswer.Rejection]
    ) -> [OfferedStream] {
        var contents: [Int: NegotiatedMedia.Content] = [:]
        func isFree(_ content: NegotiatedMedia.Content, _ kind: NegotiatedMedia.Kind) -> Bool {
            !offered.contains { $0.kind == kind && contents[$0.index] == content }
        }
        func take(_ stream: OfferedStream, as content: NegotiatedMedia.Content) {
            guard contents[stream.index] == nil, isFree(content, stream.kind) else { return }
            contents[stream.index] = content
        }
        // An audio stream in neither direction keeps no other out. A browser that only sends, and removes its
        // microphone and adds one again, offers the new one in a line of its own and keeps the old line.
        let hasAudio = offered.contains { $0.kind == .audio && $0.direction != .inactive }
        let wanted = offered.filter { !hasAudio || $0.kind != .audio || $0.direction != .inactive }
        for stream in wanted {
            if let previous = stream.previous { take(stream, as: previous.content) }
        }
        for stream in wanted where stream.statedContent == .screenShare { take(stream, as: .screenShare) }
        for stream in wanted {
            if stream.statedContent != .screenShare { take(stream, as: .main) }
            if stream.kind == .video, stream.statedContent == nil { take(stream, as: .screenShare) }
        }

        var taken: [OfferedStream] = []
        for var stream in offered {
            func reject(_ reason: String) {
                rejections.append(OfferAnswer.Rejection(line: stream.description.line, reason: reason))
            }
            guard let content = contents[stream.index] else {
                reject("more \(stream.description.kind) streams than one are not accepted")
                continue
            }
            stream.content = content
            if content == .screenShare {
                guard policy.videoDirection?.receives == true else {
                    reject("a screen share is not wanted here")
                    continue
                }
                stream.direction = stream.direction.intersection(.receiveOnly)
            }
            taken.append(stream)
        }
        return taken
    }
}
