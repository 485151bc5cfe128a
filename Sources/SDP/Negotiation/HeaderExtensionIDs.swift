/// The negotiated identifiers of header extensions; nil for an extension that was not negotiated.
public struct HeaderExtensionIDs: Hashable, Sendable {
    public var transportSequenceNumber: UInt8?
    public var absoluteSendTime: UInt8?
    public var audioLevel: UInt8?
    public var mid: UInt8?
    public var videoOrientation: UInt8?

    public init(
        transportSequenceNumber: UInt8? = nil, absoluteSendTime: UInt8? = nil, audioLevel: UInt8? = nil,
        mid: UInt8? = nil, videoOrientation: UInt8? = nil
    ) {
        self.transportSequenceNumber = transportSequenceNumber
        self.absoluteSendTime = absoluteSendTime
        self.audioLevel = audioLevel
        self.mid = mid
        self.videoOrientation = videoOrientation
    }

    public subscript(headerExtension: HeaderExtension) -> UInt8? {
        get {
            switch headerExtension {
            case .transportSequenceNumber: transportSequenceNumber
            case .absoluteSendTime: absoluteSendTime
            case .audioLevel: audioLevel
            case .mid: mid
            case .videoOrientation: videoOrientation
            }
        }
        set {
            switch headerExtension {
            case .transportSequenceNumber: transportSequenceNumber = newValue
            case .absoluteSendTime: absoluteSendTime = newValue
            case .audioLevel: audioLevel = newValue
            case .mid: mid = newValue
            case .videoOrientation: videoOrientation = newValue
            }
        }
    }
}
