import { AwsClient } from 'aws4fetch'
import type { BackupTarget, StoredObject } from './backup-target.ts'

/** How to reach an S3-compatible service. */
export type S3Access = {
  /** Its address, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const RETRIES = 5
const REQUEST_TIMEOUT_MS = 60_000
const FIRST_RETRY_MS = 200

/** A bucket of an S3-compatible service, and a prefix in it. Addresses the bucket in the path. */
export class S3Target implements BackupTarget {
  readonly label: string
  readonly workFolder = undefined
  readonly #client: AwsClient
  readonly #bucketUrl: string
  readonly #prefix: string
  readonly #stop: AbortSignal | undefined

  /**
   * @param address such as `s3://bucket/prefix`
   * @param stop ends all requests
   */
  constructor(address: string, access: S3Access, stop?: AbortSignal) {
    this.#stop = stop
    const { hostname, pathname } = new URL(address)
    const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '')
    this.label = address
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.#bucketUrl = `${access.endpoint.replace(/\/+$/, '')}/${hostname}`
    this.#client = new AwsClient({
      accessKeyId: access.accessKeyId,
      secretAccessKey: access.secretAccessKey,
      region: access.region,
      service: 's3',
      retries: RETRIES,
      initRetryMs: FIRST_RETRY_MS,
    })
  }

  async list(prefix: string): Promise<readonly StoredObject[]> {
    const objects: StoredObject[] = []
    let token: string | undefined
    do {
      const url = new URL(this.#bucketUrl)
      url.searchParams.set('list-type', '2')
      url.searchParams.set('prefix', this.#prefix + prefix)
      if (token !== undefined) url.searchParams.set('continuation-token', token)
      const text = await (await this.#send('GET', url)).text()
      // Names of backups and blocks have no character that XML escapes.
      for (const [, entry = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const name = elementOf(entry, 'Key')?.slice(this.#prefix.length)
        if (name !== undefined) objects.push({ name, size: Number(elementOf(entry, 'Size')) })
      }
      token = unescapeXml(elementOf(text, 'NextContinuationToken'))
    } while (token !== undefined)
    return objects
  }

  async read(name: string): Promise<Buffer | undefined> {
    const response = await this.#send('GET', this.#urlOf(name), { mayBeMissing: true })
    if (response.status === 404) return undefined
    return Buffer.from(await response.arrayBuffer())
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await (await this.#send('PUT', this.#urlOf(name), { body: bytes })).arrayBuffer()
  }

  async remove(name: string): Promise<void> {
    const response = await this.#send('DELETE', this.#urlOf(name), { mayBeMissing: true })
    await response.arrayBuffer()
  }

  async ensureRoom(): Promise<void> {
    // A bucket has no bound that could be asked for.
  }

  async sync(): Promise<void> {
    // The service answers when it has stored an object, and removes uploads that were cut off.
  }

  #urlOf(name: string): URL {
    const path = (this.#prefix + name).split('/').map(encodeURIComponent).join('/')
    return new URL(`${this.#bucketUrl}/${path}`)
  }

  async #send(
    method: string,
    url: URL,
    { body, mayBeMissing = false }: { body?: Uint8Array; mayBeMissing?: boolean } = {},
  ): Promise<Response> {
    const late = AbortSignal.timeout(REQUEST_TIMEOUT_MS * (RETRIES + 1))
    let response: Response
    try {
      response = await this.#client.fetch(url.href, {
        method,
        ...(body && { body: Buffer.from(body) }),
        signal: this.#stop === undefined ? late : AbortSignal.any([late, this.#stop]),
      })
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      throw new Error(`${this.label} cannot be reached at ${url.origin}: ${reason}`, {
        cause: error,
      })
    }
    if (response.ok || (mayBeMissing && response.status === 404)) return response
    const text = await response.text()
    const code = elementOf(text, 'Code') ?? ''
    throw new Error(
      `${this.label} refused a request (${method}, ${response.status} ${code}): ${elementOf(text, 'Message') ?? 'no reason given'}`,
    )
  }
}

function elementOf(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text) ?? []
  return value
}

function unescapeXml(text: string | undefined): string | undefined {
  return text
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
}
