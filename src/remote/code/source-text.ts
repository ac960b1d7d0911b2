import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { plainText } from '../../platform/cli/terminal.ts'

/** From the top of a file to a value in it: `['links', 3, 'url']`. */
export type FilePath = readonly (string | number)[]

export type FileFault = { readonly path: FilePath; readonly text: string }

export type Place = { readonly line: number; readonly column: number }

const FAULTS_SHOWN_MAX = 50
/** Of an anchor, and of those within it, multiplied: each of 10,000 links may use two. The library allows 100. */
const ALIASES_MAX = 100_000_000

/** A file that cannot be used; the message has a line for each fault, with its line and column. */
export class LinkFileError extends Error {
  override readonly name = 'LinkFileError'
}

/** The text of a file of links, in YAML or JSON, and where its values stand. */
export class SourceText {
  readonly #name: string
  readonly #text: string
  #lines = new LineCounter()
  #document: Document.Parsed | undefined

  /** @param name as people typed it */
  constructor(name: string, text: string) {
    this.#name = name
    this.#text = text
  }

  /** @throws {LinkFileError} where the file is not in its format */
  read(): unknown {
    if (/\.json$/i.test(this.#name)) {
      try {
        // Parsing it as YAML, which has the places of values, takes fifty times as long.
        return JSON.parse(this.#text)
      } catch (error) {
        const [first = { line: 1, column: 1 }] = this.#syntaxFaults()
        throw this.#errorOf([{ ...first, text: String(error).replace(/^SyntaxError: /, '') }])
      }
    }
    const faults = this.#syntaxFaults()
    if (faults.length > 0) throw this.#errorOf(faults)
    try {
      return this.#parsed().toJS({ maxAliasCount: ALIASES_MAX })
    } catch (error) {
      // Such as aliases that would grow without bound.
      throw this.#errorOf([{ line: 1, column: 1, text: String(error) }])
    } finally {
      // It is much larger than the values, and is parsed again where a place is needed.
      this.#document = undefined
    }
  }

  /** Returns an error that has the faults in the order of the file. */
  faultsAt(faults: readonly FileFault[]): LinkFileError {
    const placed = faults.map(({ path, text }) => ({
      ...this.placeOf(path),
      text: path.length === 0 ? text : `${formatPath(path)}: ${text}`,
    }))
    return this.#errorOf(placed.sort((a, b) => a.line - b.line || a.column - b.column))
  }

  /** Returns where a value stands, or the innermost thing around it that is there. */
  placeOf(path: FilePath): Place {
    const document = this.#parsed()
    let node: unknown = document.contents
    let offset = offsetOf(node)
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document)
      if (isMap(node)) {
        const pair = node.items.find(
          ({ key }) => isScalar(key) && String(key.value) === String(step),
        )
        if (pair === undefined) break
        offset = offsetOf(pair.key) ?? offset
        node = pair.value
      } else if (isSeq(node)) {
        node = node.items[Number(step)]
        if (node === undefined) break
        offset = offsetOf(node) ?? offset
      } else break
    }
    return this.#placeAt(offset ?? 0)
  }

  #parsed(): Document.Parsed {
    if (this.#document === undefined) {
      this.#lines = new LineCounter()
      this.#document = parseDocument(this.#text, {
        lineCounter: this.#lines,
        prettyErrors: false,
        merge: true,
      })
    }
    return this.#document
  }

  #syntaxFaults(): (Place & { readonly text: string })[] {
    const { errors, warnings } = this.#parsed()
    return [...errors, ...warnings].map(({ message, pos: [offset] }) => ({
      ...this.#placeAt(offset),
      text: message,
    }))
  }

  #placeAt(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  #errorOf(faults: readonly (Place & { readonly text: string })[]): LinkFileError {
    const shown = faults
      .slice(0, FAULTS_SHOWN_MAX)
      .map(({ line, column, text }) => plainText(`${this.#name}:${line}:${column} ${text}`))
    const more = faults.length - shown.length
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
    return new LinkFileError(
      [
        `${plainText(this.#name)} has ${count}. Nothing was sent.`,
        ...shown,
        ...(more > 0 ? [`and ${more} more`] : []),
      ].join('\n'),
    )
  }
}

function offsetOf(node: unknown): number | undefined {
  return Object(node).range?.[0]
}

/** Formats a path as people write it: `links[3].rules[0].then.url`. */
function formatPath(path: FilePath): string {
  return path
    .map((step, index) =>
      /^\d+$/.test(String(step)) ? `[${step}]` : index === 0 ? String(step) : `.${step}`,
    )
    .join('')
}
