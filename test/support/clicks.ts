import type { Click } from '../../src/clicks/click.ts'

/** Returns a person's click with default values for everything that is not given. */
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
    rule: '',
    variant: '',
    label: '',
    region: '',
    city: '',
    ...known,
  }
}
