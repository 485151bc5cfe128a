import Compositing
import Conference
import MediaCore

extension ImageAsset {
    /// A square of one colour, blue, green and red.
    convenience init(name: String, colour: (UInt8, UInt8, UInt8), side: Int) {
        var buffer = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: side, height: side))
        buffer.withMutablePlane(0) { bytes, stride in
            for row in 0..<side {
                for column in 0..<side {
                    let start = row * stride + column * 4
                    (bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]) = (
                        colour.0, colour.1, colour.2, 255
                    )
                }
            }
        }
        self.init(name: name, picture: buffer.freeze())
    }
}

extension Avatar {
    /// A red square.
    static var red: Avatar {
        Avatar(image: ImageAsset(name: "portrait", colour: (0, 0, 255), side: 64), png: [1, 2, 3], digest: "red")
    }
}
