import { Socket } from 'node:net'

/** Receives what was read. The bytes are valid until it returns, which is with false to stop reading. */
type OnBytes = (bytes: Buffer) => boolean

/**
 * The buffer of all connections. By default Node allocates 64 KiB for each read, and V8's threads free it again: 1.7 of the
 * 7.2 µs that a request costs a server which answers each with the same bytes.
 */
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

type Keys = { readonly buffer: symbol; readonly callback: symbol }

/** Under these Node keeps the option `onread` of a socket, which those of a server cannot be created with. */
const KEYS = findKeys()

function findKeys(): Keys | undefined {
  const onread = { buffer: BUFFER, callback: () => true }
  const probe = new Socket({ onread })
  const keyOf = (value: unknown) =>
    Object.getOwnPropertySymbols(probe).find((key) => Reflect.get(probe, key) === value)
  const [buffer, callback] = [keyOf(onread.buffer), keyOf(onread.callback)]
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback }
}

/**
 * Lets a socket of a server read as one that was created with Node's option `onread`: into the shared buffer, without
 * `data` events. Returns false where this version of Node does not allow it, and for TLS; the socket is then unchanged.
 */
export function readShared(socket: Socket, onBytes: OnBytes): boolean {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (KEYS === undefined || 'encrypted' in socket || !canReadInto(handle)) return false
  handle.useUserBuffer(BUFFER)
  Reflect.set(socket, KEYS.buffer, BUFFER)
  setCallback(socket, KEYS, onBytes)
  return true
}

/** Makes a socket that reads into the shared buffer emit `data`, as sockets usually do. */
export function emitReads(socket: Socket): void {
  if (KEYS === undefined || Reflect.get(socket, KEYS.buffer) !== BUFFER) return
  setCallback(socket, KEYS, (bytes) => socket.push(Buffer.from(bytes)))
}

function setCallback(socket: Socket, { callback }: Keys, onBytes: OnBytes): void {
  Reflect.set(socket, callback, (length: number) => onBytes(BUFFER.subarray(0, length)))
}

function canReadInto(handle: unknown): handle is { useUserBuffer(buffer: Buffer): void } {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'useUserBuffer' in handle &&
    typeof handle.useUserBuffer === 'function'
  )
}
