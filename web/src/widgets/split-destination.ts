const TAIL_MAX = 18
const TAIL_MIN = 8
const SEPARATORS = /[/?&=\-_]/

/** The end that stays visible begins at a separator where there is one. */
export function splitDestination(url: string): readonly [head: string, tail: string] {
  const text = url.replace(/^https?:\/\/(?:www\.)?/, '').replace(/\/$/, '')
  if (text.length <= TAIL_MAX + TAIL_MIN) return [text, '']
  for (let at = text.length - TAIL_MAX; at <= text.length - TAIL_MIN; at += 1) {
    if (SEPARATORS.test(text[at] ?? '')) return [text.slice(0, at), text.slice(at)]
  }
  return [text.slice(0, -TAIL_MIN), text.slice(-TAIL_MIN)]
}
