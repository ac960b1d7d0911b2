import {
  PREVIEW_DESCRIPTION_LENGTH_MAX,
  PREVIEW_TITLE_LENGTH_MAX,
} from '@terse/contract/link-options'
import type { Actor } from '../../identity/index.ts'
import { Failure } from '../../platform/failure.ts'
import { type ExpectedVersions, requireVersion } from '../../platform/version.ts'
import type { FairQueue, FairQueueOptions } from '../../platform/work/fair-queue.ts'
import { type Link, linkVersion } from '../link.ts'
import type { Links } from '../links.ts'
import type { Images } from './images.ts'
import { noPreview, PageReader } from './page-reader.ts'
import type { PreviewThreads } from './preview-threads.ts'

/** A page and its picture take up to 5.5 MiB and 10 s, and their sites get a request from this machine. */
export const PREVIEW_QUEUE: FairQueueOptions = {
  work: 'previews',
  concurrency: 16,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 8,
  waitingMax: 256,
  deadlineMs: 10_000,
}

/** What programs are to show of a link, as a page says it. */
export type ReadPreview = {
  readonly title: string | null
  readonly description: string | null
  /** The URL of an uploaded image of the workspace. */
  readonly image: string | null
}

type Dependencies = {
  readonly links: Pick<Links, 'get' | 'update'>
  readonly images: Pick<Images, 'add'>
  readonly threads: PreviewThreads
  /** With `PREVIEW_QUEUE`. */
  readonly reads: FairQueue
  /** Whether connections to an IP address are allowed. */
  readonly mayReach: (address: string) => boolean
  readonly baseUrl: string
}

/** Reads what pages say of themselves for programs that show links. */
export class Previews {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Loads a page, and stores its picture in the workspace. A picture that cannot be loaded or decoded is left out.
   *
   * @throws {Failure} `validation_failed` for `url` when there is no page, or it says nothing
   * @throws {QueueRefusal} when too many are waiting
   */
  read(actor: Actor, url: string): Promise<ReadPreview> {
    return this.#deps.reads.run(actor.workspaceId, () => this.#read(actor, url))
  }

  async #read(actor: Actor, url: string): Promise<ReadPreview> {
    const reader = new PageReader(this.#deps)
    try {
      const { body: html, ...page } = await reader.page(url)
      const tags = await this.#deps.threads.readTags(actor.workspaceId, { html, ...page })
      const image = tags.image === null ? null : await this.#imageAt(actor, reader, tags.image)
      const title = shorten(tags.title, PREVIEW_TITLE_LENGTH_MAX)
      const description = shorten(tags.description, PREVIEW_DESCRIPTION_LENGTH_MAX)
      if (title === null && description === null && image === null)
        throw noPreview({ reason: 'empty' })
      return { title, description, image }
    } finally {
      reader.close()
    }
  }

  /**
   * Sets what is shown of a link from its destination.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   * @throws {QueueRefusal} when too many are waiting
   */
  async readInto(actor: Actor, id: string, expected: ExpectedVersions): Promise<Link> {
    const { links } = this.#deps
    const link = await links.get(actor, id)
    requireVersion(expected, linkVersion(link))
    return links.update(actor, id, await this.read(actor, link.url), expected)
  }

  async #imageAt(actor: Actor, reader: PageReader, url: string): Promise<string | null> {
    try {
      const { body } = await reader.picture(url)
      return (await this.#deps.images.add(actor, body, 'image')).url
    } catch (error) {
      const isFull = error instanceof Failure && error.fields?.workspace !== undefined
      if (error instanceof Failure && error.code === 'validation_failed' && !isFull) return null
      throw error
    }
  }
}

/** Cuts a text between words where it can. */
function shorten(text: string | null, lengthMax: number): string | null {
  if (text === null || text.length <= lengthMax) return text
  const cut = text.slice(0, lengthMax - 1).toWellFormed()
  const space = cut.lastIndexOf(' ')
  return `${space > lengthMax / 2 ? cut.slice(0, space) : cut.replace(/\ufffd$/, '')}…`
}
