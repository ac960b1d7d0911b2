import type { FastifyReply } from 'fastify'
import type { Parameters } from '../parameters.ts'

type Value = string | number | Fields | undefined
export type Fields = { readonly [name: string]: Value }

/** What an action returns. */
export type Answer = {
  readonly fields: Fields
  /** The whole body in the format `simple`. */
  readonly simple: string
  /** 200, where left out. */
  readonly status?: number
}

const CALLBACK = /^[a-zA-Z0-9_$.]+$/
/** Characters that XML cannot hold in any form. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const NO_XML = /[\0-\t\v\f\x0e-\x1f\x7f\ufffe\uffff]/g
const XML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
}

/** Sends what an action returns in the format that the parameters ask for. */
export function sendAnswer(reply: FastifyReply, parameters: Parameters, answer: Answer) {
  const { fields, simple, status = 200 } = answer
  const { format = 'xml' } = parameters
  const send = (type: string, body: string) =>
    reply.code(status).header('Content-Type', `${type}; charset=utf-8`).send(body)
  switch (format) {
    case 'json':
      return send('application/json', JSON.stringify(fields))
    case 'jsonp': {
      const { callback } = fields
      if (callback === undefined || CALLBACK.test(String(callback))) {
        return send('application/javascript', `${callback ?? ''}(${JSON.stringify(fields)})`)
      }
      const refusal = { errorCode: '400', error: 'Invalid callback parameter' }
      reply.header('Content-Type', 'application/javascript; charset=utf-8')
      return reply.code(400).send(JSON.stringify(refusal))
    }
    case 'xml':
      return send('application/xml', formatXml(fields))
    default:
      return send('text/plain', simple)
  }
}

function formatXml(fields: Fields): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('root', fields)}\n`
}

function element(name: string, value: Exclude<Value, undefined>): string {
  const content = typeof value === 'object' ? elements(value) : xmlText(String(value))
  return content === '' ? `<${name}/>` : `<${name}>${content}</${name}>`
}

function elements(fields: Fields): string {
  const parts = Object.entries(fields).map(([name, value]) =>
    value === undefined ? '' : element(name, value),
  )
  return parts.join('')
}

function xmlText(text: string): string {
  return text
    .replace(NO_XML, '')
    .replace(/[&<>\r]/g, (character) => XML_ESCAPES[character] ?? character)
}
