import type { Click } from '../../src/clicks/click.ts'

/** A person's click of which nothing else is known, but for what is given. */
export function someClick(known: Partial<Click> & { at: number; link_seq: number }): Click {
  return {
    flags: 0,
    count: 1,
    visitor: 0,
    country: '',
    device: '',
    os: '',
    browser: '',
    referrer: '',
    language: '',
    source: 'direct',
    ...known,
  }
}
