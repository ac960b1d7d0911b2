import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The setting by which a service may read pages of this machine. */
export const MAY_READ = { TERSE_PREVIEW_NETWORKS: '127.0.0.1' }

type Site = AsyncDisposable & { readonly url: string }

/** Starts a site on this machine. By default each of its addresses is a page with a title. */
export async function startSite(
  answer: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A page</title>')
  },
): Promise<Site> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
