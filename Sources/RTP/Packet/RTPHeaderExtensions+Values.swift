public import MediaCore
public import NIOCore

extension RTPHeaderExtensions {
    /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
    public func transportSequenceNumber(id: UInt8) -> UInt16? {
        // Version 2 of the extension has the same first two bytes and a feedback request behind them.
        guard let range = valueRange(of: id), range.count == 2 || range.count == 4 else { return nil }
        return UInt16(truncatingIfNeeded: number(in: range.prefix(2)))
    }

    /// Writes the transport-wide sequence number.
    public mutating func setTransportSequenceNumber(_ sequenceNumber: UInt16, id: UInt8) {
        set(UInt32(sequenceNumber), length: 2, id: id)
    }

    /// The level of the packet's audio (RFC 6464).
    public func audioLevel(id: UInt8) -> AudioLevel? {
        // In the two-byte form the value may be longer; the rest is reserved.
        guard let range = valueRange(of: id), !range.isEmpty else { return nil }
        return AudioLevel(headerExtensionByte: UInt8(truncatingIfNeeded: number(in: range.prefix(1))))
    }

    /// Writes the level of the packet's audio.
    public mutating func setAudioLevel(_ level: AudioLevel, id: UInt8) {
        set(UInt32(level.headerExtensionByte), length: 1, id: id)
    }

    /// The time at which the sender sent the packet.
    public func absoluteSendTime(id: UInt8) -> AbsoluteSendTime? {
        guard let range = valueRange(of: id), range.count == 3 else { return nil }
        return AbsoluteSendTime(rawValue: number(in: range))
    }

    /// Writes when the packet is sent.
    public mutating func setAbsoluteSendTime(_ now: MonotonicInstant, id: UInt8) {
        set(AbsoluteSendTime(now).rawValue, length: 3, id: id)
    }

    /// The rotation of the packet's picture (coordination of video orientation, 3GPP TS 26.114, 7.4.5). The camera and
    /// mirroring are ignored.
    public func videoRotation(id: UInt8) -> VideoRotation? {
        guard let range = valueRange(of: id), !range.isEmpty else { return nil }
        return VideoRotation(rawValue: UInt8(truncatingIfNeeded: number(in: range.prefix(1))) & 3)
    }

    /// Writes the rotation of the packet's picture.
    public mutating func setVideoRotation(_ rotation: VideoRotation, id: UInt8) {
        set(UInt32(rotation.rawValue), length: 1, id: id)
    }

    /// The identification tag of the media description that the packet belongs to (RFC 8843, section 15), as UTF-8.
    public func mid(id: UInt8) -> ByteBufferView? {
        valueRange(of: id).map { value(in: $0).readableBytesView }
    }

    /// Writes the identification tag of the packet's media description.
    public mutating func setMID(_ mid: some Collection<UInt8>, id: UInt8) {
        guard !mid.isEmpty else { return }
        set(mid, id: id)
    }
}
