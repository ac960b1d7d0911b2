import { destinationOf } from '../../api/destination.ts'
import { type LinkDraft, UTM_FIELDS, type UtmField } from './link-draft.ts'

type FinalUrl = {
  /** Destination without a fragment, and without the parameters that the link sets. */
  readonly base: string
  readonly parameters: readonly { readonly field: UtmField; readonly text: string }[]
  readonly fragment: string
  readonly whole: string
}

/** The address that a visitor without parameters of their own is sent to, in parts. */
export function finalUrlOf(draft: LinkDraft): FinalUrl | undefined {
  const destination = destinationOf(draft.url)
  if (destination === undefined) return undefined
  const url = new URL(destination)
  const fragment = url.hash
  url.hash = ''
  // An address of a person gets no parameters.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  const set = UTM_FIELDS.filter((field) => isWeb && draft[field].trim() !== '')
  for (const field of set) url.searchParams.delete(field)
  const base = url.href
  const parameters = set.map((field) => {
    const text = new URLSearchParams([[field, draft[field].trim()]]).toString()
    return { field, text }
  })
  const joint = url.search === '' ? '?' : '&'
  const added = parameters.map(({ text }) => text).join('&')
  return { base, parameters, fragment, whole: base + (added && joint + added) + fragment }
}
