import type { LinkAnswer } from './link-answer.ts'

export type Comparison =
  | { readonly verdict: 'same' }
  /** `unknown` when one of them gave no answer. */
  | { readonly verdict: 'different' | 'unknown'; readonly reason: string }

const SAME: Comparison = { verdict: 'same' }

/**
 * Compares what visitors get. Two answers that lead to no destination are the same, whatever their pages show: a
 * protected, banned or expired link stays closed.
 */
export function compareAnswers(before: LinkAnswer, now: LinkAnswer): Comparison {
  if (before.kind === 'unknown') return unknown(`The old service: ${before.reason}.`)
  if (now.kind === 'unknown') return unknown(`Terse: ${now.reason}.`)
  if (before.kind !== 'redirect' && now.kind !== 'redirect') return SAME
  if (before.kind !== 'redirect') {
    const old = before.kind === 'gone' ? 'has no such link' : 'shows a page'
    return different(`The old service ${old}; Terse redirects.`)
  }
  if (now.kind !== 'redirect') {
    const here = now.kind === 'gone' ? 'answers that it is gone' : 'asks for a password'
    return different(`The old service redirects; Terse ${here}.`)
  }
  if (spelling(before.location) === spelling(now.location)) return SAME
  return different('The destinations differ.')
}

function different(reason: string): Comparison {
  return { verdict: 'different', reason }
}

function unknown(reason: string): Comparison {
  return { verdict: 'unknown', reason }
}

/**
 * Returns one spelling of a URL for all that lead to the same place: what is percent-encoded without need, upper case in
 * hosts and escapes, `+` for a space in the query, and the order of parameters with different names.
 */
export function spelling(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address
  const parameters = [...new URLSearchParams(url.search)]
  const query = parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .map((text, index) => ({ text, name: parameters[index]?.[0] ?? '' }))
    .sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
    .map(({ text }) => text)
  const path = url.pathname.split('/').map(recoded).join('/')
  const origin = `${url.protocol}//${url.username}:${url.password}@${url.host}`
  return `${origin}${path}?${query.join('&')}#${recoded(url.hash.slice(1))}`
}

function recoded(text: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(text))
  } catch {
    return text
  }
}
