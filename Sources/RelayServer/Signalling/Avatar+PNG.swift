import Compositing
import Conference
import SecureTransport

extension Avatar {
    /// Reads a PNG, scaled down to the size that avatars are kept with.
    init(png: [UInt8]) throws(ImageAssetError) {
        self.init(
            image: try ImageAsset(name: "avatar", png: png, scaledTo: SignallingLimits.avatarSide), png: png,
            digest: Base64.encode(SecureHash.sha256(png)))
    }
}

/// Reads the avatars that clients send, apart from the relay's loop.
///
/// A small file may unpack to 64 MiB, and takes a good part of a second to read and to scale. One at a time: they
/// cannot take more than one processor together.
actor AvatarReader {
    func avatar(png: [UInt8]) throws(ImageAssetError) -> Avatar { try Avatar(png: png) }
}
