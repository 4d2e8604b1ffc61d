import CWebSockets
import Glibc

extension WebSocketConnection {
    /// Bytes of a message, to the pair. What the pair does not take stops the reading.
    func arrived(_ socket: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        unansweredPings = 0
        guard lws_frame_is_binary(socket) != 0 else {
            return close(socket, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE)
        }
        if lws_is_first_fragment(socket) != 0 { messageCount = 0 }
        messageCount += bytes.count
        let room = loop.limits.largestMessage - messageCount
        guard room >= 0, lws_remaining_packet_payload(socket) <= room else {
            return close(socket, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE)
        }
        guard let inner, !bytes.isEmpty else { return 0 }
        let count = unsent.isEmpty ? write(bytes) : 0
        guard count < bytes.count else { return 0 }
        // The library goes on with what it has read already: there may be some already.
        unsent.append(contentsOf: bytes[count...])
        lws_rx_flow_control(socket, 0)
        lws_callback_on_writable(inner)
        return 0
    }

    /// How many bytes the pair took; all where nobody reads them any more.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let number = endNumber else { return bytes.count }
        while true {
            let count = Glibc.send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: return bytes.count
            }
        }
    }

    /// The pair takes more.
    func innerIsWritable(_ socket: OpaquePointer) -> Int32 {
        let count = unsent.withUnsafeBytes { $0.isEmpty ? 0 : write($0) }
        unsent.removeFirst(count)
        guard unsent.isEmpty else {
            // The library forgets what is wished for in this callback.
            setTimer(socket, .milliseconds(1))
            return 0
        }
        guard let outer else { return -1 }  // it was all that was left to do
        lws_rx_flow_control(outer, 1)
        return 0
    }

    /// The pair has something to send. It is read when the socket takes it.
    func innerIsReadable(_ socket: OpaquePointer) -> Int32 {
        lws_rx_flow_control(socket, 0)
        mayRead = true
        if let outer { lws_callback_on_writable(outer) }
        return 0
    }

    /// The socket takes more: sends what the pair has, in messages. Calls `lws_write`.
    func send(_ socket: OpaquePointer) -> Int32 {
        guard isOpen, let start = loop.buffer.baseAddress else { return 0 }
        let payload = start + chute_lws_pre()
        if isPingDue {
            isPingDue = false
            // An empty one's answer is not told.
            payload.storeBytes(of: 0, as: UInt32.self)
            guard lws_write(socket, payload, 4, LWS_WRITE_PING) >= 0 else { return -1 }
        }
        // A megabyte at a time, so that others have their turn.
        var messages = 0
        while mayRead, let number = endNumber {
            if messages == 16 || lws_send_pipe_choked(socket) != 0 {
                lws_callback_on_writable(socket)
                return 0
            }
            let count = read(number, payload, loop.limits.messageSize)
            if count > 0 {
                guard write(payload, count, socket) else { return -1 }
                messages += 1
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN, let inner {
                mayRead = false
                lws_rx_flow_control(inner, 1)
            } else {
                return close(socket, LWS_CLOSE_STATUS_NORMAL)
            }
        }
        return 0
    }

    /// A binary message; `false` where the socket is broken. Calls `lws_write`.
    private func write(
        _ payload: UnsafeMutableRawPointer, _ count: Int, _ socket: OpaquePointer
    ) -> Bool {
        guard case .dialled = origin else {
            return lws_write(socket, payload, count, LWS_WRITE_BINARY) >= 0
        }
        let headerCount = MaskedFrame.make(
            payload, count: count, mask: .random(in: UInt32.min...UInt32.max))
        // What is said to be HTTP goes out as it is.
        return lws_write(socket, payload - headerCount, headerCount + count, LWS_WRITE_HTTP) >= 0
    }

    /// Asks for a word of the other end, or gives it up.
    func timePassed(_ socket: OpaquePointer) -> Int32 {
        guard UInt(bitPattern: lws_get_opaque_user_data(socket)) == token else {
            lws_callback_on_writable(socket)
            return 0
        }
        // Where this side does not read, no answer can be seen.
        if !unsent.isEmpty { unansweredPings = 0 }
        guard isOpen, unansweredPings < loop.limits.unansweredPings else {
            kill(socket)
            return 0
        }
        unansweredPings += 1
        isPingDue = true
        lws_callback_on_writable(socket)
        setTimer(socket, loop.limits.pingInterval)
        return 0
    }

    /// Ends the WebSocket with a reason, when the caller returns this. Calls `lws_close_reason`.
    private func close(_ socket: OpaquePointer, _ status: lws_close_status) -> Int32 {
        lws_close_reason(socket, status, nil, 0)
        return -1
    }

    /// Closes a socket soon, without a word to the other end. Calls `lws_set_timeout`.
    func kill(_ socket: OpaquePointer) {
        lws_set_timeout(socket, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
    }
}
