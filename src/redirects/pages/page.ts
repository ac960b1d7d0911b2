import { createHash } from 'node:crypto'
import type { ICONS } from './icons.ts'

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
}: PageContent): string {
  const { host, key } = address
  const shown =
    key === '' ? `<b>${escapeHtml(host)}</b>` : `${escapeHtml(host)}/<b>${escapeHtml(key)}</b>`
  // Only what follows the head differs between pages and may hold more than ASCII.
  const rest = `${escapeHtml(title)}</title>
</head>
<body>
<main>
${svg(icon)}
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
<p class="address" dir="ltr" translate="no">${shown}</p>
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

export function escapeHtml(text: string): string {
  // Most texts have nothing to escape.
  if (!/[&<>"']/.test(text)) return text
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
