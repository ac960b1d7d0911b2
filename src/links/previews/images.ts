import {
  type Actor,
  enforceQuotas,
  type QuotaBook,
  type QuotaStores,
} from '../../identity/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { Failure, isUnavailable } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import { formatImageName, IMAGE_FOLDER, type ImageName } from './image-name.ts'
import type { ImageStore, StoredImage } from './image-store.ts'
import { readPictureHeader } from './picture-header.ts'
import type { PreviewThreads } from './preview-threads.ts'

type ImageStores = QuotaStores & { readonly images: ImageStore }

type Dependencies = {
  readonly store: Store<ImageStores>
  readonly clock: Clock
  readonly quotas: QuotaBook
  readonly threads: PreviewThreads
  /** Under which the service can be reached. */
  readonly baseUrl: string
}

/** What an image that is served takes at most of the memory of a process, in bytes, with all others. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024
const ENTRY_BYTES = 300
/** Then a cached image is read again: it may have been deleted. */
const CACHED_MICROS_MAX = 10 * 60 * 1_000_000
/** An image without a link is kept for so long: a form may be open, and a change of a link may be undone. */
const UNUSED_MICROS_MAX = 7 * 24 * 60 * 60 * 1_000_000
const IMAGES_PER_STEP = 100

/** An image as the API shows it. */
export type UploadedImage = ImageName & { readonly url: string; readonly bytes: number }

/** Uploaded images: encoded again, named by their content, and served from the service's own host. */
export class Images {
  readonly #deps: Dependencies
  readonly #served = new SieveCache<{ readonly image: StoredImage; readonly readAt: number }>(
    CACHE_BYTES_MAX,
  )

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Stores a picture in the workspace.
   *
   * @param field that is reported where it is wrong
   * @throws {Failure} `validation_failed`, also where the workspace has no room for it
   * @throws {QueueRefusal} when too many pictures are waiting
   */
  async add({ workspaceId }: Actor, bytes: Uint8Array, field: string): Promise<UploadedImage> {
    const { store, clock, quotas, threads } = this.#deps
    const encoded = await threads.encode(workspaceId, bytes)
    if ('fault' in encoded) {
      throw Failure.invalid({ [field]: [{ code: 'invalid_image', reason: encoded.fault }] })
    }
    const { name, data } = encoded
    const limits = await quotas.limitsOf(workspaceId)
    await store.write(async (stores) => {
      const isKnown = await stores.images.has(workspaceId, name.hash, 'update')
      if (!isKnown) await enforceQuotas(stores, limits, { storage_bytes: data.length })
      await stores.images.insert(workspaceId, { ...name, data }, clock.nowMicros())
    })
    return { ...name, url: this.#urlOf(name), bytes: data.length }
  }

  /** Returns the image with exactly this name. While the database is down, a cached one may have been deleted. */
  async find(name: ImageName): Promise<StoredImage | undefined> {
    const { store, clock } = this.#deps
    const file = formatImageName(name)
    const readAt = clock.nowMicros()
    const cached = this.#served.get(file)
    if (cached !== undefined && readAt - cached.readAt < CACHED_MICROS_MAX) return cached.image
    try {
      const data = await store.read.images.find(name.hash)
      this.#served.delete(file)
      if (data === undefined || !isOf(name, data)) return undefined
      const image = { ...name, data }
      this.#served.set(file, { image, readAt }, data.length + ENTRY_BYTES)
      return image
    } catch (error) {
      if (cached !== undefined && isUnavailable(error)) return cached.image
      throw error
    }
  }

  /** By HTTPS, as all that programs load which show links. */
  #urlOf(name: ImageName): string {
    const { host } = new URL(this.#deps.baseUrl)
    return `https://${host}${IMAGE_FOLDER}${formatImageName(name)}`
  }
}

/** Whether format and size in the name are those of the bytes. */
function isOf({ width, height, type }: ImageName, data: Uint8Array): boolean {
  const header = readPictureHeader(data)
  const format = type === 'jpg' ? 'jpeg' : type
  return header?.format === format && header.width === width && header.height === height
}

/** Deletes images that no link has used for a week. Several nodes may do it at once. */
export async function trimImages(
  store: Pick<Store<{ readonly images: ImageStore }>, 'write'>,
  atMicros: number,
): Promise<void> {
  const end = atMicros - UNUSED_MICROS_MAX
  while (await store.write(({ images }) => images.trim(end, atMicros, IMAGES_PER_STEP)));
}
