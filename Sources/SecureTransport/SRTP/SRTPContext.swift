internal import CSRTP
public import NIOCore

/// One direction of one key: protects sent packets, or authenticates and decrypts received ones, for all
/// synchronization sources (RFC 3711, RFC 7714).
///
/// Packets change in place: no byte is copied when the `ByteBuffer` is its storage's only owner, starts on a 4-byte
/// boundary and (when protecting) has room for the trailer. A retransmission has to send the bytes that were protected
/// the first time: protecting a sequence number twice is refused as a replay.
///
/// Senders should start their sequence numbers below 2¹⁵ (RFC 3711, 3.3.1): a receiver that misses the first packets
/// around a wrap would otherwise guess the wrong rollover counter.
///
/// A context belongs to one thread at a time.
public final class SRTPContext {
    public enum Direction: Hashable, Sendable {
        /// A context for incoming packets.
        case inbound
        /// A context for outgoing packets.
        case outbound
    }

    public let direction: Direction
    public let profile: SRTPProfile

    /// The largest number of synchronization sources in one context, unless another is given. A peer uses a handful;
    /// without a limit a hostile peer with the keys could make us keep state for each SSRC that it invents.
    public static let maximumSourceCount = 64
    /// The number of remembered sources that gave their places to others. Those before them are forgotten: that one of
    /// their numbers is drawn again is improbable.
    private static let maximumFormerSourceCount = 16_384
    /// The distance by which packets may come late or out of order and still be distinguished from replays.
    public static let replayWindow = 1024

    private static let maximumPacketLength = 65_535
    private static let rtpHeaderLength = 12
    private static let rtcpHeaderLength = 8

    /// The library's session; nil if packets stay unchanged.
    private let session: OpaquePointer?
    /// A source for which the library keeps state.
    private struct Source {
        let ssrc: UInt32
        /// True if its stream has ended, so that another source may have its place.
        var hasEnded = false
    }

    private var sources: [Source] = []
    private let placeCount: Int
    /// The sources that gave their places to others. They are refused: the library does not know their indices any
    /// more, so a sender would use each index, and with AES-GCM each nonce, a second time, and a receiver would take
    /// replays.
    private var formerSources: Set<UInt32> = []
    /// The same in the order in which they are to be forgotten, from `oldestFormerSource` on once there are as many as
    /// are remembered.
    private var formerSourceOrder: [UInt32] = []
    private var oldestFormerSource = 0

    /// Prepares the library once for the process, and keeps its status for later calls.
    private static let libraryStatus: srtp_err_status_t = {
        let status = srtp_init()
        return status == srtp_err_status_ok ? OpenSSLCipher.replaceLibraryCiphers() : status
    }()

    /// Prepares the library, which tests its ciphers at the start: some tens of milliseconds, once per process. Without
    /// this call the first context takes that time, in the middle of a participant's joining.
    public static func prepareLibrary() {
        _ = libraryStatus
    }

    /// Makes a context for `keys`, with places for `maximumSourceCount` sources.
    public init(
        keys: SRTPKeyMaterial, direction: Direction, maximumSourceCount: Int = SRTPContext.maximumSourceCount
    ) throws(SRTPError) {
        guard Self.libraryStatus == srtp_err_status_ok else {
            throw .library(code: UInt32(Self.libraryStatus.rawValue))
        }
        self.direction = direction
        placeCount = maximumSourceCount
        profile = keys.profile
        var policy = srtp_policy_t()
        switch keys.profile {
        case .aesCM128HMACSHA1_80:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        }
        policy.ssrc.type = direction == .inbound ? ssrc_any_inbound : ssrc_any_outbound
        policy.window_size = UInt(Self.replayWindow)
        var created: OpaquePointer?
        var masterKeyAndSalt = keys.masterKeyAndSalt
        let status = masterKeyAndSalt.withUnsafeMutableBufferPointer { key in
            policy.key = key.baseAddress
            return srtp_create(&created, &policy)
        }
        guard status == srtp_err_status_ok, let created else { throw .library(code: UInt32(status.rawValue)) }
        session = created
    }

    /// Makes a context that neither encrypts nor authenticates, for simulations, where nobody else is on the path: it
    /// adds and removes as many bytes as `profile` would, so that packets have their real size.
    package init(unprotected direction: Direction, profile: SRTPProfile) {
        self.direction = direction
        self.profile = profile
        placeCount = Self.maximumSourceCount
        session = nil
    }

    deinit {
        if let session { srtp_dealloc(session) }
    }

    /// Encrypts an RTP packet and appends its tag. On an error the packet's contents are of no use any more.
    public func protect(rtp packet: inout ByteBuffer) throws(SRTPError) {
        guard direction == .outbound else { throw .wrongDirection }
        try check(packet, atLeast: Self.rtpHeaderLength, room: profile.rtpTrailerLength)
        try checkRTPHeader(packet, trailerLength: 0)
        let source = packet.word(at: 8)
        let place = try admit(source)
        try run(&packet, growing: profile.rtpTrailerLength, srtp_protect)
        remember(source, at: place)
    }

    /// Authenticates and decrypts an RTP packet and takes its tag off. On an error the packet's contents are of no
    /// use any more.
    public func unprotect(rtp packet: inout ByteBuffer) throws(SRTPError) {
        guard direction == .inbound else { throw .wrongDirection }
        try check(packet, atLeast: Self.rtpHeaderLength + profile.rtpTrailerLength, room: 0)
        try checkRTPHeader(packet, trailerLength: profile.rtpTrailerLength)
        let source = packet.word(at: 8)
        let place = try admit(source)
        try run(&packet, shrinking: profile.rtpTrailerLength, srtp_unprotect)
        remember(source, at: place)
    }

    /// Encrypts an RTCP compound packet and appends its index and tag. On an error the packet's contents are of no use
    /// any more.
    public func protect(rtcp packet: inout ByteBuffer) throws(SRTPError) {
        guard direction == .outbound else { throw .wrongDirection }
        try check(packet, atLeast: Self.rtcpHeaderLength, room: profile.rtcpTrailerLength)
        guard packet.readableBytes.isMultiple(of: 4) else { throw .malformedHeader }
        let source = packet.word(at: 4)
        let place = try admit(source)
        try run(&packet, growing: profile.rtcpTrailerLength, srtp_protect_rtcp)
        remember(source, at: place)
    }

    /// Authenticates and decrypts an RTCP compound packet and takes its index and tag off. On an error the packet's
    /// contents are of no use any more.
    public func unprotect(rtcp packet: inout ByteBuffer) throws(SRTPError) {
        guard direction == .inbound else { throw .wrongDirection }
        try check(packet, atLeast: Self.rtcpHeaderLength + profile.rtcpTrailerLength, room: 0)
        let source = packet.word(at: 4)
        let place = try admit(source)
        try run(&packet, shrinking: profile.rtcpTrailerLength, srtp_unprotect_rtcp)
        remember(source, at: place)
    }

    /// Checks the requirements for every packet before the library sees it.
    private func check(_ packet: ByteBuffer, atLeast minimum: Int, room: Int) throws(SRTPError) {
        let length = packet.readableBytes
        guard length >= minimum else { throw .tooShort(byteCount: length) }
        guard length + room <= Self.maximumPacketLength else { throw .tooLong(byteCount: length) }
        guard packet.byte(at: 0) >> 6 == 2 else { throw .malformedHeader }
    }

    /// Checks that the CSRC list and the header extension, which stay in the clear, lie within the packet.
    private func checkRTPHeader(_ packet: ByteBuffer, trailerLength: Int) throws(SRTPError) {
        let available = packet.readableBytes - trailerLength
        let first = packet.byte(at: 0)
        var headerLength = Self.rtpHeaderLength + 4 * Int(first & 0x0F)
        if first & 0x10 != 0 {
            guard available >= headerLength + 4 else { throw .malformedHeader }
            headerLength += 4 + 4 * Int(packet.word(at: headerLength) & 0xFFFF)
        }
        guard available >= headerLength else { throw .malformedHeader }
    }

    /// Marks the sources whose streams have ended. They keep their places until other sources need them, because a
    /// stream may come back. A source of which another packet passes has not ended.
    public func endSources(except isInUse: (UInt32) -> Bool) {
        for index in sources.indices { sources[index].hasEnded = !isInUse(sources[index].ssrc) }
    }

    /// Marks a source whose stream has ended, as `endSources` does.
    public func endSource(_ ssrc: UInt32) {
        if let index = sources.firstIndex(where: { $0.ssrc == ssrc }) { sources[index].hasEnded = true }
    }

    /// Returns the place of a source; nil: it has none yet, and may have one.
    private func admit(_ source: UInt32) throws(SRTPError) -> Int? {
        if let place = sources.firstIndex(where: { $0.ssrc == source }) { return place }
        guard !formerSources.contains(source) else { throw .replayed }
        guard sources.count < placeCount || sources.contains(where: \.hasEnded) else {
            throw .tooManySources(limit: placeCount)
        }
        return nil
    }

    /// Remembers a source once a packet of it passed: only then has the library made state for it.
    private func remember(_ source: UInt32, at place: Int?) {
        if let place {
            sources[place].hasEnded = false
            return
        }
        if sources.count >= placeCount, let index = sources.firstIndex(where: \.hasEnded) {
            let former = sources.remove(at: index).ssrc
            rememberFormer(former)
            // The library takes the number as packets have it.
            if let session { _ = srtp_remove_stream(session, former.bigEndian) }
        }
        sources.append(Source(ssrc: source))
    }

    private func rememberFormer(_ source: UInt32) {
        formerSources.insert(source)
        guard formerSourceOrder.count >= Self.maximumFormerSourceCount else {
            formerSourceOrder.append(source)
            return
        }
        formerSources.remove(formerSourceOrder[oldestFormerSource])
        formerSourceOrder[oldestFormerSource] = source
        oldestFormerSource = (oldestFormerSource + 1) % Self.maximumFormerSourceCount
    }

    private typealias LibraryCall = (
        OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?
    ) -> srtp_err_status_t

    /// Lets the library change a packet that grows by `growth` bytes, or that loses `trailerLength` bytes.
    private func run(
        _ packet: inout ByteBuffer, growing growth: Int = 0, shrinking trailerLength: Int = 0, _ call: LibraryCall
    ) throws(SRTPError) {
        let length = packet.readableBytes
        guard let session else {
            if growth > 0 {
                packet.writeRepeatingByte(0, count: growth)
            } else {
                packet.moveWriterIndex(to: packet.writerIndex - trailerLength)
            }
            return
        }
        packet.reserveCapacity(minimumWritableBytes: growth)
        packet.moveWriterIndex(forwardBy: growth)
        var newLength = Int32(truncatingIfNeeded: length)
        var isAligned = true
        var status = packet.withUnsafeMutableReadableBytes { bytes in
            isAligned = UInt(bitPattern: bytes.baseAddress).isMultiple(of: 4)
            return isAligned ? call(session, bytes.baseAddress, &newLength) : srtp_err_status_ok
        }
        if !isAligned {
            // The library reads the header as 32-bit words. Packets that start elsewhere are rare: move them.
            packet = ByteBuffer(bytes: packet.readableBytesView)
            status = packet.withUnsafeMutableReadableBytes { call(session, $0.baseAddress, &newLength) }
        }
        let readable = Int(newLength)
        guard status == srtp_err_status_ok, readable >= 0, readable <= packet.readableBytes else {
            packet.moveWriterIndex(to: packet.readerIndex + length)
            throw Self.error(status)
        }
        packet.moveWriterIndex(to: packet.readerIndex + readable)
    }

    private static func error(_ status: srtp_err_status_t) -> SRTPError {
        switch status {
        case srtp_err_status_auth_fail: .authenticationFailed
        case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: .replayed
        case srtp_err_status_key_expired: .keyExpired
        case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformedHeader
        default: .library(code: UInt32(status.rawValue))
        }
    }
}

extension ByteBuffer {
    /// The byte `offset` bytes after the reader index; zero if there is none.
    fileprivate func byte(at offset: Int) -> UInt8 {
        getInteger(at: readerIndex + offset) ?? 0
    }

    /// The big-endian word `offset` bytes after the reader index; zero if there is none.
    fileprivate func word(at offset: Int) -> UInt32 {
        getInteger(at: readerIndex + offset) ?? 0
    }
}
