import type { Click } from '../../src/clicks/click.ts'
import { someClick } from '../support/clicks.ts'

/** A person's click on a link, that can be told from every other by its instant. */
export function clickOf(at: number, linkSeq = 1): Click {
  return someClick({ at, link_seq: linkSeq })
}

/** So many of them, from `first` on. */
export function clicksFrom(first: number, count: number, linkSeq = 1): Click[] {
  return Array.from({ length: count }, (_, index) => clickOf(first + index, linkSeq))
}
