import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'

/**
 * Runs the script of a sheet over a column of addresses, with the services of Google that it uses, and prints the column
 * beside it. A process of its own, because those services answer without a promise.
 */
const { file, token, addresses, beside } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as {
  readonly file: string
  readonly token: string
  readonly addresses: readonly string[]
  readonly beside: string[]
}

type Options = {
  readonly method: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload: string
}

/** As `UrlFetchApp.fetch`, with `muteHttpExceptions`. */
function fetch(url: string, { method, contentType, headers, payload }: Options) {
  const sent = Object.entries({ ...headers, 'Content-Type': contentType })
  const args = [
    ...['--silent', '--request', method.toUpperCase(), '--data', payload],
    ...sent.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...['--write-out', '\n%{http_code}', url],
  ]
  const [body = '', status] = execFileSync('curl', args, { encoding: 'utf8' }).split('\n')
  return { getContentText: () => body, getResponseCode: () => Number(status) }
}

const column = (values: string[]) => ({
  getNumColumns: () => 1,
  getNumRows: () => values.length,
  getValues: () => values.map((value) => [value]),
  getCell: (row: number) => ({
    setValue(value: string) {
      values[row - 1] = value
    },
  }),
})
const menu: string[] = []
const openMenu = {
  addItem(_title: string, name: string) {
    menu.push(name)
    return openMenu
  },
  addToUi() {},
}
const context = {
  SpreadsheetApp: {
    getUi: () => ({ createMenu: () => openMenu }),
    getActiveRange: () => ({ ...column([...addresses]), offset: () => column(beside) }),
  },
  PropertiesService: {
    getScriptProperties: () => ({ getProperty: (name: string) => name === 'TERSE_TOKEN' && token }),
  },
  UrlFetchApp: { fetch },
}
let error: string | undefined
try {
  runInNewContext(`${readFileSync(file, 'utf8')}; onOpen()`, context)
  runInNewContext(`${menu[0]}()`, context)
} catch (thrown) {
  error = String((thrown as Error).message)
}
process.stdout.write(JSON.stringify({ beside, error }))
