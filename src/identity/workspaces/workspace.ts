import type { Fault } from '@terse/contract/faults'
import type { Parsed } from '../../platform/failure.ts'
import { holdsWebAddress } from '../people/person.ts'

export type Workspace = {
  readonly id: string
  /** For programs: commands, settings and files name the workspace by it. Unique in the instance. */
  readonly name: string
  /** For people, in any letters; the name where none was given. */
  readonly title: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

const NAME_LENGTH_MAX = 63

/** Lower-case letters, digits and hyphens, 1 to 63 of them. */
export function parseWorkspaceName(text: string): Parsed<string> {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
    ? { value: text }
    : { fault: { code: 'invalid_workspace_name' } }
}

/** Invitations are mailed with the title, so it must hold nothing of which programs make a link. */
export function parseWorkspaceTitle(text: string): Parsed<string> {
  const title = text.trim()
  const fault = faultOfTitle(title)
  return fault === undefined ? { value: title } : { fault }
}

function faultOfTitle(title: string): Fault | undefined {
  if (title === '') return { code: 'empty' }
  return holdsWebAddress(title) ? { code: 'web_address' } : undefined
}

/** Names that follow from a title, best first, without end: `acme-shop`, `acme-shop-2`, … */
export function* namesOf(title: string): Generator<string, never> {
  const base = slugOf(title) || 'workspace'
  yield base
  for (let number = 2; ; number += 1) {
    const end = `-${number}`
    yield base.slice(0, NAME_LENGTH_MAX - end.length).replace(/-+$/, '') + end
  }
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_LENGTH_MAX)
    .replaceAll(/^-+|-+$/g, '')
}
