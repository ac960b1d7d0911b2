import type { NewLink } from './link.ts'

const TEXTS = [
  'key',
  'url',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
  'password',
  'expires_at',
  'expired_redirect_url',
] as const

/** Returns the bytes that a link's texts add to the storage quota of its workspace. */
export function storedBytes(link: Pick<NewLink, (typeof TEXTS)[number] | 'tags'>): number {
  let bytes = Buffer.byteLength(JSON.stringify(link.tags))
  for (const name of TEXTS) {
    const text = link[name]
    if (text !== null) bytes += Buffer.byteLength(text)
  }
  return bytes
}
