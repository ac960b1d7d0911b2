import type { LinkOptions } from '@terse/contract/link-fields'
import { formatInstant } from '../../platform/time/clock.ts'
import { microsOf } from './api/pages.ts'
import { clickLimit } from './link-record.ts'

type OptionNames = { readonly [O in keyof LinkOptions]?: string }

const PREVIEW = { title: 'title', description: 'description', image: 'image' } as const

/** Under which names each service has what is an option of a link in Terse. */
const OPTION_NAMES = {
  dub: { notes: 'comments', archived: 'archived' },
  shlink: {
    notes: 'title',
    max_clicks: 'maxVisits',
    active_from: 'validSince',
    query: 'forwardQuery',
  },
  shortio: {
    notes: 'title',
    max_clicks: 'clicksLimit',
    archived: 'archived',
    ...{ title: 'og:title', description: 'og:description', image: 'og:image' },
  },
  rebrandly: { notes: 'title' },
  sink: { notes: 'comment', query: 'redirectWithQuery', ...PREVIEW },
  kutt: { notes: 'description' },
  yourls: { notes: 'title' },
  bitly: { notes: 'title', archived: 'archived' },
  chhoto: { notes: 'notes' },
} as const satisfies Readonly<Record<string, OptionNames>>

export type PeerService = keyof typeof OPTION_NAMES

export const PEER_SERVICES = Object.keys(OPTION_NAMES) as readonly PeerService[]

type Values = Readonly<Record<string, unknown>>

/** What one value of a service is in Terse. */
type PeerOption = {
  readonly option: keyof LinkOptions
  /** The service's name of the value. */
  readonly name: string
  readonly value: NonNullable<LinkOptions[keyof LinkOptions]>
}

/**
 * Returns the options that a service's values of one link say. Values that say nothing an option can hold are left out.
 *
 * @param destination of the link: YOURLS stores it as the title of a link without one
 */
export function listPeerOptions(
  service: PeerService,
  values: Values,
  destination: string,
): readonly PeerOption[] {
  const names = Object.entries(namesOf(service, values)) as [keyof LinkOptions, string][]
  return names.flatMap(([option, name]) => {
    const value = optionValue(option, values[name])
    return value === undefined || value === destination ? [] : [{ option, name, value }]
  })
}

/** Returns the same as an object, and the names of the values that it was made of. */
export function peerOptions(
  service: PeerService,
  values: Values,
  destination: string,
): { readonly options: Partial<LinkOptions>; readonly taken: readonly string[] } {
  const found = listPeerOptions(service, values, destination)
  return {
    options: Object.fromEntries(found.map(({ option, value }) => [option, value])),
    taken: found.map(({ name }) => name),
  }
}

/** Returns the names of all values that may be options. */
export function optionNames(service: PeerService): readonly string[] {
  const { dub, ...others } = OPTION_NAMES
  return Object.values(service === 'dub' ? { ...dub, ...PREVIEW } : others[service])
}

/** Dub's links have the title of their destination too, which networks see only with `proxy`. */
function namesOf(service: PeerService, { proxy }: Values): OptionNames {
  const names: OptionNames = OPTION_NAMES[service]
  return service === 'dub' && proxy === true ? { ...names, ...PREVIEW } : names
}

function optionValue(option: keyof LinkOptions, value: unknown): PeerOption['value'] | undefined {
  switch (option) {
    case 'notes':
    case 'title':
    case 'description':
    case 'image':
      return typeof value === 'string' && value !== '' ? value : undefined
    case 'max_clicks':
      return clickLimit(value).max_clicks
    case 'active_from': {
      const micros = microsOf(value)
      return micros === null ? undefined : formatInstant(micros)
    }
    case 'archived':
      return value === true ? true : undefined
    case 'query':
      return value === false ? 'drop' : undefined
    default:
      return undefined
  }
}
