/** Messages of the API and their words in a language. `{name}` in a message stands for a value. */
type Faults = Readonly<Record<string, string>>

type Pattern = { readonly whole: RegExp; readonly names: readonly string[]; readonly words: string }

const patternsOf = new WeakMap<Faults, readonly Pattern[]>()

/**
 * Returns a message of the API in the words of a catalogue, with the message's values; or as it is where the
 * catalogue does not have it.
 */
export function faultText(text: string, faults: Faults): string {
  const words = faults[text]
  if (words !== undefined) return words
  for (const pattern of compiled(faults)) {
    const values = pattern.whole.exec(text)?.slice(1)
    if (values !== undefined) return filled(pattern, values)
  }
  return text
}

function filled({ names, words }: Pattern, values: readonly string[]): string {
  return words.replace(/\{(\w+)\}/g, (hole, name) => values[names.indexOf(name)] ?? hole)
}

function compiled(faults: Faults): readonly Pattern[] {
  const known = patternsOf.get(faults)
  if (known !== undefined) return known
  const patterns = Object.entries(faults).flatMap(([message, words]) => {
    // Every second part is the name of a value.
    const parts = message.split(/\{(\w+)\}/)
    if (parts.length === 1) return []
    const source = parts.map((part, nth) => (nth % 2 === 1 ? '(.+)' : escaped(part))).join('')
    const names = parts.filter((_, nth) => nth % 2 === 1)
    return [{ whole: new RegExp(`^${source}$`, 's'), names, words }]
  })
  patternsOf.set(faults, patterns)
  return patterns
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
