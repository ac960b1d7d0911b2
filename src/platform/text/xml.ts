/** The content of an element: a text, or elements by their names; undefined for no element. */
type XmlValue = string | number | XmlFields | undefined
export type XmlFields = { readonly [name: string]: XmlValue }

/** Characters that XML 1.0 cannot contain, even escaped, and DEL, which it discourages. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const NO_XML = /[\0-\b\v\f\x0e-\x1f\x7f\ufffe\uffff]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
}

/** Returns an XML document with one element for each field. Control characters other than tabs and line ends are left out. */
export function formatXml(root: string, fields: XmlFields): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, fields)}\n`
}

function element(name: string, value: Exclude<XmlValue, undefined>): string {
  const content = typeof value === 'object' ? elements(value) : xmlText(String(value))
  return content === '' ? `<${name}/>` : `<${name}>${content}</${name}>`
}

function elements(fields: XmlFields): string {
  const parts = Object.entries(fields).map(([name, value]) =>
    value === undefined ? '' : element(name, value),
  )
  return parts.join('')
}

function xmlText(text: string): string {
  return text
    .replace(NO_XML, '')
    .replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character)
}
