import { foldKey, isPlaceholder, PATH_LINKS_MAX } from '../links/index.ts'
import { escapeUnsafe, isContact } from './destination-query.ts'

/**
 * The keys of one keyspace whose links take more of a path than their key: as a prefix of it, or with placeholders for
 * segments.
 */
export type PathIndex = {
  /** What was compiled, for a warm start. */
  readonly keys: readonly string[]
  readonly root: Node
}

/** A segment of a key, with what may follow it. */
type Node = {
  readonly literal: Map<string, Node>
  placeholder: Node | undefined
  /** The keys that end here, which differ by letter case or in the names of their placeholders. */
  readonly keys: string[]
}

/** How a visitor's path meets a key. */
export type PathMatch = {
  readonly key: string
  /** Decoded, by the names of the key's placeholders. */
  readonly named: ReadonlyMap<string, string>
  /** The segments behind the key, decoded. */
  readonly segments: readonly string[]
  /** The same as sent, each with a slash in front of it. */
  readonly rest: string
}

/** Twice what a keyspace may have: transactions that ran at the same time may have gone beyond. */
export const INDEXED_KEYS_MAX = 2 * PATH_LINKS_MAX

/** Longer paths are no visitor's. */
const PATH_LENGTH_MAX = 4_096
const SEGMENTS_MAX = 100

export function indexPaths(keys: readonly string[]): PathIndex {
  const root = emptyNode()
  for (const key of keys) {
    let node = root
    for (const segment of key.split('/')) node = childOf(node, segment)
    node.keys.push(key)
  }
  return { keys, root }
}

function emptyNode(): Node {
  return { literal: new Map(), placeholder: undefined, keys: [] }
}

function childOf(node: Node, segment: string): Node {
  if (isPlaceholder(segment)) {
    node.placeholder ??= emptyNode()
    return node.placeholder
  }
  const folded = foldKey(segment)
  let child = node.literal.get(folded)
  if (child === undefined) {
    child = emptyNode()
    node.literal.set(folded, child)
  }
  return child
}

/** Memory of one key besides its text, in bytes, estimated. */
const KEY_BYTES = 400

/** Returns an upper bound of the memory that an index takes, in bytes. */
export function pathIndexBytes({ keys }: PathIndex): number {
  return keys.reduce((bytes, key) => bytes + KEY_BYTES + key.length * 4, KEY_BYTES)
}

/**
 * Finds the key that covers most segments of a path; of several, the one whose segments are literal earliest.
 *
 * @param path as sent, with its leading slash
 */
export function matchPath({ root }: PathIndex, path: string): PathMatch | undefined {
  if (path.length > PATH_LENGTH_MAX) return undefined
  const sent = path.slice(1).split('/')
  if (sent.length > SEGMENTS_MAX) return undefined
  const decoded = sent.map(decodeSegment)
  const folded = decoded.map((segment) => (segment === undefined ? undefined : foldKey(segment)))
  const found = deepest(root, folded, 0)
  if (found === undefined) return undefined
  const segments = decoded.slice(found.depth)
  // Dots would lead out of the destination's folder; what cannot be decoded is no text.
  if (segments.some((segment) => segment === undefined || /^\.{1,2}$/.test(segment)))
    return undefined
  const own = decoded.slice(0, found.depth) as string[]
  const key = found.node.keys.find((one) => one === own.join('/')) ?? found.node.keys[0] ?? ''
  const named = new Map(
    key
      .split('/')
      .flatMap((segment, nth) =>
        isPlaceholder(segment) ? [[segment.slice(1, -1), own[nth] ?? '']] : [],
      ) as [string, string][],
  )
  const rest = sent.slice(found.depth).map((segment) => `/${escapeUnsafe(segment)}`)
  return { key, named, segments: segments as string[], rest: rest.join('') }
}

/** Each node is visited at most once, because it can meet the segment of its own depth only. */
function deepest(
  node: Node,
  segments: readonly (string | undefined)[],
  depth: number,
): { readonly node: Node; readonly depth: number } | undefined {
  const segment = segments[depth]
  let best = node.keys.length > 0 ? { node, depth } : undefined
  // No key has an empty segment.
  if (segment === undefined || segment === '') return best
  for (const child of [node.literal.get(segment), node.placeholder]) {
    const found = child && deepest(child, segments, depth + 1)
    if (found !== undefined && found.depth > (best?.depth ?? -1)) best = found
  }
  return best
}

function decodeSegment(segment: string): string | undefined {
  try {
    const decoded = segment.includes('%') ? decodeURIComponent(segment) : segment
    return decoded.includes('\0') ? undefined : decoded.normalize('NFC')
  } catch {
    return undefined
  }
}

/** Appends the rest of a visitor's path to the path of a destination. */
export function appendPath(destination: string, { rest }: PathMatch): string {
  if (isContact(destination)) return destination
  const end = destination.search(/[?#]/)
  const base = end === -1 ? destination : destination.slice(0, end)
  const tail = end === -1 ? '' : destination.slice(end)
  return `${base.replace(/\/$/, '')}${rest}${tail}`
}

/** `{1}` to `{9}` are segments behind the key, `{path}` is all of them, and others are named by the key. */
const PLACEHOLDER = /\{(path|[1-9]|[a-z][a-z0-9_]{0,31})\}/g
/** The URL parser encodes the braces of a placeholder in a path. */
const ENCODED_PLACEHOLDER = /%7B(path|[1-9]|[a-z][a-z0-9_]{0,31})%7D/gi
/** A destination up to the end of its host. */
const UP_TO_PATH = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?/

/** Returns a destination with its placeholders as they were typed; those in a host are none. */
export function withPlaceholders(destination: string): string {
  if (isContact(destination)) return destination
  const [fixed = ''] = UP_TO_PATH.exec(destination) ?? []
  return fixed + destination.slice(fixed.length).replace(ENCODED_PLACEHOLDER, '{$1}')
}

/**
 * Replaces the placeholders of a destination by parts of the visitor's path, percent-encoded, so that a visitor changes
 * no other part of it. Names that the key does not have stay.
 */
export function fillPath(destination: string, match: PathMatch | undefined): string {
  return destination.replace(PLACEHOLDER, (text, name: string) => partFor(name, match) ?? text)
}

/** Returns the placeholders of a destination with what `fillPath` puts in their place. */
export function placeholdersIn(
  destination: string,
  match: PathMatch | undefined,
): readonly { readonly name: string; readonly value: string }[] {
  const names = withPlaceholders(destination).matchAll(PLACEHOLDER)
  return [...new Set([...names].map(([, name = '']) => name))].flatMap((name) => {
    const value = partFor(name, match)
    return value === undefined ? [] : [{ name, value }]
  })
}

/** Percent-encoded; undefined for a name that the key does not have. */
function partFor(name: string, match: PathMatch | undefined): string | undefined {
  if (name === 'path') return (match?.segments ?? []).map(encodeURIComponent).join('/')
  if (/^[1-9]$/.test(name)) return encodeURIComponent(match?.segments[Number(name) - 1] ?? '')
  const value = match?.named.get(name)
  if (value === undefined) return undefined
  return /^\.+$/.test(value) ? '' : encodeURIComponent(value)
}
