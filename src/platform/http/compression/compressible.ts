/** A content coding that this service supports. */
export type ContentCoding = 'br' | 'gzip'

/** All of them, preferred first. */
export const CODINGS: readonly ContentCoding[] = ['br', 'gzip']

/** An older name of the same coding (RFC 9110, section 8.4.1.3). */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

/**
 * Returns the coding that an `Accept-Encoding` header prefers (RFC 9110, section 12.5.3), or undefined
 * when the answer must be sent uncompressed. A coding with a malformed weight counts as refused.
 *
 * @param offered the codings of this answer; among equal weights the first wins
 */
export function preferredCoding(
  header: string | undefined,
  offered: readonly ContentCoding[],
): ContentCoding | undefined {
  if (header === undefined) return undefined
  const weights = new Map(header.split(',').map(parseMember))
  const others = weights.get('*') ?? 0
  let best: ContentCoding | undefined
  let bestWeight = 0
  for (const coding of offered) {
    const weight = weights.get(coding) ?? others
    if (weight <= bestWeight) continue
    best = coding
    bestWeight = weight
  }
  // Without an explicit weight, identity is acceptable but loses to any accepted coding.
  return (weights.get('identity') ?? 0) > bestWeight ? undefined : best
}

function parseMember(member: string): [name: string, weight: number] {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [ALIASES[name] ?? name, weight === undefined ? 1 : weightOf(weight)]
}

function weightOf(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}

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
