import { parseUserAgent } from '../clicks/index.ts'
import { displayHost } from '../hosts/index.ts'
import { imageNameOf, keyOfPath, OEMBED_TYPES, oembedAddress, parseKey } from '../links/index.ts'
import type { RequestTarget } from '../platform/http/request-target.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'

/** What messengers and social networks show of a link; at least one of them is set. */
export type LinkPreview = {
  readonly title: string | null
  readonly description: string | null
  readonly image: string | null
}

/**
 * Programs that load a link to show it in a message or a post. Chosen from those that `isbot` and the list
 * `crawler-user-agents` (MIT, tag `social-preview`) know; without those that load pictures (proxies of mail services and
 * messengers), train models, or index pages: a link that leads to a picture must lead them there. Messages of Apple
 * names itself `facebookexternalhit` and `Twitterbot`, Signal names itself `WhatsApp`, Teams `SkypeUriPreview`.
 */
const SOCIAL_AGENTS = new RegExp(
  [
    ...['facebookexternalhit', 'facebot', 'meta-externalhit', 'meta-externalfetcher', 'whatsapp'],
    ...[
      'twitterbot',
      'linkedinbot',
      'pinterest(?:bot|\\.com/bot)',
      'redditbot',
      'tumblr',
      'xing bot',
    ],
    ...['slackbot', 'discordbot', 'telegrambot', 'skypeuripreview', 'microsoftpreview'],
    ...[
      'bingpreview',
      'viber',
      'line(?:spider|bot|-poker)',
      'kakaotalk-scrap',
      'vkshare',
      'vkrobot',
    ],
    ...['odklbot', 'snap url preview', 'snapurlpreview', 'tiktokspider', 'bluesky', 'cardyb'],
    ...['mastodon', 'pleroma', 'misskey', 'summalybot', 'friendica', 'lemmy', 'akkoma'],
    ...['mattermost', 'rocket\\.chat', 'synapse', 'zulip', 'nextcloud', 'zoombot'],
    ...['google-pagerenderer', 'google web preview', 'google-messages', 'groupmebot', 'keybasebot'],
    ...['chatwork linkpreview', 'dingtalkbot', 'feishu', 'discourse forum onebox', 'quora-bot'],
    ...['mediumbot', 'notionbot', 'evernoterichlinkbot', 'clickuplinkunfurler', 'codabot'],
    ...['embedly', 'iframely', 'opengraph\\.io', 'flipboardproxy', 'yahoo link preview', 'hatena'],
    ...['bufferlinkpreviewbot', 'orlo-linkpreview', 'loomlybot', 'valve/steam'],
  ].join('|'),
  'i',
)

/**
 * Whether a program loads a link to show it. Browsers within apps are people: their agents name the app too, so a program
 * has to be a known bot besides.
 */
export function isSocialAgent(userAgent: string | undefined): boolean {
  return (
    userAgent !== undefined &&
    parseUserAgent(userAgent).flags !== 0 &&
    SOCIAL_AGENTS.test(userAgent)
  )
}

/**
 * The host and key of a link as people read them; the key is empty for a path that no link can have, which is not repeated:
 * it may hold whole sentences that a stranger wrote, and a page would seem to say them.
 */
export function readableAddress({ host, path }: Pick<RequestTarget, 'host' | 'path'>): {
  readonly host: string
  readonly key: string
} {
  const parsed = parseKey(keyOfPath(path) ?? '')
  return { host: displayHost(host), key: 'value' in parsed ? parsed.value : '' }
}

/** Returns the title of a link, or its address where its owners set none. */
export function titleOf(shown: LinkPreview | null, target: RequestTarget): string {
  if (shown !== null && shown.title !== null) return shown.title
  const { host, key } = readableAddress(target)
  return key === '' ? host : `${host}/${key}`
}

/** From this width on, and where it is wider than high, a picture is shown large: X's limit for such cards. */
const LARGE_WIDTH_MIN = 300
const LARGE_RATIO_MIN = 1.3

/**
 * Returns the elements of a page's head from which a link is shown, with all text escaped. The address of the page is that
 * of the link: Facebook would load any other one in its place.
 *
 * @param leadsTo where a browser is sent at once; null for nowhere
 * @param oembedUrl where programs find the same in the form of oEmbed
 */
export function previewElements(
  shown: LinkPreview,
  {
    target,
    leadsTo,
    oembedUrl,
  }: { target: RequestTarget; leadsTo: string | null; oembedUrl: string },
): string {
  const { description, image } = shown
  const title = titleOf(shown, target)
  const address = `https://${target.host}${target.path}`
  const name = imageNameOf(image)
  const isLarge =
    image !== null &&
    (name === undefined ||
      (name.width >= LARGE_WIDTH_MIN && name.width >= name.height * LARGE_RATIO_MIN))
  return [
    element('link rel="canonical" href', address),
    ...(['json', 'xml'] as const).map((format) =>
      element(
        `link rel="alternate" type="${OEMBED_TYPES[format]}+oembed" href`,
        oembedAddress(oembedUrl, address, format),
      ),
    ),
    meta('property', 'og:type', 'website'),
    meta('property', 'og:url', address),
    meta('property', 'og:site_name', target.host),
    meta('property', 'og:title', title),
    meta('name', 'description', description),
    meta('property', 'og:description', description),
    meta('property', 'og:image', image),
    meta('property', 'og:image:width', name && String(name.width)),
    meta('property', 'og:image:height', name && String(name.height)),
    meta('name', 'twitter:card', isLarge ? 'summary_large_image' : 'summary'),
    meta('name', 'twitter:title', title),
    meta('name', 'twitter:description', description),
    meta('name', 'twitter:image', image),
    leadsTo === null ? '' : element('meta http-equiv="refresh" content', `0; url=${leadsTo}`),
  ].join('')
}

function meta(kind: 'name' | 'property', name: string, content: string | null | undefined): string {
  return content === null || content === undefined
    ? ''
    : element(`meta ${kind}="${name}" content`, content)
}

function element(start: string, value: string): string {
  return `<${start}="${escapeHtml(value)}">\n`
}
