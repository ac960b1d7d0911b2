import { displayHost, type ServiceName } from '../hosts/index.ts'
import { isServicePath, type LinkHost, type ShownLink } from '../links/index.ts'
import type { RequestTarget } from '../platform/http/request-target.ts'
import type { Clock } from '../platform/time/clock.ts'
import { decide } from './decide.ts'
import type { VisitFinder } from './find-link.ts'
import { titleOf } from './link-preview.ts'
import { LoopDetector } from './loop-detector.ts'
import { unknownVisitor } from './rule-visitor.ts'

type Dependencies = {
  readonly finder: VisitFinder
  readonly clock: Clock
  readonly service: ServiceName
  /** The service's own host, which needs no look-up. */
  readonly serviceHostFor: (host: string) => LinkHost | undefined
  /** Whether a link with a limit has had all of its clicks. */
  readonly isUsedUp: (linkSeq: number) => Promise<boolean>
}

/** Finds what programs may show of links: no more than the page that they get for a visit. */
export class ShownLinks {
  readonly #deps: Dependencies
  readonly #loops: LoopDetector

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#loops = new LoopDetector(deps)
  }

  /**
   * Finds the link at an address. Undefined for none, and for one that leads its visitors nowhere; `protected` for one with
   * a password.
   *
   * @throws {Failure} `unavailable`
   */
  async find(target: RequestTarget): Promise<ShownLink | 'protected' | undefined> {
    const { finder, clock, serviceHostFor, isUsedUp } = this.#deps
    const serviceHost = serviceHostFor(target.host)
    if (serviceHost !== undefined && isServicePath(target.path)) return undefined
    const host = serviceHost ?? (await finder.findHost(target.host))
    const found = await finder.findOn(host, target)
    const { link } = found
    if (link === undefined) return undefined
    const isGone = link.traits.maxClicks !== null && (await isUsedUp(link.seq))
    const nowMs = clock.nowMicros() / 1_000
    // Rules see a visitor of whom nothing is known: they decide where a visit leads, and that is not shown.
    const unknown = unknownVisitor(nowMs)
    const visitor = { device: 'other', visitorOf: () => unknown } as const
    const visit = { ...found, ...visitor, query: target.query, knowsPassword: false }
    const decision = decide({ ...visit, isUsedUp: () => isGone }, nowMs)
    if (decision.kind === 'ask-password') return 'protected'
    if (decision.kind !== 'redirect') return undefined
    const leadsHere = this.#loops.leadsHere(found, decision)
    if (leadsHere && (await this.#loops.isLoop(found, decision, visitor, nowMs))) return undefined
    const { preview, expiresAtMs } = link.traits
    return {
      title: titleOf(preview, target),
      description: preview?.description ?? null,
      image: preview?.image ?? null,
      hostName: displayHost(target.host),
      hostUrl: `https://${target.host}/`,
      expiresAtMs,
    }
  }
}
