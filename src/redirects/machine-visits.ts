import { flagsOfVisit, parseUserAgent, type RawVisit } from '../clicks/index.ts'
import type { Networks } from '../platform/network/ip-address.ts'

/**
 * Programs that open links before the people who clicked them do, and do not call themselves bots. Office looks at a link
 * by itself before it hands it to the browser; Outlook does so for its preview.
 */
const OPENERS =
  /\bms-office\b|\bMicrosoft Office\b|\bOneOutlook\/|\bBarracuda\b|\bMimecast\b|\bProofpoint\b/i

/** A mail scanner looks at a link with `HEAD` and then loads it; within this time both are one visit. */
const HEAD_BEFORE_GET_MS = 60_000
/** Remembered visitors; about 2 MiB. */
const HEADS_MAX = 16_384

/** What a visit shows of itself. */
type Appearance = Parameters<typeof flagsOfVisit>[0] & Pick<RawVisit, 'address'>

/**
 * Returns whether a visit alone shows that it is a program's, by its method, its agent, its purpose or its network.
 *
 * @param networks of mail scanners and other programs
 */
export function looksLikeMachine(visit: Appearance, networks: Networks): boolean {
  return flagsOfVisit(visit) !== 0 || isOpener(visit) || networks.has(visit.address)
}

function isOpener({ userAgent = '' }: Pick<RawVisit, 'userAgent'>): boolean {
  return OPENERS.test(userAgent)
}

/** Tells programs from people where a visit of a person uses up one of a link's clicks. */
export class MachineVisits {
  readonly #networks: Networks
  /** When a visitor last sent `HEAD` to a link, by `performance.now()`, oldest first. */
  readonly #heads = new Map<string, number>()

  /** @param networks of mail scanners and other programs */
  constructor(networks: Networks) {
    this.#networks = networks
  }

  /** Whether the program says itself that it is one. */
  saysSo(visit: RawVisit): boolean {
    return parseUserAgent(visit.userAgent).flags !== 0 || isOpener(visit)
  }

  /**
   * Whether a visit is a program's, by what it shows or what it did before. Call it once for each visit.
   *
   * @param visitor `Click.visitor`
   */
  isMachine(visit: RawVisit, linkSeq: number, visitor: number): boolean {
    const nowMs = performance.now()
    const name = `${linkSeq} ${visitor}`
    if (visit.method === 'HEAD') {
      this.#remember(name, nowMs)
      return true
    }
    const headMs = this.#heads.get(name)
    if (headMs !== undefined && nowMs - headMs < HEAD_BEFORE_GET_MS) return true
    return looksLikeMachine(visit, this.#networks)
  }

  #remember(name: string, nowMs: number): void {
    // To the end of the order.
    this.#heads.delete(name)
    this.#heads.set(name, nowMs)
    if (this.#heads.size <= HEADS_MAX) return
    const [oldest] = this.#heads.keys()
    if (oldest !== undefined) this.#heads.delete(oldest)
  }
}
