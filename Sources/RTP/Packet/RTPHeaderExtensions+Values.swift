public import MediaCore
import NIOCore

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
}
