import type { LinkResource } from '../../api/links.ts'
import type { LinkDraft } from './link-draft.ts'

/** What every part of the form gets. */
export type FormState = {
  readonly draft: LinkDraft
  /** As it was loaded; undefined for a new link. */
  readonly link: LinkResource | undefined
  /** By the names of the API's fields. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  change(change: Partial<LinkDraft>): void
}
