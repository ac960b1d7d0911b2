import { Parser } from 'htmlparser2'

/** What a page says of itself for programs that show links to it. */
export type PageTags = {
  readonly title: string | null
  readonly description: string | null
  /** Absolute, of the web. */
  readonly image: string | null
}

/** In their order: the first that is set counts. */
const TITLES = ['og:title', 'twitter:title', 'title']
const DESCRIPTIONS = ['og:description', 'twitter:description', 'description']
const IMAGES = [
  'og:image:secure_url',
  'og:image',
  'og:image:url',
  'twitter:image',
  'twitter:image:src',
]
const KNOWN = new Set([...TITLES, ...DESCRIPTIONS, ...IMAGES])

/**
 * Reads the Open Graph and Twitter tags, title and description of a page.
 *
 * @param page.html as sent, cut off where it is long
 * @param page.contentType as sent
 * @param page.url against which addresses are resolved
 */
export function readPageTags(page: {
  readonly html: Uint8Array
  readonly contentType: string
  readonly url: string
}): PageTags {
  const found = new Map<string, string>()
  let base = page.url
  let title: string | undefined
  const note = (name: string, value: string) => {
    if (!found.has(name) && value.trim() !== '') found.set(name, value)
  }
  const parser = new Parser({
    onopentag(name, { property, name: metaName, content, href }) {
      if (name === 'title') title ??= ''
      if (name === 'base' && href !== undefined) base = URL.parse(href, page.url)?.href ?? base
      const tag = (property ?? metaName ?? '').trim().toLowerCase()
      if (name === 'meta' && KNOWN.has(tag)) note(tag, content ?? '')
    },
    ontext(text) {
      if (title !== undefined && !found.has('title')) title += text
    },
    onclosetag(name) {
      if (name === 'title') note('title', title ?? '')
    },
  })
  parser.end(decode(page.html, page.contentType))
  const first = (names: readonly string[]) =>
    names.map((name) => found.get(name)).find((value) => value !== undefined)
  return {
    title: oneLine(first(TITLES)),
    description: oneLine(first(DESCRIPTIONS)),
    image: addressIn(first(IMAGES), base),
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const SPACES = /[\s\u0000-\u001f\u007f-\u009f]+/g

function oneLine(text: string | undefined): string | null {
  return text?.toWellFormed().replace(SPACES, ' ').trim() || null
}

function addressIn(text: string | undefined, base: string): string | null {
  const url = text === undefined ? null : URL.parse(text.trim(), base)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}

/** How far into a page its own encoding may stand (https://html.spec.whatwg.org/#charset). */
const CHARSET_WITHIN = 1_024
const CHARSET = /charset\s*=\s*["']?\s*([\w:.-]+)/i

/** Decodes by the byte order mark, the header, or what the page says; as UTF-8 where these are silent. */
function decode(html: Uint8Array, contentType: string): string {
  const start = Buffer.from(html.subarray(0, CHARSET_WITHIN)).toString('latin1')
  const label = CHARSET.exec(contentType)?.[1] ?? CHARSET.exec(start)?.[1] ?? 'utf-8'
  return decoderOf(markedEncoding(html) ?? label).decode(html)
}

function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function decoderOf(label: string): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
