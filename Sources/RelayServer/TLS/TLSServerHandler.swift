import NIOCore
import SecureTransport

/// Serves a connection with TLS: decrypts the bytes that arrive, and encrypts those that the server writes.
///
/// Written bytes are encrypted at once and go to the socket together, with the next flush. A client that does not
/// complete its handshake is closed by the idle timeout, which only requests put off.
final class TLSServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The longest time that a close waits for a client to take the rest of an answer.
    static let closeTimeout = TimeAmount.seconds(5)

    private enum State {
        case open
        /// The last bytes are on their way to the socket, which closes after them.
        case closing
        case closed
    }

    private let connection: TLSServerConnection
    private var state = State.open
    private var isInputClosed = false
    private var hasDelivered = false
    /// Completes with the writes since the last flush.
    private var written: EventLoopPromise<Void>?
    /// Completes with the close that is under way.
    private var closed: EventLoopPromise<Void>?
    private var deadline: Scheduled<Void>?

    init(_ connection: TLSServerConnection) {
        self.connection = connection
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    // MARK: From the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state == .open, !isInputClosed else { return }
        let bytes = unwrapInboundIn(data)
        var plaintext = ByteBuffer()
        do throws(TLSError) {
            try connection.receive(bytes, into: &plaintext)
            send(context: context)
            deliver(plaintext, context: context)
            if connection.state == .inputClosed { closeInput(context: context) }
        } catch {
            // The alert, if there is one.
            send(context: context)
            deliver(plaintext, context: context)
            fail(error, context: context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasDelivered {
            completeDelivery(context: context)
        } else if (try? context.channel.syncOptions?.getOption(.autoRead)) == false {
            // Who asked for data has seen none.
            context.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        guard state == .open, !isInputClosed else { return }
        if connection.state == .established {
            isInputClosed = true
            context.fireErrorCaught(TLSError.truncated)
            context.fireUserInboundEventTriggered(event)
        } else {
            fail(.truncated, context: context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let isUnexpected = state == .open && !isInputClosed
        end()
        if isUnexpected { context.fireErrorCaught(TLSError.truncated) }
        context.fireChannelInactive()
    }

    private func deliver(_ plaintext: ByteBuffer, context: ChannelHandlerContext) {
        guard plaintext.readableBytes > 0 else { return }
        hasDelivered = true
        context.fireChannelRead(wrapInboundOut(plaintext))
    }

    private func completeDelivery(context: ChannelHandlerContext) {
        hasDelivered = false
        context.fireChannelReadComplete()
    }

    /// The client has nothing more to say, but may still read.
    private func closeInput(context: ChannelHandlerContext) {
        guard state == .open, !isInputClosed else { return }
        isInputClosed = true
        if hasDelivered { completeDelivery(context: context) }
        let mayReadOn = (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true
        if mayReadOn, !connection.isOutputClosed {
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            closeAll(context: context, promise: nil)
        }
    }

    private func fail(_ error: TLSError, context: ChannelHandlerContext) {
        guard state == .open else { return }
        if hasDelivered { completeDelivery(context: context) }
        end()
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    // MARK: To the client

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard !connection.isOutputClosed else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        do throws(TLSError) {
            try connection.write(unwrapOutboundIn(data))
            written.setOrCascade(to: promise)
        } catch {
            promise?.fail(error)
            if case .failed = connection.state { fail(error, context: context) }
        }
    }

    func flush(context: ChannelHandlerContext) {
        send(context: context)
    }

    /// Writes the encrypted bytes to the socket.
    private func send(context: ChannelHandlerContext) {
        let promise = written
        written = nil
        if let bytes = connection.takeOutgoing() {
            context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
        } else if let promise {
            // Empty writes complete after those before them.
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise)
        } else {
            context.flush()
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .input: promise?.fail(ChannelError.operationUnsupported)
        case .output where state == .open && connection.state == .established && !isInputClosed:
            connection.closeOutput()
            send(context: context)
            context.close(mode: .output, promise: promise)
        // A connection without keys, or whose other direction has ended, has no half to keep.
        case .output, .all: closeAll(context: context, promise: promise)
        }
    }

    /// Closes the socket once it has taken the last bytes, `close_notify` among them.
    private func closeAll(context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        switch state {
        case .closing: closed.setOrCascade(to: promise)
        case .closed: context.close(promise: promise)
        case .open:
            connection.closeOutput()
            guard connection.isOutputClosed else {
                end()
                context.close(promise: promise)
                return
            }
            state = .closing
            closed = promise
            let sent = written ?? context.eventLoop.makePromise()
            written = sent
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
                self.finishClosing(context: context)
            }
            sent.futureResult.assumeIsolated().whenComplete { _ in self.finishClosing(context: context) }
            send(context: context)
        }
    }

    private func finishClosing(context: ChannelHandlerContext) {
        guard state == .closing else { return }
        let promise = closed
        closed = nil
        end()
        context.close(promise: promise)
    }

    private func end() {
        state = .closed
        deadline?.cancel()
        deadline = nil
        let (written, closed) = (written, closed)
        (self.written, self.closed) = (nil, nil)
        written?.fail(ChannelError.ioOnClosedChannel)
        closed?.succeed()
    }
}
