/** What attackers know about the service. */
export type Target = {
  readonly port: number
  readonly httpsPort: number
  /** The service's own host, which has a certificate. */
  readonly serviceHost: string
  /** A host of the bystander, whose links strangers may visit. */
  readonly host: string
  /** A link that strangers follow as fast as they can. */
  readonly floodedKey: string
  readonly protectedKey: string
  /** One token per hostile tenant. */
  readonly tokens: readonly string[]
  /** One link per hostile tenant. */
  readonly linkIds: readonly string[]
}

/** What attackers did: actions by attack, and answers by attack and status. */
export type AttackTally = {
  readonly actions: Record<string, number>
  readonly statuses: Record<string, Record<string, number>>
  /** Complete redirects of the flooded link. */
  floodRedirects: number
}

export function createTally(): AttackTally {
  return { actions: {}, statuses: {}, floodRedirects: 0 }
}

export function countAction(tally: AttackTally, attack: string): void {
  tally.actions[attack] = (tally.actions[attack] ?? 0) + 1
}

export function countStatus(tally: AttackTally, attack: string, status: number | string): void {
  const ofAttack = tally.statuses[attack] ?? {}
  tally.statuses[attack] = ofAttack
  ofAttack[status] = (ofAttack[status] ?? 0) + 1
}
