import assert from 'node:assert/strict'
import { visit } from './visit.ts'

/**
 * Returns the path of the largest file that the service serves: the reference page's main script.
 */
export async function referenceScript(port: number, host = 'localhost'): Promise<string> {
  const { body } = await visit(port, '/docs', { host })
  const [, path] = /src="([^"]*\/swagger-ui-bundle\.[^"]*\.js)"/.exec(body) ?? []
  assert.ok(path, body)
  return path
}
