import Compositing
import Conference
import Crypto
import Foundation

extension Avatar {
    /// Reads a PNG, scaled down to the size that avatars are kept with.
    init(png: [UInt8]) throws(ImageAssetError) {
        self.init(
            image: try ImageAsset(name: "avatar", png: png, scaledTo: SignallingLimits.avatarSide), png: png,
            digest: Data(SHA256.hash(data: png)).base64EncodedString())
    }
}
