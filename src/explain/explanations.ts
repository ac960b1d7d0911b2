import type { ExplainBody, ExplanationResource } from '@terse/contract/explain'
import type { RawClick } from '../clicks/index.ts'
import { hostThatCouldLoop, type ServiceHost } from '../hosts/index.ts'
import { type Actor, requirePermission } from '../identity/index.ts'
import {
  type DraftInput,
  isAsExpected,
  type Link,
  type LinkHost,
  type RuleSet,
  type TryExamples,
} from '../links/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import {
  type FoundLink,
  LoopDetector,
  prepare,
  RuleVisitor,
  type Visit,
  type VisitFinder,
} from '../redirects/index.ts'
import {
  type Explained,
  explainDecision,
  meetPath,
  newHost,
  presentExplanation,
} from './explanation.ts'
import {
  type ExplainedVisitor,
  type MadeUpFacts,
  madeUpVisitor,
  recordedVisitor,
} from './visitor.ts'

type Dependencies = {
  readonly clock: Clock
  readonly links: {
    draft(actor: Actor, id: string, input: DraftInput): Promise<Link>
    ruleSetsOf(link: Link): Promise<readonly RuleSet[]>
  }
  readonly clicks: {
    find(actor: Actor, link: Link, id: string): Promise<RawClick>
  }
  readonly finder: VisitFinder
  readonly visitorFacts: MadeUpFacts
  readonly tryExamples: TryExamples
  readonly service: ServiceHost
  /** The service's own host, which needs no look-up. */
  readonly serviceHostFor: (host: string) => LinkHost | undefined
  /** Whether a link with a limit has had all of its clicks. */
  readonly isUsedUp: (linkSeq: number) => Promise<boolean>
}

/** Explains why a visitor of a link is sent where, by the code that decides visits. */
export class Explanations {
  readonly #deps: Dependencies
  readonly #loops: LoopDetector

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#loops = new LoopDetector(deps)
  }

  /**
   * @throws {Failure} `not_found`, `validation_failed`; `missing_scope` or `missing_role` for a recorded click
   * @throws {QueueRefusal} when too many exports are waiting
   */
  async explain(
    actor: Actor,
    id: string,
    { rules, url, rule_set, click, ...input }: ExplainBody,
  ): Promise<ExplanationResource> {
    const { links, clicks, clock, finder, visitorFacts } = this.#deps
    if (click !== undefined) requirePermission(actor, 'clicks.view')
    const link = await links.draft(actor, id, { rules, url, rule_set })
    const labelParameter = await finder.findLabelParameter(link.workspace_id)
    const visitor =
      click === undefined
        ? madeUpVisitor(input, clock.nowMicros(), visitorFacts, labelParameter)
        : recordedVisitor(await clicks.find(actor, link, click))
    const { host, domainWorks } = await this.#hostOf(link)
    const prepared = prepare(link)
    const found = await finder.withSettings(
      { host, link: prepared, path: meetPath(link, visitor.path).path },
      visitor.rules.source.query,
    )
    const { sets, tokenParameter } = found
    await this.#refuseOtherLink(found, link, visitor)
    const isUsedUp = link.max_clicks !== null && (await this.#deps.isUsedUp(link.seq))
    const subject = { host, link, prepared, sets, labelParameter, tokenParameter, isUsedUp }
    const explained = explainDecision(subject, visitor)
    const settled = (await this.#isLoop(found, explained, visitor))
      ? { ...explained, decision: { kind: 'loop' as const } }
      : explained
    const examples = await this.#examplesOf(link, labelParameter)
    return { ...presentExplanation(settled, { domainWorks }), examples }
  }

  /** @throws {Failure} `validation_failed` where the visitor's path leads to another link */
  async #refuseOtherLink(
    { host }: FoundLink,
    { domain, seq }: Link,
    { path, rules }: ExplainedVisitor,
  ): Promise<void> {
    if (path === undefined) return
    const { query } = rules.source
    const { link } = await this.#deps.finder.findOn(host, { host: domain, path, query })
    if (link !== undefined && link.seq !== seq) {
      throw Failure.invalid({ path: [{ code: 'other_link' }] })
    }
  }

  /** Returns what the examples of a link would get, by the sets by which a save tries them. */
  async #examplesOf(
    link: Link,
    labelParameter: string | null,
  ): Promise<ExplanationResource['examples']> {
    if (link.examples === null) return []
    const { links, tryExamples, clock } = this.#deps
    const sets = await links.ruleSetsOf(link)
    const resultOf = tryExamples(link, {
      sets: sets.map(({ rules }) => rules),
      labelParameter,
      nowMicros: clock.nowMicros(),
    })
    const ruleIds = new Set(link.rules?.map(({ id }) => id))
    return link.examples.map(({ name, visitor, expected }) => {
      const result = resultOf(visitor)
      const as_expected = isAsExpected(expected, result, ruleIds)
      return { name, visitor, expected, result, as_expected }
    })
  }

  /** Returns the host of a link as redirects know it; as it will be, where its domain is not proved yet. */
  async #hostOf(link: Link): Promise<{ host: LinkHost; domainWorks: boolean }> {
    const { finder, serviceHostFor } = this.#deps
    const host = serviceHostFor(link.domain) ?? (await finder.findHost(link.domain))
    if (host?.keyspaceId === link.keyspace_id) return { host, domainWorks: true }
    return { host: newHost(link.keyspace_id), domainWorks: false }
  }

  async #isLoop(
    from: FoundLink,
    { decision }: Explained,
    { rules, device }: ExplainedVisitor,
  ): Promise<boolean> {
    if (!('location' in decision)) return false
    const name = hostThatCouldLoop(decision.location, this.#deps.service)
    // A redirect learns of a host with its second visit.
    if (name !== undefined) await this.#deps.finder.findHost(name)
    if (!this.#loops.leadsHere(from, decision)) return false
    const { source, agent } = rules
    // The links on the way see the query of their own address, and no cookie of this link.
    const visitorOf: Visit['visitorOf'] = ({ query }, label) =>
      new RuleVisitor({ ...source, query, label, keptVariant: () => undefined }, agent)
    return this.#loops.isLoop(from, decision, { device, visitorOf }, source.atMs)
  }
}
