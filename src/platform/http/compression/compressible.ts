/** Below this, compression saves no packet. */
export const COMPRESSED_BYTES_MIN = 1024

const TYPES =
  /^(?:text\/(?!event-stream\b)|application\/(?:json|x-ndjson|javascript)\b|image\/svg\+xml)/

/**
 * Whether to compress content of this type. Pictures are compressed already, and a compressor would delay the
 * events of a stream.
 */
export function isCompressibleType(contentType: unknown): boolean {
  return typeof contentType === 'string' && TYPES.test(contentType)
}
