import { random } from '../../support/random.ts'
import { pause } from './pause.ts'
import { STRANGER_ATTACKS } from './strangers.ts'
import { type AttackTally, countAction, createTally, type Target } from './target.ts'
import { runTenants } from './tenants.ts'

/** The order that the attackers' process receives at its start. */
export type AttackOrder = {
  readonly target: Target
  readonly strangers: number
  /** The longest pause of a stranger between two actions. */
  readonly restMsMax: number
  /** Names of the strangers' attacks; all of them when undefined. */
  readonly attacks?: readonly string[]
  readonly withTenants?: boolean
}

/**
 * The process of all attackers: it starts on an order, ends on the message `stop`, and sends its
 * tally.
 */
process.once('message', async (order: AttackOrder) => {
  const tally = createTally()
  const stop = new AbortController()
  process.once('message', () => stop.abort())
  await Promise.all([
    order.withTenants === false ? undefined : runTenants(order.target, tally, stop.signal),
    ...Array.from({ length: order.strangers }, (_, nth) =>
      runStranger(order, nth, tally, stop.signal),
    ),
  ])
  process.send?.(tally, () => process.disconnect?.())
})

async function runStranger(
  { target, restMsMax, attacks: names }: AttackOrder,
  nth: number,
  tally: AttackTally,
  signal: AbortSignal,
): Promise<void> {
  const attacks = Object.entries(STRANGER_ATTACKS).filter(([name]) => names?.includes(name) ?? true)
  const from = `127.3.${Math.floor(nth / 250)}.${1 + (nth % 250)}`
  for (let round = nth; !signal.aborted; round += 1) {
    await pause(random() * restMsMax, signal)
    if (signal.aborted) return
    const [name, attack] = attacks[round % attacks.length] ?? []
    if (name === undefined || attack === undefined) return
    await attack({ target, from, tally, signal })
    countAction(tally, name)
  }
}
