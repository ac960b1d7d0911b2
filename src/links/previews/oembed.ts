import { formatXml } from '../../platform/text/xml.ts'
import { imageNameOf } from './image-name.ts'

/** Where programs request what is shown of a link, on the service's own host, as https://oembed.com has it. */
export const OEMBED_PATH = '/oembed'

export const OEMBED_TYPES = { json: 'application/json', xml: 'text/xml' } as const
export type OembedFormat = keyof typeof OEMBED_TYPES

/** What a program may show of a link. */
export type ShownLink = {
  readonly title: string
  readonly description: string | null
  readonly image: string | null
  /** The host of the link, for people. */
  readonly hostName: string
  /** The address of its host. */
  readonly hostUrl: string
  /** Infinity for never. */
  readonly expiresAtMs: number
}

/** The largest thumbnail that a program takes, in pixels; Infinity where it does not say. */
type ThumbnailBounds = { readonly maxWidth: number; readonly maxHeight: number }

const CACHE_SECONDS_MAX = 60 * 60

/** Returns for how long a program may keep what is shown of a link. */
export function oembedCacheSeconds({ expiresAtMs }: ShownLink, nowMs: number): number {
  return Math.max(0, Math.min(CACHE_SECONDS_MAX, Math.floor((expiresAtMs - nowMs) / 1_000)))
}

/** Returns the address at which programs find what is shown of a link. */
export function oembedAddress(endpoint: string, link: string, format: OembedFormat): string {
  return `${endpoint}?url=${encodeURIComponent(link)}&format=${format}`
}

/**
 * Returns the answer about a link: of the type `link`, which has no address of its own and so no destination. A thumbnail
 * has to come with its size, so there is one for uploaded images alone.
 */
export function formatOembed(
  { title, description, image, hostName, hostUrl }: ShownLink,
  format: OembedFormat,
  { bounds, cacheSeconds }: { bounds: ThumbnailBounds; cacheSeconds: number },
): string {
  const name = imageNameOf(image)
  const fits =
    name !== undefined && name.width <= bounds.maxWidth && name.height <= bounds.maxHeight
  const fields = {
    version: '1.0',
    type: 'link',
    title,
    ...(description !== null && { description }),
    provider_name: hostName,
    provider_url: hostUrl,
    cache_age: cacheSeconds,
    ...(fits && {
      thumbnail_url: image ?? '',
      thumbnail_width: name.width,
      thumbnail_height: name.height,
    }),
  }
  return format === 'json' ? JSON.stringify(fields) : formatXml('oembed', fields)
}
