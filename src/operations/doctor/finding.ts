/** What a look at an instance, or at a host, showed of one subject. */
export type Finding = {
  readonly subject: string
  /** `skipped`: it was not looked at. */
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}
