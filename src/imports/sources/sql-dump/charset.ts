/** Encodings in which no byte of a longer character looks like a quote or a backslash. */
const ENCODINGS: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8mb3: 'utf-8',
  utf8mb4: 'utf-8',
  // Bytes as they are: text that PHP stored without naming its encoding, which is UTF-8 in practice.
  binary: 'utf-8',
  ascii: 'utf-8',
  // MySQL's latin1 is Windows' code page.
  latin1: 'windows-1252',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  koi8r: 'koi8-r',
  latin2: 'iso-8859-2',
}

const decoders = new Map<string, TextDecoder>()

/** Returns a decoder of a character set of MySQL, or undefined for one whose text cannot be read. */
export function charsetOf(name: string): TextDecoder | undefined {
  const encoding = Object.hasOwn(ENCODINGS, name.toLowerCase())
    ? ENCODINGS[name.toLowerCase()]
    : undefined
  if (encoding === undefined) return undefined
  let decoder = decoders.get(encoding)
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
    decoders.set(encoding, decoder)
  }
  return decoder
}
