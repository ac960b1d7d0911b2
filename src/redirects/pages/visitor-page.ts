import { formatHost } from '../../hosts/index.ts'
import { keyOfPath } from '../../links/index.ts'
import type { RequestTarget } from '../../platform/http/request-target.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { type LinkPreview, previewElements, readableAddress, titleOf } from '../link-preview.ts'
import { ICONS, type PageContent, renderPage, svg } from './page.ts'
import type { PageTexts } from './texts/page-texts.ts'

/** A page that a visitor may get instead of a link's destination. */
export type VisitorPage =
  | { readonly kind: 'unknown-host' | 'not-found' | 'loop' }
  /** @property expiredAtMs milliseconds since the epoch */
  | { readonly kind: 'expired'; readonly expiredAtMs: number }
  /** @property activeFromMs milliseconds since the epoch */
  | { readonly kind: 'upcoming'; readonly activeFromMs: number }
  | { readonly kind: 'used-up' }
  /**
   * @property shown what a program shows of the link; null where its owners set nothing
   * @property leadsTo where a browser is sent at once; null where a person has to continue by a button
   * @property oembedUrl where programs find what they show of links
   */
  | {
      readonly kind: 'preview'
      readonly shown: LinkPreview | null
      readonly leadsTo: string | null
      readonly oembedUrl: string
    }
  | { readonly kind: 'password'; readonly isWrong: boolean }
  | { readonly kind: 'too-many-attempts' | 'busy'; readonly waitSeconds: number }
  | { readonly kind: 'unavailable' | 'elsewhere' | 'invalid-request' }

/**
 * Renders a page in one language. Nothing is kept of it: a page takes microseconds, and ten languages of
 * every page would take memory for good.
 *
 * @param target what the visitor requested
 * @returns the page's bytes, one character each
 */
export function renderVisitorPage(
  page: VisitorPage,
  texts: PageTexts,
  target: RequestTarget,
): string {
  return renderPage({
    language: texts.tag,
    address: addressOf(page, target),
    ...contentOf(page, texts, target),
  })
}

function contentOf(
  page: VisitorPage,
  texts: PageTexts,
  target: RequestTarget,
): Omit<PageContent, 'language' | 'address'> {
  switch (page.kind) {
    case 'unknown-host':
      return { icon: ICONS.globe, ...texts.unknownHost, controls: '' }
    case 'not-found':
      return { icon: ICONS.unlink, ...texts.notFound, controls: '' }
    case 'expired': {
      const { title, text } = texts.expired
      const date = formatDay(page.expiredAtMs, texts)
      return { icon: ICONS.timerOff, title, text: text(date), controls: '' }
    }
    case 'upcoming': {
      const { title, text } = texts.upcoming
      const date = formatDay(page.activeFromMs, texts)
      return { icon: ICONS.hourglass, title, text: text(date), controls: tryAgain(texts) }
    }
    case 'used-up':
      return { icon: ICONS.timerOff, ...texts.usedUp, controls: '' }
    case 'preview':
      return previewContent(page, texts, target)
    case 'loop':
      return { icon: ICONS.unlink, ...texts.loop, controls: '' }
    case 'password': {
      const { title, text } = texts.password
      return { icon: ICONS.lock, title, text, controls: passwordForm(page.isWrong, texts, target) }
    }
    case 'too-many-attempts':
    case 'busy': {
      const { title, text } = page.kind === 'busy' ? texts.busy : texts.tooManyAttempts
      const when = texts.wait(page.waitSeconds)
      return { icon: ICONS.hourglass, title, text: text(when), controls: tryAgain(texts) }
    }
    case 'unavailable':
      return { icon: ICONS.cloudOff, ...texts.unavailable, controls: tryAgain(texts) }
    case 'elsewhere':
      return { icon: ICONS.server, ...texts.elsewhere, controls: '' }
    case 'invalid-request':
      // A form may have been sent to a link whose password was removed: the link itself works.
      return { icon: ICONS.alert, ...texts.invalidRequest, controls: tryAgain(texts) }
  }
}

function previewContent(
  { shown, leadsTo, oembedUrl }: Extract<VisitorPage, { kind: 'preview' }>,
  texts: PageTexts,
  target: RequestTarget,
): Omit<PageContent, 'language' | 'address'> {
  const { submit } = texts.password
  const controls =
    leadsTo === null
      ? continueForm(texts)
      : `<a class="button" href="${escapeHtml(leadsTo)}">${escapeHtml(submit)}</a>\n`
  if (shown === null) return { icon: ICONS.hourglass, ...texts.preview, controls }
  return {
    icon: leadsTo === null ? ICONS.hourglass : ICONS.globe,
    title: titleOf(shown, target),
    text: shown.description ?? (leadsTo === null ? texts.preview.text : ''),
    controls,
    head: previewElements(shown, { target, leadsTo, oembedUrl }),
  }
}

/** A link to the page's own address, which is requested with `GET` even if a form was answered. */
function tryAgain(texts: PageTexts): string {
  return `<a class="button" href="">${escapeHtml(texts.tryAgain)}</a>\n`
}

/** A form rather than a link: programs that check a page follow its links, and send no forms. */
function continueForm(texts: PageTexts): string {
  return `<form method="post">
<button type="submit">${escapeHtml(texts.password.submit)}</button>
</form>
`
}

/**
 * The hidden user name, which has no name and so is not sent, lets password managers keep one password
 * for each link. Without it they would fill in the password of another link of the domain, because they
 * know passwords by site and user name, and browsers ignore `autocomplete="off"` here.
 */
function passwordForm(isWrong: boolean, texts: PageTexts, { path }: RequestTarget): string {
  const { label, submit, wrong } = texts.password
  const described = isWrong ? ' aria-invalid="true" aria-describedby="wrong"' : ''
  const alert = isWrong
    ? `<p role="alert" id="wrong">${svg(ICONS.alert)}${escapeHtml(wrong)}</p>\n`
    : ''
  return `<form method="post">
<input type="text" autocomplete="username" value="${escapeHtml(keyOfPath(path) ?? '')}" readonly hidden>
<label for="password">${escapeHtml(label)}</label>
<input id="password" name="password" type="password" required autofocus autocomplete="current-password" enterkeyhint="go"${described}>
${alert}<button type="submit">${escapeHtml(submit)}</button>
</form>
`
}

function addressOf(
  { kind }: Pick<VisitorPage, 'kind'>,
  target: RequestTarget,
): PageContent['address'] {
  if (kind === 'unknown-host') return { host: formatHost(target.host), key: '' }
  return readableAddress(target)
}

/**
 * Not by `Intl`: its first use in a process takes 18 ms of the thread that answers visitors, and 10 MiB
 * for good.
 */
function formatDay(atMs: number, { day, months }: PageTexts): string {
  const date = new Date(atMs)
  return day(date.getUTCDate(), months[date.getUTCMonth()] ?? '', date.getUTCFullYear())
}
