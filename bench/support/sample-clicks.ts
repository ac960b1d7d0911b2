import { CLICK_FLAGS, type Click } from '../../src/clicks/click.ts'

const COUNTRIES = names(200, (n) => String.fromCharCode(65 + (n % 26), 65 + Math.floor(n / 26)))
const DEVICES = ['mobile', 'desktop', 'tablet', 'tv']
const SYSTEMS = ['Android', 'iOS', 'Windows', 'macOS', 'Linux', 'ChromeOS']
const BROWSERS = ['Chrome', 'Safari', 'Edge', 'Firefox', 'Samsung Internet', 'Opera', 'Instagram']
const REFERRERS = names(1_000, (n) => `www.site-${n}.example.com`)
const LANGUAGES = names(40, (n) => String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26)))
const VISITORS = 2_000_000
const DIRECT_SHARE = 0.5
const BOT_SHARE = 0.1
const QR_SHARE = 0.03

function names(count: number, name: (n: number) => string): string[] {
  return Array.from({ length: count }, (_, n) => name(n))
}

/**
 * Draws numbers from 0 to below `count`, with 0 the most frequent: by Zipf's law with exponent `s`.
 */
export function zipf(count: number, s: number): () => number {
  const cumulated = new Float64Array(count)
  let sum = 0
  for (let index = 0; index < count; index += 1) {
    sum += 1 / (index + 1) ** s
    cumulated[index] = sum
  }
  return () => {
    const wanted = Math.random() * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulated[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Clicks like those of a busy site. */
export function clickSource(linkSeq: () => number): (at: number) => Click {
  const by = (values: readonly string[]) => {
    const draw = zipf(values.length, 1)
    return () => values[draw()] ?? ''
  }
  const country = by(COUNTRIES)
  const device = by(DEVICES)
  const os = by(SYSTEMS)
  const browser = by(BROWSERS)
  const referrer = by(REFERRERS)
  const language = by(LANGUAGES)
  return (at) => ({
    at,
    link_seq: linkSeq(),
    flags: Math.random() < BOT_SHARE ? CLICK_FLAGS.bot : 0,
    count: 1,
    visitor: (Math.floor(Math.random() * VISITORS) * 4_503_599_627) % 2 ** 53,
    country: country(),
    device: device(),
    os: os(),
    browser: browser(),
    referrer: Math.random() < DIRECT_SHARE ? '' : referrer(),
    language: language(),
    source: Math.random() < QR_SHARE ? 'qr' : 'direct',
    rule: '',
    variant: '',
    label: '',
    region: '',
    city: '',
  })
}
