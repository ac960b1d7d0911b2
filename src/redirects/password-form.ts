import type { IncomingMessage } from 'node:http'

/** Enough for a percent-encoded password of 512 characters and its field's name. */
const FORM_BYTES_MAX = 8 * 1024

/** Returns the password that a form sent; undefined for a body that is too long, cut off or not a form. */
export function readPassword(request: IncomingMessage): Promise<string | undefined> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') {
    request.resume()
    return Promise.resolve(undefined)
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= FORM_BYTES_MAX) chunks.push(chunk)
    })
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
      resolve(size <= FORM_BYTES_MAX ? (form.get('password') ?? undefined) : undefined)
    })
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}
