import { execFileSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { findProgram } from './programs.ts'

/** Addresses for tests of networks: RFC 2544, appendix C.2.2. */
export const TEST_NETWORK = '198.18.0.0/15'
const ADDRESSES_PER_WIRE = 4

/** A pair of virtual network cards (veth(4)), one of them in the namespace. */
type Wire = {
  readonly addressOutside: string
  readonly addressInside: string
  /** Drops all packets without notice, as when a cable is pulled behind the next switch. */
  cut(): void
  mend(): void
}

/** A separate host as far as networks are concerned (network_namespaces(7)). */
export type NetworkNamespace = {
  /** The command prefix that starts a program in the namespace. */
  readonly command: readonly string[]
  readonly wires: readonly Wire[]
  /** Every program in it must have ended. */
  remove(): void
}

/** Returns undefined where the machine does not allow a namespace. */
export function createNetworkNamespace(wires: number): NetworkNamespace | undefined {
  const program = findProgram('ip')
  if (program === undefined || process.getuid?.() !== 0) return undefined
  const ip = (...args: string[]) => execFileSync(program, args, { stdio: 'pipe' })
  const name = `terse-${randomBytes(4).toString('hex')}`
  const remove = () => void ip('netns', 'del', name)
  try {
    ip('netns', 'add', name)
  } catch {
    return undefined
  }
  try {
    ip('-n', name, 'link', 'set', 'lo', 'up')
    return {
      command: [program, 'netns', 'exec', name],
      wires: Array.from({ length: wires }, () => lay(ip, name)),
      remove,
    }
  } catch {
    remove()
    return undefined
  }
}

function lay(ip: (...args: string[]) => unknown, namespace: string): Wire {
  // Names of interfaces have 15 characters at most.
  const id = randomBytes(4).toString('hex')
  const [outside, inside] = [`veth${id}o`, `veth${id}i`]
  const [addressOutside, addressInside] = pickAddresses()
  ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace)
  ip('addr', 'add', `${addressOutside}/30`, 'dev', outside)
  ip('-n', namespace, 'addr', 'add', `${addressInside}/30`, 'dev', inside)
  ip('link', 'set', outside, 'up')
  ip('-n', namespace, 'link', 'set', inside, 'up')
  return {
    addressOutside,
    addressInside,
    cut: () => void ip('link', 'set', outside, 'down'),
    mend: () => void ip('link', 'set', outside, 'up'),
  }
}

const NETWORKS = 32_768
/** At random, because other tests may use others. */
let lastNetwork = randomInt(NETWORKS)

/** Takes the next of the networks of four addresses. */
function pickAddresses(): [string, string] {
  lastNetwork = (lastNetwork + 1) % NETWORKS
  const network = (198 << 24) | (18 << 16) | (lastNetwork * ADDRESSES_PER_WIRE)
  const address = (number: number) => [24, 16, 8, 0].map((bit) => (number >>> bit) & 255).join('.')
  return [address(network + 1), address(network + 2)]
}
