import { createHash } from 'node:crypto'
import { escapeHtml } from '../../platform/text/escape-html.ts'

/**
 * Colours are not in `oklch()` or `light-dark()`, which visitors' older browsers lack. Text reaches a
 * contrast of 4.5:1 in both themes, borders of controls 3:1. Sizes of text follow the browser's setting.
 */
const STYLE = `
:root{color-scheme:light dark;--ground:#f8f9fb;--surface:#fff;--text:#171b21;--muted:#5e646b;--line:#cdd1d6;--edge:#868c93;--danger:#b52332;--focus:#007e63}
@media(prefers-color-scheme:dark){:root{--ground:#0c0f12;--surface:#121519;--text:#eef0f3;--muted:#a0a5ac;--line:#393e43;--edge:#6c7178;--danger:#fd8d8f;--focus:#4ad8af}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;background:var(--ground);color:var(--text);font:1rem/1.5 -apple-system,"Segoe UI",Roboto,system-ui,sans-serif}
main{width:100%;max-width:28rem;padding:3rem 1.5rem;overflow-wrap:anywhere}
svg{display:block;width:1.75rem;height:1.75rem;margin-bottom:1.25rem;color:var(--muted);fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;font-weight:600;letter-spacing:-.022em;text-wrap:balance}
h1:lang(ja),h1:lang(zh){letter-spacing:0;word-break:auto-phrase}
p{margin:0;color:var(--muted);text-wrap:pretty}
.address{margin-top:1.5rem;padding:.125rem 0 .125rem .875rem;border-left:2px solid var(--line);font-size:.9375rem}
b{font-weight:500;color:var(--text)}
form{margin-top:1.5rem}
label{display:block;margin-bottom:.5rem;font-size:.875rem;font-weight:500}
input,button,.button{min-height:2.75rem;border:1px solid var(--edge);border-radius:6px;background:var(--surface);color:inherit;font:inherit}
input{display:block;width:100%;padding:0 .75rem}
[hidden]{display:none}
[aria-invalid]{border-color:var(--danger)}
#wrong{display:flex;gap:.375rem;margin-top:.5rem;color:var(--danger);font-size:.875rem}
#wrong svg{flex:none;width:1rem;height:1.3125rem;margin:0;color:inherit}
button{width:100%;margin-top:1rem;border-color:transparent;background:var(--text);color:var(--ground);font-weight:500;cursor:pointer}
.button{display:inline-block;margin-top:1.5rem;padding:.5625rem 1rem;font-weight:500;text-decoration:none}
button:hover{opacity:.88}
.button:hover{border-color:var(--text)}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
input:focus-visible{outline-offset:-1px}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * Allows the page's own style only. There is no `form-action`: browsers apply it to the redirect that
 * answers the form too, which leads to the link's destination.
 */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`

type Icon = (typeof ICONS)[keyof typeof ICONS]

export type PageContent = {
  /** BCP 47. */
  readonly language: string
  readonly icon: Icon
  readonly title: string
  readonly text: string
  /** The address that the visitor opened. `key` is empty for a page that belongs to no link. */
  readonly address: { readonly host: string; readonly key: string }
  /** HTML. Text from outside must be escaped by `escapeHtml`. */
  readonly controls: string
  /** HTML in the head, after the title; likewise. */
  readonly head?: string
}

/** Before and after the language. ASCII, so that both are the same in characters and in bytes. */
const START = '<!doctype html>\n<html lang="'
const HEAD = `">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>${STYLE}</style>
<title>`

/**
 * Renders a page for a visitor: no script, no resource of another host, readable on a phone.
 *
 * @returns the page's bytes, one character each
 */
export function renderPage({
  language,
  icon,
  title,
  text,
  address,
  controls,
  head = '',
}: PageContent): string {
  const { host, key } = address
  const shown =
    key === '' ? `<b>${escapeHtml(host)}</b>` : `${escapeHtml(host)}/<b>${escapeHtml(key)}</b>`
  // Only what follows the head differs between pages and may hold more than ASCII.
  const rest = `${escapeHtml(title)}</title>
${head}</head>
<body>
<main>
${svg(icon)}
<h1>${escapeHtml(title)}</h1>
${text === '' ? '' : `<p>${escapeHtml(text)}</p>\n`}<p class="address" dir="ltr" translate="no">${shown}</p>
${controls}</main>
</body>
</html>
`
  return `${START}${language}${HEAD}${Buffer.from(rest).toString('latin1')}`
}

/** Returns the icon as HTML. It repeats what a text beside it says, so that screen readers skip it. */
export function svg(icon: Icon): string {
  return `<svg viewBox="0 0 24 24" aria-hidden="true">${icon}</svg>`
}

/** Shapes within a square of 24 units, from Lucide (https://lucide.dev, ISC licence, © Lucide Contributors). */
export const ICONS = {
  unlink:
    '<path d="m18.84 12.25 1.72-1.71h-.02a5 5 0 0 0-.12-7.07 5 5 0 0 0-6.95 0l-1.72 1.71M5.17 11.75l-1.71 1.71a5 5 0 0 0 .12 7.07 5 5 0 0 0 6.95 0l1.71-1.71M8 2v3M2 8h3M16 19v3M19 16h3"/>',
  globe:
    '<circle cx="12" cy="12" r="10"/><path d="M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20M2 12h20"/>',
  timerOff:
    '<path d="M10 2h4M4.6 11a8 8 0 0 0 1.7 8.7 8 8 0 0 0 8.7 1.7M7.4 7.4a8 8 0 0 1 10.3 1 8 8 0 0 1 .9 10.2M2 2l20 20M12 12v-2"/>',
  lock: '<circle cx="12" cy="16" r="1"/><rect x="3" y="10" width="18" height="12" rx="2"/><path d="M7 10V7a5 5 0 0 1 10 0v3"/>',
  hourglass:
    '<path d="M5 22h14M5 2h14M17 22v-4.17a2 2 0 0 0-.59-1.42L12 12l-4.41 4.41A2 2 0 0 0 7 17.83V22M7 2v4.17a2 2 0 0 0 .59 1.42L12 12l4.41-4.41A2 2 0 0 0 17 6.17V2"/>',
  cloudOff:
    '<path d="m2 2 20 20M5.78 5.78A7 7 0 0 0 9 19h8.5a4.5 4.5 0 0 0 1.31-.19M21.53 16.5A4.5 4.5 0 0 0 17.5 10h-1.79A7 7 0 0 0 10 5.07"/>',
  server:
    '<rect x="2" y="2" width="20" height="8" rx="2"/><rect x="2" y="14" width="20" height="8" rx="2"/><path d="M6 6h.01M6 18h.01"/>',
  alert: '<circle cx="12" cy="12" r="10"/><path d="M12 8v4M12 16h.01"/>',
} as const
