import type { PreviewResource, UploadedImageResource } from '@terse/contract/previews'
import { request } from './request.ts'

/** Reads what a page says of itself; its picture is stored. */
export function readPreview(url: string): Promise<PreviewResource> {
  return request('POST', '/previews', { body: { url } })
}

/** Larger files are made smaller before they are sent. */
const UPLOAD_BYTES_MAX = 1024 * 1024
const SIDE_MAX = 1_200

/** @throws {ApiError} also where it is no picture */
export async function uploadImage(file: Blob): Promise<UploadedImageResource> {
  const bytes = file.size > UPLOAD_BYTES_MAX ? await shrunk(file) : file
  const headers = { 'Content-Type': 'application/octet-stream' }
  return request('POST', '/images', { bytes, headers })
}

/** The picture as a JPEG that is no larger than it is shown. What the browser cannot read is sent as it is, and refused. */
async function shrunk(file: Blob): Promise<Blob> {
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (picture === undefined) return file
  const scale = Math.min(1, SIDE_MAX / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  const { promise, resolve } = Promise.withResolvers<Blob | null>()
  canvas.toBlob(resolve, 'image/jpeg', 0.9)
  return (await promise) ?? file
}

const IMAGE_FOLDER = '/assets/images/'

/** The address by which this page may load an image: one of the service's own. Undefined for those of other hosts. */
export function ownImageAddress(image: string): string | undefined {
  const url = URL.parse(image)
  if (url === null || url.hostname !== location.hostname) return undefined
  return url.pathname.startsWith(IMAGE_FOLDER) ? url.pathname : undefined
}
