import CLibYUV
import MediaCore

extension PictureView {
    /// Takes the samples of plane `plane` of a 4:2:0 picture, scaled: 0 is luma, 1 and 2 are planes of chroma.
    func scalePlane(_ plane: Int, of source: PictureView) {
        let isLuma = plane == 0
        Self.scale(
            source.bytes(plane), source.stride(plane),
            isLuma ? source.width : source.chromaWidth, isLuma ? source.height : source.chromaHeight,
            bytes(plane), stride(plane), isLuma ? width : chromaWidth, isLuma ? height : chromaHeight)
    }

    /// Writes the samples of a BGRA picture, scaled.
    ///
    /// libyuv's scaler for BGRA skips samples when it reduces to less than half; the one for planes averages all. So
    /// each colour is scaled as a plane, in two BGRA pictures of scratch memory: one as large as the source, one as
    /// this picture. The four planes lie beside each other in them.
    func scaleColours(of source: PictureView, through sourceScratch: PictureView, _ scratch: PictureView) {
        func column(_ index: Int, of view: PictureView) -> UnsafeMutablePointer<UInt8> {
            view.bytes(0) + index * view.dimensions.width
        }
        let (sourceStride, stride) = (sourceScratch.stride(0), scratch.stride(0))
        SplitARGBPlane(
            source.bytes(0), source.stride(0), column(0, of: sourceScratch), sourceStride,
            column(1, of: sourceScratch), sourceStride, column(2, of: sourceScratch), sourceStride,
            column(3, of: sourceScratch), sourceStride, source.width, source.height)
        for index in 0..<4 {
            Self.scale(
                column(index, of: sourceScratch), sourceStride, source.width, source.height,
                column(index, of: scratch), stride, width, height)
        }
        MergeARGBPlane(
            column(0, of: scratch), stride, column(1, of: scratch), stride, column(2, of: scratch), stride,
            column(3, of: scratch), stride, bytes(0), self.stride(0), width, height)
    }

    /// The most samples of which libyuv makes a mean: it divides by a 16-bit fraction, so that the means of more are
    /// too dark.
    static let mostAveraged = 256

    /// Averages when the plane becomes smaller, interpolates when it becomes larger.
    private static func scale(
        _ source: UnsafePointer<UInt8>, _ sourceStride: Int32, _ sourceWidth: Int32, _ sourceHeight: Int32,
        _ destination: UnsafeMutablePointer<UInt8>, _ stride: Int32, _ width: Int32, _ height: Int32
    ) {
        let isSmaller = width <= sourceWidth && height <= sourceHeight
        if isSmaller, Int(sourceWidth) * Int(sourceHeight) > mostAveraged * Int(width) * Int(height) {
            average(source, sourceStride, sourceWidth, sourceHeight, destination, stride, width, height)
            return
        }
        ScalePlane(
            source, sourceStride, sourceWidth, sourceHeight, destination, stride, width, height,
            isSmaller ? kFilterBox : kFilterBilinear)
    }

    /// Makes each sample the mean of the rectangle of samples in its place.
    static func average(
        _ source: UnsafePointer<UInt8>, _ sourceStride: Int32, _ sourceWidth: Int32, _ sourceHeight: Int32,
        _ destination: UnsafeMutablePointer<UInt8>, _ stride: Int32, _ width: Int32, _ height: Int32
    ) {
        func span(_ index: Int, of count: Int32, from sourceCount: Int32) -> Range<Int> {
            (index * Int(sourceCount) / Int(count))..<((index + 1) * Int(sourceCount) / Int(count))
        }
        for y in 0..<Int(height) {
            let rows = span(y, of: height, from: sourceHeight)
            for x in 0..<Int(width) {
                let columns = span(x, of: width, from: sourceWidth)
                var sum = 0
                for row in rows {
                    let samples = source + row * Int(sourceStride)
                    for column in columns { sum &+= Int(samples[column]) }
                }
                let count = rows.count * columns.count
                destination[y * Int(stride) + x] = UInt8(truncatingIfNeeded: (sum + count / 2) / count)
            }
        }
    }
}
