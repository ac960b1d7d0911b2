import type { FastifyReply } from 'fastify'
import { formatXml, type XmlFields } from '../../platform/text/xml.ts'
import type { Parameters } from '../parameters.ts'

export type Fields = XmlFields

/** What an action returns. */
export type Answer = {
  readonly fields: Fields
  /** The whole body in the format `simple`. */
  readonly simple: string
  /** 200, where left out. */
  readonly status?: number
}

const CALLBACK = /^[a-zA-Z0-9_$.]+$/

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
      return send('application/xml', formatXml('root', fields))
    default:
      return send('text/plain', simple)
  }
}
