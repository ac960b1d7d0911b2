import type { Click } from '../../src/clicks/click.ts'
import { someClick } from '../support/clicks.ts'

/** A person's click on a link; its instant distinguishes it from every other. */
export function clickOf(at: number, linkSeq = 1): Click {
  return someClick({ at, link_seq: linkSeq })
}

/** Returns `count` clicks, with instants from `first` on. */
export function clicksFrom(first: number, count: number, linkSeq = 1): Click[] {
  return Array.from({ length: count }, (_, index) => clickOf(first + index, linkSeq))
}
