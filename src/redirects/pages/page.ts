import { createHash } from 'node:crypto'

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#5b6570;--paper:#fff;--line:#c5ccd3;--accent:#0b57d0}
@media(prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a9b4bf;--paper:#15181b;--line:#4a535c;--accent:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:26rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
p{margin:0 0 1rem;color:var(--soft);overflow-wrap:anywhere}
label{display:block;font-weight:600;margin-bottom:.25rem}
input,button{width:100%;font:inherit;padding:.7rem .8rem;border-radius:.5rem}
input{border:1px solid var(--line);background:transparent;color:inherit;margin-bottom:.75rem}
button{border:0;background:var(--accent);color:var(--paper);font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[role=alert]{color:#b3261e}
@media(prefers-color-scheme:dark){[role=alert]{color:#f2b8b5}}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * Allows the page's own style only. There is no `form-action`: browsers apply it to the redirect that
 * answers the form too, which leads to the link's destination.
 */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`

export type PageContent = {
  readonly title: string
  /** HTML. Text from outside must be escaped by `escapeHtml`. */
  readonly body: string
}

/** Renders a page for a visitor: no script, no resource of another host, readable on a phone. */
export function renderPage({ title, body }: PageContent): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
