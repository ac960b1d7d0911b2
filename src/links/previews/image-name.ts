/** How an uploaded image is named, by what is in it. Loads nothing: redirects read it too. */
export type ImageName = {
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly hash: string
  /** In pixels. */
  readonly width: number
  readonly height: number
  readonly type: ImageType
}

export type ImageType = 'jpg' | 'png'

/** The folder of the service's own host that has the images. */
export const IMAGE_FOLDER = '/assets/images/'

const NAME = /^([0-9a-f]{64})-([1-9]\d{0,4})x([1-9]\d{0,4})\.(jpg|png)$/

export function formatImageName({ hash, width, height, type }: ImageName): string {
  return `${hash}-${width}x${height}.${type}`
}

export function parseImageName(text: string): ImageName | undefined {
  const [, hash, width, height, type] = NAME.exec(text) ?? []
  if (hash === undefined) return undefined
  return { hash, width: Number(width), height: Number(height), type: type as ImageType }
}

/** Returns the name of an uploaded image, of this instance or of another one; undefined for other URLs. */
export function imageNameOf(url: string | null): ImageName | undefined {
  if (url === null) return undefined
  const at = url.indexOf('/', 'https://'.length)
  if (at === -1 || !url.startsWith(IMAGE_FOLDER, at)) return undefined
  return parseImageName(url.slice(at + IMAGE_FOLDER.length))
}
