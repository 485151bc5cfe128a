import COpenSSL
import MediaCore
import NIOCore
import SecureTransport
import Testing

/// Negotiation with implementations that have other settings, and refusals.
@Suite struct DTLSNegotiationTests {
    @Test("a peer with one of the profiles alone gets that one", arguments: [DTLSRole.client, .server])
    func profiles(peerRole: DTLSRole) throws {
        for (name, profile) in [
            ("SRTP_AES128_CM_SHA1_80", SRTPProfile.aesCM128HMACSHA1_80), ("SRTP_AEAD_AES_128_GCM", .aeadAES128GCM),
            ("SRTP_AES128_CM_SHA1_32:SRTP_AES128_CM_SHA1_80", .aesCM128HMACSHA1_80),
        ] {
            let peer = try BareDTLSPeer(.init(role: peerRole, profiles: name))
            let events = peer.shakeHands(with: try connection(to: peer, peerRole: peerRole))
            let keys = try #require(DTLSLink.keys(events))
            #expect(keys.inbound.profile == profile && keys.outbound.profile == profile)
            // Client's key, server's key, client's salt, server's salt (RFC 5764, section 4.2).
            let exported = peer.exportedKeys(count: 2 * profile.masterKeyMaterialLength)
            let salts = exported[32...]
            let client = Array(exported[..<16] + salts.prefix(profile.saltLength))
            let server = Array(exported[16..<32] + salts.suffix(profile.saltLength))
            #expect(keys.inbound.masterKeyAndSalt == (peerRole == .client ? client : server))
            #expect(keys.outbound.masterKeyAndSalt == (peerRole == .client ? server : client))
        }
    }

    @Test("a peer without a profile in common is refused", arguments: [DTLSRole.client, .server])
    func noCommonProfile(peerRole: DTLSRole) throws {
        for profiles in [nil, "SRTP_AES128_CM_SHA1_32", "SRTP_AEAD_AES_256_GCM"] {
            let peer = try BareDTLSPeer(.init(role: peerRole, profiles: profiles))
            let connection = try connection(to: peer, peerRole: peerRole)
            #expect(peer.shakeHands(with: connection) == [.failed(.noCommonProfile)])
            #expect(connection.state == .failed(.noCommonProfile))
        }
    }

    @Test("a peer without the extended master secret is refused", arguments: [DTLSRole.client, .server])
    func noExtendedMasterSecret(peerRole: DTLSRole) throws {
        let peer = try BareDTLSPeer(
            .init(role: peerRole, libraryOptions: BareDTLSPeer.noExtendedMasterSecret))
        let connection = try connection(to: peer, peerRole: peerRole)
        #expect(peer.shakeHands(with: connection) == [.failed(.noExtendedMasterSecret)])
    }

    @Test("a peer with an RSA certificate is as welcome", arguments: [DTLSRole.client, .server])
    func rsa(peerRole: DTLSRole) throws {
        let peer = try BareDTLSPeer(.init(role: peerRole, usesRSA: true))
        #expect(DTLSLink.keys(peer.shakeHands(with: try connection(to: peer, peerRole: peerRole))) != nil)
    }

    @Test("a client without a certificate is refused")
    func noCertificate() throws {
        let peer = try BareDTLSPeer(.init(hasCertificate: false))
        let events = peer.shakeHands(with: try connection(to: peer, peerRole: .client))
        #expect(events.count == 1)
        #expect(DTLSLink.keys(events) == nil)
    }

    @Test("versions before 1.2 and weak ciphers are refused")
    func oldPeers() throws {
        for options in [
            BareDTLSPeer.Options(ciphers: "DEFAULT:@SECLEVEL=0", maximumVersion: DTLS1_VERSION),
            BareDTLSPeer.Options(ciphers: "ECDHE-ECDSA-AES128-SHA"), BareDTLSPeer.Options(ciphers: "AES128-GCM-SHA256"),
            BareDTLSPeer.Options(ciphers: "aNULL:@SECLEVEL=0"),
        ] {
            let peer = try BareDTLSPeer(options)
            let events = peer.shakeHands(with: try connection(to: peer, peerRole: .client))
            guard case .failed(.handshakeFailed) = events.first else {
                Issue.record("\(options): \(events)")
                continue
            }
            #expect(!peer.isEstablished)
        }
    }

    @Test("data in the association is refused and counted")
    func applicationData() throws {
        let peer = try BareDTLSPeer()
        let connection = try connection(to: peer, peerRole: .client)
        _ = peer.shakeHands(with: connection)
        for datagram in peer.write([1, 2, 3]) { connection.receive(datagram, now: .zero) }
        #expect(connection.counters.unexpected == 1)
        #expect(connection.state == .established)
        #expect(connection.pollEvent() == nil)
    }

    private func connection(to peer: BareDTLSPeer, peerRole: DTLSRole) throws -> DTLSConnection {
        try DTLSConnection(
            role: peerRole.reversed, certificate: #require(DTLSLink.serverCertificate),
            remoteFingerprints: [peer.fingerprint], now: .zero)
    }
}
