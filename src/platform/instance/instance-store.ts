/** Facts about the whole instance, by name. */
export type InstanceStore = {
  find(name: string): Promise<string | undefined>
  /** Keeps `value` unless there is one already; returns what is kept. */
  keep(name: string, value: string): Promise<string>
  /**
   * Writes a row and takes it away again, with as many round trips as a unit of the API has: whether it can
   * be committed tells whether writes work. Waits for no other process that tries the same.
   */
  tryWrite(): Promise<void>
}
