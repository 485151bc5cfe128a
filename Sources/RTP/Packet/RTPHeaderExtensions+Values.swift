public import MediaCore
public import NIOCore

extension RTPHeaderExtensions {
    /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
    public func transportSequenceNumber(id: UInt8) -> UInt16? {
        // Version 2 of the extension has the same first two bytes and a feedback request behind them.
        guard let range = valueRange(of: id), range.count == 2 || range.count == 4 else { return nil }
        return bytes?.getInteger(at: range.lowerBound)
    }

    /// Writes the transport-wide sequence number.
    public mutating func setTransportSequenceNumber(_ sequenceNumber: UInt16, id: UInt8) {
        guard let index = makeRoom(for: id, length: 2) else { return }
        bytes?.setInteger(sequenceNumber, at: index)
    }

    /// The level of the packet's audio (RFC 6464).
    public func audioLevel(id: UInt8) -> AudioLevel? {
        // In the two-byte form the value may be longer; the rest is reserved.
        guard let range = valueRange(of: id), !range.isEmpty,
            let byte = bytes?.getInteger(at: range.lowerBound, as: UInt8.self)
        else { return nil }
        return AudioLevel(headerExtensionByte: byte)
    }

    /// Writes the level of the packet's audio.
    public mutating func setAudioLevel(_ level: AudioLevel, id: UInt8) {
        guard let index = makeRoom(for: id, length: 1) else { return }
        bytes?.setInteger(level.headerExtensionByte, at: index)
    }

    /// When the sender sent the packet.
    public func absoluteSendTime(id: UInt8) -> AbsoluteSendTime? {
        guard let range = valueRange(of: id), range.count == 3, let bytes,
            let high = bytes.getInteger(at: range.lowerBound, as: UInt8.self),
            let low = bytes.getInteger(at: range.lowerBound + 1, as: UInt16.self)
        else { return nil }
        return AbsoluteSendTime(rawValue: UInt32(high) << 16 | UInt32(low))
    }

    /// Writes when the packet is sent.
    public mutating func setAbsoluteSendTime(_ now: MonotonicInstant, id: UInt8) {
        guard let index = makeRoom(for: id, length: 3) else { return }
        let value = AbsoluteSendTime(now).rawValue
        bytes?.setInteger(UInt8(truncatingIfNeeded: value >> 16), at: index)
        bytes?.setInteger(UInt16(truncatingIfNeeded: value), at: index + 1)
    }

    /// How the packet's picture is to be turned (coordination of video orientation, 3GPP TS 26.114, 7.4.5). Which camera
    /// it comes from and whether it is mirrored is not told apart.
    public func videoRotation(id: UInt8) -> VideoRotation? {
        guard let range = valueRange(of: id), !range.isEmpty,
            let byte = bytes?.getInteger(at: range.lowerBound, as: UInt8.self)
        else { return nil }
        return VideoRotation(rawValue: byte & 3)
    }

    /// Writes how the packet's picture is to be turned.
    public mutating func setVideoRotation(_ rotation: VideoRotation, id: UInt8) {
        guard let index = makeRoom(for: id, length: 1) else { return }
        bytes?.setInteger(rotation.rawValue, at: index)
    }

    /// The identification tag of the media description that the packet belongs to (RFC 8843, section 15), as UTF-8.
    public func mid(id: UInt8) -> ByteBufferView? {
        guard let range = valueRange(of: id), let bytes else { return nil }
        return bytes.viewBytes(at: range.lowerBound, length: range.count)
    }

    /// Writes the identification tag of the packet's media description.
    public mutating func setMID(_ mid: some Collection<UInt8>, id: UInt8) {
        guard !mid.isEmpty, let index = makeRoom(for: id, length: mid.count) else { return }
        bytes?.setBytes(mid, at: index)
    }
}
