/** The secrets under which visitors are hashed, one for each UTC day. */
export type VisitorSaltStore = {
  /** @param day days since 1970-01-01 */
  find(day: number): Promise<string | undefined>
  /** Keeps `salt` for a day that has none yet; returns what is kept. */
  keep(day: number, salt: string): Promise<string>
  /** Forgets the salts of all days before `day`, and with them who was who on these days. */
  forgetBefore(day: number): Promise<void>
}
