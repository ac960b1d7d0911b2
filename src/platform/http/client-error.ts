import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Answers bytes that are not HTTP, too long or too slow, for which Node creates no request object. The
 * answer is sent after the answers to earlier requests of the connection, and never in the middle of one.
 *
 * @param last the newest answer of the connection, started or not
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  last: ServerResponse | undefined,
): void {
  // The earlier request is still queued: decide once Node assigns it the socket.
  if (last?.socket === null && !last.writableFinished) {
    last.once('socket', () => answerClientError(error, socket, last))
    return
  }
  const isAnswering = last !== undefined && !last.writableFinished
  if (isAnswering && last.req.complete) last.once('close', () => sendStatus(error, socket))
  // The answer was started before the body proved malformed: a request gets no second answer.
  else if (last?.req.complete === false && last.headersSent) {
    if (last.writableEnded && isAnswering) last.once('close', () => socket.destroy())
    else socket.destroy()
  } else sendStatus(error, socket)
}

function sendStatus(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = STATUS[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => {
    socket.destroy()
  })
}
