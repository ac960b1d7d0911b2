/** Below this, compression saves no packet. */
export const COMPRESSED_BYTES_MIN = 1024

const TYPES = /^(?:text\/|application\/(?:json|x-ndjson|javascript)\b|image\/svg\+xml)/

/** Whether content of this type becomes smaller; pictures are compressed already. */
export function isCompressibleType(contentType: unknown): boolean {
  return typeof contentType === 'string' && TYPES.test(contentType)
}
