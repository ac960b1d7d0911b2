/** The result of one check of an instance or a host. */
export type Finding = {
  readonly subject: string
  /** `skipped`: it was not checked. */
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}
