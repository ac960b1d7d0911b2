/** Returns a text as HTML, for elements and for attributes within quotation marks. */
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
