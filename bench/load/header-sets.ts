/** The headers that one kind of browser sends with every page request, in its order. */
type Browser = { readonly agent: string; readonly hints?: readonly string[] }

const WEB_KIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

function chromium(platform: string, system: string, mobile: boolean, version: number): Browser {
  return {
    agent: `Mozilla/5.0 (${system}) ${WEB_KIT} Chrome/${version}.0.0.0${mobile ? ' Mobile' : ''} Safari/537.36`,
    hints: [
      `sec-ch-ua: "Chromium";v="${version}", "Google Chrome";v="${version}", "Not_A Brand";v="24"`,
      `sec-ch-ua-mobile: ?${mobile ? 1 : 0}`,
      `sec-ch-ua-platform: "${platform}"`,
    ],
  }
}

function safari(system: string, suffix: string): Browser {
  return { agent: `Mozilla/5.0 (${system}) AppleWebKit/605.1.15 (KHTML, like Gecko) ${suffix}` }
}

const IPHONE = 'iPhone; CPU iPhone OS 18_5 like Mac OS X'

/**
 * No bots among them: a link's `clicks` count people, so that every request must be in that number.
 * Phones come first and are twice as frequent as the rest.
 */
const BROWSERS: readonly Browser[] = [
  safari(IPHONE, 'Version/18.5 Mobile/15E148 Safari/604.1'),
  chromium('Android', 'Linux; Android 10; K', true, 139),
  chromium('Windows', 'Windows NT 10.0; Win64; x64', false, 139),
  safari('iPhone; CPU iPhone OS 17_6_1 like Mac OS X', 'Version/17.6 Mobile/15E148 Safari/604.1'),
  chromium('Android', 'Linux; Android 14; SM-S928B', true, 137),
  chromium('macOS', 'Macintosh; Intel Mac OS X 10_15_7', false, 138),
  safari(IPHONE, 'Mobile/15E148 Instagram 390.0.0.28.85 (iPhone15,3; iOS 18_5; en_GB; scale=3.00)'),
  chromium('Android', 'Linux; Android 13; Pixel 7', true, 136),
  { agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0' },
  safari('Macintosh; Intel Mac OS X 10_15_7', 'Version/18.5 Safari/605.1.15'),
  chromium('Linux', 'X11; Linux x86_64', false, 139),
  { agent: 'Mozilla/5.0 (Android 15; Mobile; rv:141.0) Gecko/141.0 Firefox/141.0' },
  safari('iPad; CPU OS 18_5 like Mac OS X', 'Version/18.5 Mobile/15E148 Safari/604.1'),
  {
    agent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEB_KIT} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0`,
  },
]

/** An empty one means that the link was typed, or opened from an app. */
const REFERRERS = [
  '',
  'https://www.google.com/',
  'https://www.facebook.com/',
  '',
  'https://t.co/',
  'https://www.linkedin.com/',
  'https://news.example.org/2026/11/what-to-read-this-week?edition=evening',
  '',
  'https://www.youtube.com/',
  'https://mail.example.net/',
  'https://blog.example.com/posts/142',
]

const LANGUAGES = [
  'en-US,en;q=0.9',
  'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7',
  'fr-FR,fr;q=0.9,en;q=0.8',
  'en-GB,en;q=0.9',
  'es-ES,es;q=0.9',
  'pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7',
  'ja',
  'nl-NL,nl;q=0.9,en;q=0.8',
  'hi-IN,hi;q=0.9,en-IN;q=0.8,en;q=0.7',
]

const SETS = 48

/** Whether requests have two headers only, those of one browser, which shows what the others cost. */
const ARE_PLAIN = process.env.BENCH_HEADERS === 'plain'

/**
 * Everything that a browser sends after the request line, to the empty line at the end. The lengths
 * of the lists have no common divisor, so that all browsers, referrers and languages are combined.
 */
export function headerSets(host: string): readonly string[] {
  if (ARE_PLAIN) return [`Host: ${host}\r\nUser-Agent: ${BROWSERS[0]?.agent}\r\n\r\n`]
  return Array.from({ length: SETS }, (_, index) => {
    const { agent, hints = [] } = BROWSERS[index % BROWSERS.length] as Browser
    const referrer = REFERRERS[index % REFERRERS.length]
    return [
      `Host: ${host}`,
      'Connection: keep-alive',
      ...hints,
      'Upgrade-Insecure-Requests: 1',
      `User-Agent: ${agent}`,
      'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
      `Sec-Fetch-Site: ${referrer === '' ? 'none' : 'cross-site'}`,
      'Sec-Fetch-Mode: navigate',
      'Sec-Fetch-Dest: document',
      ...(referrer === '' ? [] : [`Referer: ${referrer}`]),
      'Accept-Encoding: gzip, deflate, br',
      `Accept-Language: ${LANGUAGES[index % LANGUAGES.length]}`,
      '\r\n',
    ].join('\r\n')
  })
}
